"""The tables of jobs and their items, and the queries that read them.

Jobs are created in `submission`, changed by workers in `leases`, and rescued or ended in `sweeper`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    Select,
    String,
    TextClause,
    and_,
    bindparam,
    delete,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import kinds as job_kinds
from app.domain.errors import JobNotFound
from app.domain.kinds import KINDS, OPEN, Outcome, Queue, Status
from app.engine.accounts.workspaces import Balance, Workspace, foreign_key
from app.engine.enrichments import skips
from app.engine.exclusions import exclusion_checks
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.clock import rfc3339
from app.infra.database import keyset
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson, EncryptedMessages
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement, any_of, columns_of, rows_of

WITHDRAWN = "withdrawn"
"""Key in an item's request: its result was refunded, so the finished job must not be reused."""
LIMITED_BY = "limited_by"
"""Key in an enrichment's request: the spending limit that made its hold smaller."""
PURPOSE = "purpose"
"""Key in the request of a job: why the caller obtains the values, if it was stated."""
USE_OWN_RECORDS = "use_own_records"
"""Key in the request of a job: False if the caller does without what the workspace has itself."""
OWN_RECORDS = "own_records"
"""Key in the request of a job or an item: all identifiers in the workspace's own records that it returned.

Whoever is named by one of them is erased from it, although the caller asked by another one.
"""
REQUEST_ID = "request_id"
"""Key in the request of a job: the id of the HTTP request that submitted it, for the log of the worker."""
EXCLUDED = "excluded"
"""Key in the result of a job or an item whose outcome is `excluded`: why, as a lookup returns it."""
SKIPPED = "skipped"
"""Key in the result of an item of which the person or some fields were skipped: why (`Skip`)."""
LIVE = text("status IN ('queued', 'running')")
_UNSUCCESSFUL = text("status IN ('failed', 'canceled', 'expired')")
BY_KEY = text("key_id IS NOT NULL")

RETAINED = text("finished_at IS NOT NULL AND request <> '{}'")
"""The condition for finished jobs that have not been redacted. Indexes are used for the same text only."""


_ITEM = ("job_id", "index")


def _deleted_kinds() -> TextClause:
    """Return the condition for jobs that are deleted; the index is used for the same text only."""
    names = ", ".join(f"'{name}'" for name in sorted(job_kinds.deleted()))
    return text(f"kind IN ({names})")


