"""Tests of the steps of an erasure: what happens when they meet other transactions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from jobs_support import a_job, a_workspace
from psycopg.errors import DeadlockDetected
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError
from stored_support import a_contact, an_email

from app.domain.errors import Unavailable
from app.engine.contacts import contact_locks
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs.jobs import Job
from app.engine.privacy import erasure, erasure_run
from app.engine.privacy.erasure import ErasurePlan
from app.infra.database.db import Database
from app.infra.database.session import Session

EMAIL = Identifier("email", "ada@acme.com")


def plan(session: Session) -> ErasurePlan:
    return erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL])


def deadlock() -> OperationalError:
    return OperationalError("DELETE", {}, DeadlockDetected())


@pytest.mark.parametrize("deadlocks", [0, 1, erasure_run.DEADLOCK_RETRIES])
def test_an_erasure_is_repeated_after_a_deadlock(
    database: Database, monkeypatch: pytest.MonkeyPatch, deadlocks: int
) -> None:
    errors = [deadlock() for _ in range(deadlocks)]
    done: list[ErasurePlan] = []

    def erase(_session: Session, current: ErasurePlan, **_now: object) -> None:
        if errors:
            raise errors.pop()
        done.append(current)

    monkeypatch.setattr(erasure, "erase", erase)
    erasure_run.erase(database, plan)

    assert len(done) == 1


@pytest.mark.parametrize(
    ("errors", "attempts"),
    [
        ([OperationalError("DELETE", {}, Exception())], 1),
        ([deadlock() for _ in range(9)], erasure_run.DEADLOCK_RETRIES + 1),
    ],
)
def test_an_erasure_fails_after_other_errors_and_after_several_deadlocks(
    database: Database, monkeypatch: pytest.MonkeyPatch, errors: list[Exception], attempts: int
) -> None:
    count = len(errors)

    def erase(_session: Session, _plan: ErasurePlan, **_now: object) -> None:
        raise errors.pop()

    monkeypatch.setattr(erasure, "erase", erase)
    with pytest.raises(Unavailable):
        erasure_run.erase(database, plan)

    assert count - len(errors) == attempts


def test_an_erasure_that_meets_a_refund_of_the_same_contact_ends(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refund locks the contact and then its jobs, an erasure the reverse."""
    if database.is_sqlite:
        pytest.skip("SQLite has one writer")
    with database.transaction() as session:
        contact = a_contact(session)
        an_email(session, contact, EMAIL.value)
        job_id = a_job(session, a_workspace(session), request={"subject": {"email": EMAIL.value}})
    are_jobs_locked, find_contacts = threading.Event(), erasure.find_contacts

    def find(session: Session, *of: Any) -> list[Contact]:
        are_jobs_locked.set()
        return find_contacts(session, *of)

    with ThreadPoolExecutor(1) as pool, database.transaction() as session:
        session.execute(text("SET LOCAL deadlock_timeout = '60s'"))  # so that the erasure is rolled back
        contact_locks.lock_contact(session, contact.id)
        current = plan(session)
        monkeypatch.setattr(erasure, "find_contacts", find)
        erased = pool.submit(erasure_run.erase, database, lambda _session: current)
        assert are_jobs_locked.wait(10)
        session.execute(select(Job.id).where(Job.id == job_id).with_for_update())
        session.commit()
        erased.result(30)

    with database.reading() as session:
        assert session.scalars(select(Contact.id)).all() == []
