"""Helpers for tests of the job engine: workspaces, job requests, claimed jobs, and concurrent threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from app import settings
from app.domain.kinds import Kind
from app.engine.accounts import workspaces
from app.engine.accounts.sessions import SessionLifetime
from app.engine.accounts.workspaces import Workspace
from app.engine.jobs import claims, submission
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import Job
from app.engine.jobs.result_reuse import Freshness
from app.engine.jobs.submission import JobRequest, SubmitResult
from app.engine.ledger import credits
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.session import Session

T = TypeVar("T")

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LEASE = timedelta(seconds=20)
DEADLINE = timedelta(hours=1)
STALE = timedelta(seconds=5)
MAX_CRASHES = 3
FRESH = Freshness(found=timedelta(hours=1), not_found=timedelta(days=1))
LIFETIME = SessionLifetime(idle=timedelta(days=14), absolute=timedelta(days=90))
DIGEST_KEYS = DigestKeys.from_settings(settings.load())
"""The keys of the test databases."""
EXPIRED = {"code": "job_expired"}
CRASHED = {"code": "worker_lost"}


def set_clock(monkeypatch: pytest.MonkeyPatch, read: Callable[[], datetime]) -> None:
    """Replace the clocks of this process and of the database with `read`."""
    monkeypatch.setattr(clock, "now", read)
    monkeypatch.setattr(database_clock, "now", read)


def a_workspace(session: Session, *, grant: int = 10) -> str:
    """Insert a workspace with `grant` credits; return its id."""
    workspace = workspaces.create(session, name="Acme", now=NOW)
    if grant:
        credits.grant(session, workspace.id, grant, reason="test", now=NOW)
    return workspace.id


def a_question(workspace_id: str, about: str = "ada", **changes: Any) -> JobRequest:
    """Return a request to reveal an e-mail at the price of one credit."""
    values: dict[str, Any] = {
        "kind": Kind.REVEAL_EMAIL,
        "workspace_id": workspace_id,
        "account_id": "acc_test",
        "request": {"subject": {"full_name": about}},
        "dedup_key": {"name": about},
        "price": 1,
    }
    return JobRequest(**values | changes)


def submit(session: Session, question: JobRequest, *, now: datetime = NOW) -> SubmitResult:
    return submission.submit(session, question, freshness=FRESH, deadline=DEADLINE, now=now)


def a_job(session: Session, workspace_id: str, about: str = "ada", **changes: Any) -> str:
    """Insert a queued job; return its id."""
    return submit(session, a_question(workspace_id, about, **changes)).job.id


def try_claim(session: Session, job_id: str, *, now: datetime = NOW) -> Claim | None:
    return claims.claim(session, job_id, lease=LEASE, max_crashes=MAX_CRASHES, now=now)


def claim(session: Session, job_id: str, *, now: datetime = NOW) -> Claim:
    """Claim the job as a worker does."""
    claimed = try_claim(session, job_id, now=now)
    assert claimed is not None
    return claimed


def read(session: Session, job_id: str) -> Job:
    """Return the job as stored now."""
    return session.get_one(Job, job_id, populate_existing=True)


def figures(session: Session, workspace_id: str) -> tuple[int, int, int]:
    """Return the available, held and spent credits of the workspace."""
    workspace = session.get_one(Workspace, workspace_id, populate_existing=True)
    return workspace.available, workspace.held, workspace.spent


def at_once(count: int, work: Callable[[int], T]) -> list[T]:
    """Run `work` in `count` threads that start together; return the results."""
    barrier = threading.Barrier(count)

    def one(number: int) -> T:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))