class Job(Base):
    """A unit of work for one workspace.

    `key_id` is the API key that submitted it, null for a session. `request_digest` is the 32-byte digest of
    kind, subject and options: a workspace has at most one open job with it. `held` is the number of credits
    reserved for the job, `charged` the number spent so far. `attempts` counts claims of the queued job,
    `crashes` claims that took over from a lost worker. A running job belongs to the holder of `lease_token`
    until `lease_until`. `queue` is the queue whose workers run it next.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "uq_jobs_open_request",
            "workspace_id",
            "request_digest",
            unique=True,
            sqlite_where=LIVE,
            postgresql_where=LIVE,
        ),
        Index("ix_jobs_workspace_id_request_digest", "workspace_id", "request_digest", "created_at"),
        Index("ix_jobs_workspace_id_created_at", "workspace_id", "created_at", "id"),
        Index("ix_jobs_key_id", "key_id", "created_at", sqlite_where=BY_KEY, postgresql_where=BY_KEY),
        Index("ix_jobs_live", "run_after", sqlite_where=LIVE, postgresql_where=LIVE),
        Index("ix_jobs_queue", "queue", "workspace_id", sqlite_where=LIVE, postgresql_where=LIVE),
        Index(
            "ix_jobs_unsuccessful",
            "workspace_id",
            "created_at",
            "id",
            sqlite_where=_UNSUCCESSFUL,
            postgresql_where=_UNSUCCESSFUL,
        ),
        Index("ix_jobs_retained", "finished_at", sqlite_where=RETAINED, postgresql_where=RETAINED),
        Index(
            "ix_jobs_hash_lookup",
            "finished_at",
            sqlite_where=_deleted_kinds(),
            postgresql_where=_deleted_kinds(),
        ),
        CheckConstraint("(status = 'running') = (lease_token IS NOT NULL)", name="running_has_a_lease"),
        CheckConstraint("charged <= held", name="charged_within_held"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str | None]
    key_id: Mapped[str | None] = mapped_column(String(28))
    kind: Mapped[str]
    queue: Mapped[str] = mapped_column(server_default=Queue.INTERACTIVE.value)
    request_digest: Mapped[bytes]
    request: Mapped[dict[str, Any]] = mapped_column(EncryptedJson("jobs.request"))
    status: Mapped[str]
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(EncryptedJson("jobs.result", kept=("contact_id",)))
    trace: Mapped[list[Any]]
    error: Mapped[dict[str, Any] | None] = mapped_column(EncryptedMessages("jobs.error", kept=("code",)))
    held: Mapped[int] = mapped_column(BigInteger)
    charged: Mapped[int] = mapped_column(BigInteger)
    already_owned: Mapped[bool]
    progress_done: Mapped[int]
    progress_total: Mapped[int]
    attempts: Mapped[int]
    crashes: Mapped[int]
    lease_token: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    run_after: Mapped[datetime]
    deadline_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    publishes: Mapped[int]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class JobItem(Base):
    """One item of an enrichment request. It is finished when it has an outcome or an error."""

    __tablename__ = "job_items"

    job_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    index: Mapped[int] = mapped_column(primary_key=True)
    request: Mapped[dict[str, Any]] = mapped_column(EncryptedMessages("job_items.request", _ITEM))
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(EncryptedJson("job_items.result", _ITEM))
    error: Mapped[dict[str, Any] | None] = mapped_column(EncryptedMessages("job_items.error", _ITEM))
    charged: Mapped[int]


_BALANCE = (Workspace.available.label("balance"), Workspace.held.label("balance_held"))
_IS_REQUESTED = and_(Job.id == bindparam("job_id"), Job.workspace_id == bindparam("workspace_id"))
STORED = columns_of(Job, StoredJob._fields)
"""The columns of a `StoredJob`."""
_BY_ID = Statement(StoredJob, lambda _dialect: select(*STORED).where(_IS_REQUESTED))


def _all_with_balances(dialect: str) -> Select[*tuple[Any, ...]]:
    wanted = rows_of(dialect, "wanted", {"workspace_id": String(), "id": String()}).c
    of_these = any_of(dialect, Job.id, "job_ids")  # as in contact_rows: a join alone could read all jobs
    is_wanted = (of_these, Job.workspace_id == wanted.workspace_id, Job.id == wanted.id)
    return select(*STORED, *_BALANCE).join(Workspace, Workspace.id == Job.workspace_id).where(*is_wanted)


_ALL_WITH_BALANCES = Statement(tuple, _all_with_balances)
_OPEN_ID = Statement(
    IdRow, lambda _dialect: select(Job.id).where(Job.id == bindparam("job_id"), Job.finished_at.is_(None))
)


def get(session: Session, workspace_id: str, job_id: str, *, kinds: Collection[str] = KINDS) -> StoredJob:
    """Return the row of the workspace's job with this id and one of these kinds."""
    row = _BY_ID.first(session, {"job_id": job_id, "workspace_id": workspace_id})
    if row is None or row.kind not in kinds:
        raise JobNotFound
    return row


def all_with_balances(
    session: Session, wanted: Sequence[tuple[str, str]]
) -> list[tuple[StoredJob, Balance] | None]:
    """Return each workspace's job, given as the ids of both, with the workspace's balance, in one query.

    None stands for a job that the workspace does not have.
    """
    rows = [{"workspace_id": workspace_id, "id": job_id} for workspace_id, job_id in dict.fromkeys(wanted)]
    parameters = {"wanted": rows, "job_ids": [row["id"] for row in rows]}
    found: dict[tuple[str, str], tuple[StoredJob, Balance]] = {}
    for row in _ALL_WITH_BALANCES.all(session, parameters):
        job = StoredJob._make(row[: len(STORED)])
        found[job.workspace_id, job.id] = job, Balance(*row[len(STORED) :])
    return [found.get(key) for key in wanted]


