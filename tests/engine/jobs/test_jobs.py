from __future__ import annotations

import re
from datetime import timedelta

import pytest
from jobs_support import NOW, a_job, a_question, a_workspace, claim, read, submit
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from app.domain.errors import JobNotFound
from app.domain.ids import time_of
from app.domain.kinds import Kind, Outcome, Status
from app.engine.jobs import idempotency, jobs, leases
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.infra.database.session import Session


def a_finished_job(session: Session, workspace_id: str, about: str, kind: Kind, *, age: timedelta) -> str:
    job_id = a_job(session, workspace_id, about, kind=kind, price=0)
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.FOUND), now=NOW - age)
    return job_id


def test_a_workspace_reads_its_own_job(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id)

    assert jobs.get(session, workspace_id, job_id).id == job_id


def test_another_workspaces_job_is_not_found(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    job_id = a_job(session, theirs)

    with pytest.raises(JobNotFound) as foreign:
        jobs.get(session, mine, job_id)
    with pytest.raises(JobNotFound) as unknown:
        jobs.get(session, mine, "job_0crnqk4e1k9jv0d2m4f6h8a5")
    assert foreign.value.as_dict() == unknown.value.as_dict()


def test_jobs_are_listed_newest_first_in_pages(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    ids = sorted(a_job(session, mine, f"person {number}") for number in range(5))
    a_job(session, theirs)

    first = jobs.latest(session, mine, status=None, before=None, limit=3)
    second = jobs.latest(session, mine, status=None, before=first[-1].id, limit=3)

    assert [job.id for job in [*first, *second]] == ids[::-1]


def test_jobs_are_ordered_by_the_databases_time_and_not_by_their_ids(session: Session) -> None:
    workspace_id = a_workspace(session)
    by_id = sorted((a_job(session, workspace_id, f"person {number}") for number in range(4)), reverse=True)
    for number, job_id in enumerate(by_id):  # the clock of the process that created the ids ran backwards
        read(session, job_id).created_at = NOW + timedelta(minutes=number)
    session.flush()

    pages: list[str] = []
    for _ in by_id:
        before = pages[-1] if pages else None
        pages += [job.id for job in jobs.latest(session, workspace_id, status=None, before=before, limit=1)]

    assert pages == by_id[::-1]


def test_a_page_can_start_after_a_deleted_job(session: Session) -> None:
    workspace_id = a_workspace(session)
    ids = [a_job(session, workspace_id, f"person {number}", price=0) for number in range(3)]
    for job_id in ids:
        read(session, job_id).created_at = time_of(job_id)
    session.flush()
    jobs.remove(session, ids[1])

    found = jobs.latest(session, workspace_id, status=None, before=ids[1], limit=10)

    assert [job.id for job in found] == [ids[0]]


@pytest.mark.parametrize("status", list(Status))
def test_jobs_can_be_filtered_by_status(session: Session, status: Status) -> None:
    workspace_id = a_workspace(session)
    ids = {each: a_job(session, workspace_id, each.value) for each in Status}
    for each, job_id in ids.items():
        lease = {"lease_token": "held" if each is Status.RUNNING else None}
        session.execute(update(Job).where(Job.id == job_id).values(status=each, **lease))

    found = jobs.latest(session, workspace_id, status=status, before=None, limit=10)

    assert [job.id for job in found] == [ids[status]]


def test_items_are_returned_in_the_order_of_the_request(session: Session) -> None:
    workspace_id = a_workspace(session)
    items = tuple({"subject": {"full_name": f"person {number}"}} for number in range(12))
    digest = a_question(workspace_id, kind=Kind.ENRICHMENT_REQUEST, items=items)

    job = submit(session, digest).job

    assert tuple(item.request for item in jobs.items(session, job.id)) == items


def test_a_private_job_can_be_deleted(session: Session) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id, kind=Kind.COMPANY_BY_HASH, price=0)

    jobs.remove(session, job_id)

    assert session.scalars(select(Job.id)).all() == []


def test_only_old_finished_hash_lookups_are_deleted(session: Session) -> None:
    workspace_id = a_workspace(session)
    old, young = timedelta(hours=25), timedelta(hours=23)
    for kind in (Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH):
        a_finished_job(session, workspace_id, f"old {kind}", kind, age=old)
    stored = {
        a_finished_job(session, workspace_id, "young", Kind.COMPANY_BY_HASH, age=young),
        a_finished_job(session, workspace_id, "paid", Kind.REVEAL_EMAIL, age=old),
        a_job(session, workspace_id, "open", kind=Kind.LEADS_BY_WEBSITE_HASH, price=0),
    }

    jobs.purge_hash_lookups(session, before=NOW - timedelta(hours=24))

    assert set(session.scalars(select(Job.id))) == stored


def test_the_idempotency_key_of_a_hash_lookup_is_deleted_with_it(session: Session) -> None:
    workspace_id = a_workspace(session)
    lookup = a_finished_job(session, workspace_id, "old", Kind.COMPANY_BY_HASH, age=timedelta(hours=25))
    paid = a_finished_job(session, workspace_id, "paid", Kind.REVEAL_EMAIL, age=timedelta(hours=25))
    for key in (lookup, paid):
        idempotency.begin(session, workspace_id, key, b"h", now=NOW)
        idempotency.finish(session, workspace_id, key, key)

    jobs.purge_hash_lookups(session, before=NOW - timedelta(hours=24))

    assert session.scalars(select(IdempotencyKey.reference)).all() == [paid]


def test_the_database_rejects_a_second_open_job_for_the_same_request(session: Session) -> None:
    workspace_id = a_workspace(session)
    first = a_job(session, workspace_id, "ada")
    other = a_job(session, workspace_id, "bob")
    digest = read(session, first).request_digest

    with pytest.raises(IntegrityError):
        session.execute(update(Job).where(Job.id == other).values(request_digest=digest))


def test_the_database_rejects_a_running_job_without_a_lease(session: Session) -> None:
    job_id = a_job(session, a_workspace(session))

    with pytest.raises(IntegrityError):
        session.execute(update(Job).where(Job.id == job_id).values(status=Status.RUNNING))


def test_a_failed_job_shows_its_error_and_client_reference_but_no_subject(session: Session) -> None:
    job_id = a_job(session, a_workspace(session), request={"subject": "ada", "client_reference": "row-1"})
    leases.fail(session, claim(session, job_id), {"code": "provider_failed"}, now=NOW)

    described = jobs.to_public(read(session, job_id))

    assert described["client_reference"] == "row-1"
    assert described["error"] == {"code": "provider_failed", "request_id": None}
    assert not re.search(r"\bada\b", str(described))
