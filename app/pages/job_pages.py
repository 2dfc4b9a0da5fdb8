"""What pages show of a job: its receipt, and whether it is still worth waiting for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.domain.errors import JobNotFound
from app.domain.ids import is_id
from app.engine.jobs import job_history
from app.engine.jobs.job_snapshots import JobSnapshot
from app.infra.database import database_clock
from app.pages import repeats
from app.web import costs
from app.web.jobs.job_responses import job_body
from app.web.services import services
from app.web.sign_in.admins import reads_as_admin
from app.web.sign_in.auth import caller

LIVE = timedelta(minutes=10)
"""How long a page loads the state of an open job again by itself."""


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A job as pages show it: `body` is the response of the API, `described` its entry in the history."""

    snapshot: JobSnapshot
    body: dict[str, Any]
    described: dict[str, Any]
    can_repeat: bool
    is_of_own_records: bool
    is_live: bool

    @property
    def is_open(self) -> bool:
        """Whether the job has not finished."""
        return self.snapshot.job.finished_at is None


def read(job_id: str) -> ShownJob:
    """Return the workspace's job.

    Raises:
        JobNotFound: the workspace has no such job.

    """
    snapshot = snapshot_of(job_id)
    job = snapshot.job
    with services().database.reading() as session:
        (described,) = job_history.describe_with_names(session, caller().workspace_id, [job])
        age = database_clock.value(session) - job.created_at
    return ShownJob(
        snapshot,
        costs.shown(job_body(snapshot, repeated=False, as_admin=reads_as_admin())),
        costs.shown(described),
        repeats.is_repeatable(job, snapshot.items),
        repeats.is_of_own_records(job),
        is_live=job.finished_at is None and age < LIVE,
    )


def snapshot_of(job_id: str) -> JobSnapshot:
    """Return the workspace's job as it is now.

    Raises:
        JobNotFound: the workspace has no such job.

    """
    if not is_id(job_id, "job"):
        raise JobNotFound
    return services().job_reader.read(caller().workspace_id, job_id)