def is_open(session: Session, job_id: str) -> bool:
    """Return whether the job exists and is not finished. Much cheaper than loading the job."""
    return _OPEN_ID.first(session, {"job_id": job_id}) is not None


def latest(
    session: Session,
    workspace_id: str,
    *,
    status: str | None,
    before: str | None,
    limit: int,
    kinds: Collection[str] = KINDS,
) -> list[StoredJob]:
    """Return the workspace's jobs of these kinds that are older than job `before`, newest first."""
    query = latest_query(workspace_id, status=status, before=before, limit=limit, kinds=kinds)
    return rows(session, query)


def rows(session: Session, query: Select[*tuple[Any, ...]]) -> list[StoredJob]:
    """Return the rows of a query for the columns `STORED`."""
    return [StoredJob._make(row) for row in session.execute(query)]


def latest_query(
    workspace_id: str, *, status: str | None, before: str | None, limit: int, kinds: Collection[str]
) -> Select[*tuple[Any, ...]]:
    """Return the query of `latest`, which reads an index in its order."""
    of_kinds = (Job.workspace_id == workspace_id, Job.kind.in_(sorted(kinds)))
    query = select(*STORED).where(*of_kinds).order_by(Job.created_at.desc(), Job.id.desc()).limit(limit)
    if status is not None:
        query = query.where(Job.status == status)
    if status in OPEN:  # the rare ones have an index each
        query = query.where(LIVE)
    elif status not in {None, Status.SUCCEEDED}:
        query = query.where(_UNSUCCESSFUL)
    if before is not None:
        query = query.where(keyset.is_older(Job, before, Job.workspace_id == workspace_id))
    return query


def to_public(job: StoredJob) -> dict[str, Any]:
    """Return the public representation of the job, without subject and result."""
    representation: dict[str, Any] = {
        "id": job.id,
        "kind": job.kind,
        "status": job.status,
        "outcome": job.outcome,
        "created_at": rfc3339(job.created_at),
        "finished_at": rfc3339(job.finished_at),
        "progress": {"done": job.progress_done, "total": job.progress_total},
    }
    for name in ("client_reference", PURPOSE):
        if name in job.request:
            representation[name] = job.request[name]
    if job.error is not None:
        representation["error"] = public_error(job, job.error)
    if job.result is not None and EXCLUDED in job.result:
        representation[EXCLUDED] = public_exclusion(job.result)
    return representation


def public_exclusion(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a person is excluded, by the result of a job or an item, with a message for the caller."""
    excluded: dict[str, Any] = result[EXCLUDED]
    return excluded | {"message": exclusion_checks.sentence(excluded)}


def public_skip(outcome: str | None, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return why an item or some of its fields were skipped, with a message for the caller."""
    skipped: dict[str, Any] = result[SKIPPED]
    return skipped | {"message": skips.sentence(skipped, is_whole=outcome == Outcome.SKIPPED)}


def public_error(job: StoredJob, error: dict[str, Any]) -> dict[str, Any]:
    """Return an error of the job or of an item as a problem, with the id of the request that submitted it."""
    return error | {"request_id": job.request.get(REQUEST_ID)}


def items(session: Session, job_id: str) -> list[JobItem]:
    """Return the items of an enrichment in the order of the request."""
    return list(session.scalars(select(JobItem).where(JobItem.job_id == job_id).order_by(JobItem.index)))


def remove(session: Session, job_id: str) -> None:
    """Delete a job that must not be stored. Only for kinds that cost nothing."""
    session.execute(delete(Job).where(Job.id == job_id))


def purge_hash_lookups(session: Session, *, before: Moment) -> None:
    """Delete hash lookups finished before then: they reveal which websites a user visited.

    Their idempotency keys are deleted too: a replay runs the lookup again, which costs nothing.
    """
    is_old = (_deleted_kinds(), Job.finished_at < before)
    old = select(Job.id).where(*is_old)
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.reference.in_(old)))
    session.execute(delete(Job).where(*is_old))
