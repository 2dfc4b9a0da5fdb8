from __future__ import annotations

from datetime import timedelta

from jobs_support import LEASE, NOW, a_job, a_workspace, claim

from app.domain.kinds import Outcome, Status
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.engine.queues import recent_jobs
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)


def test_the_jobs_that_finished_in_the_last_minute_are_counted_by_status(session: Session) -> None:
    workspace_id = a_workspace(session)
    a_job(session, workspace_id, "open")
    for number in range(2):
        claimed = claim(session, a_job(session, workspace_id, f"found {number}"))
        leases.settle(session, claimed, JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    failed = claim(session, a_job(session, workspace_id, "failed"))
    leases.fail(session, failed, {"code": "provider_failed"}, trace=(), now=NOW)

    soon = recent_jobs.read(session, now=NOW + 59 * SECOND)
    later = recent_jobs.read(session, now=NOW + 61 * SECOND)

    nothing = {Status.SUCCEEDED: 0, Status.FAILED: 0, Status.CANCELED: 0, Status.EXPIRED: 0}
    assert soon.finished == nothing | {Status.SUCCEEDED: 2, Status.FAILED: 1}
    assert (later.finished, soon.crashed) == (nothing, 0)


def test_a_job_that_lost_its_worker_is_crashed_until_a_minute_after_its_end(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))
    claim(session, job_id)
    lost_at = NOW + LEASE + SECOND
    again = claim(session, job_id, now=lost_at)

    unfinished = recent_jobs.read(session, now=lost_at).crashed
    leases.settle(session, again, JobResult(outcome=Outcome.NOT_FOUND), now=lost_at)
    soon = recent_jobs.read(session, now=lost_at + 59 * SECOND).crashed
    later = recent_jobs.read(session, now=lost_at + 61 * SECOND).crashed

    assert (unfinished, soon, later) == (1, 1, 0)
