from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import DIGEST_KEYS, NOW, a_question, a_workspace, at_once, submit
from sqlalchemy import func, select

from app.domain.errors import IdempotencyKeyReused, InsufficientCredits
from app.engine.jobs import idempotency
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits
from app.infra.database.db import Database
from app.infra.database.session import Session

BODY = idempotency.digest(DIGEST_KEYS, "/api/ext/reveal/email", {"subject": {"email": "ada@acme.com"}})
OTHER_BODY = idempotency.digest(DIGEST_KEYS, "/api/ext/reveal/email", {"subject": {"email": "bob@acme.com"}})


def ask(database: Database, workspace_id: str) -> tuple[bool, str]:
    """Submit as the API does; return whether the key is new, and the job's id."""
    with database.transaction() as session:
        known = idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW)
        if known is not None:
            return False, known
        job = submit(session, a_question(workspace_id)).job
        idempotency.finish(session, workspace_id, "key-1", job.id)
        return True, job.id


def test_the_digest_does_not_depend_on_the_order_of_fields() -> None:
    assert idempotency.digest(DIGEST_KEYS, "/a", {"x": 1, "y": 2}) == idempotency.digest(
        DIGEST_KEYS, "/a", {"y": 2, "x": 1}
    )


def test_the_digest_depends_on_the_path_and_on_the_body() -> None:
    digests = {idempotency.digest(DIGEST_KEYS, path, {"x": x}) for path in ("/a", "/b") for x in (1, 2)}

    assert len(digests) == 4


def test_the_first_request_inserts_the_key(session: Session) -> None:
    workspace_id = a_workspace(session)

    assert idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW) is None


def test_a_replay_returns_the_reference_of_the_first_request(session: Session) -> None:
    workspace_id = a_workspace(session)
    idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW)
    idempotency.finish(session, workspace_id, "key-1", "job_1")

    assert idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW) == "job_1"


def test_the_same_key_with_another_body_is_refused(session: Session) -> None:
    workspace_id = a_workspace(session)
    idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW)
    idempotency.finish(session, workspace_id, "key-1", "job_1")

    with pytest.raises(IdempotencyKeyReused):
        idempotency.begin(session, workspace_id, "key-1", OTHER_BODY, now=NOW)


def test_keys_of_different_workspaces_are_independent(session: Session) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    idempotency.begin(session, mine, "key-1", BODY, now=NOW)
    idempotency.finish(session, mine, "key-1", "job_1")

    assert idempotency.begin(session, theirs, "key-1", OTHER_BODY, now=NOW) is None


def test_a_key_is_deleted_after_its_retention(session: Session) -> None:
    workspace_id = a_workspace(session)
    idempotency.begin(
        session, workspace_id, "old", BODY, now=NOW - idempotency.RETENTION - timedelta(seconds=1)
    )
    idempotency.begin(session, workspace_id, "young", BODY, now=NOW - idempotency.RETENTION)

    idempotency.purge_expired(session, now=NOW)

    assert session.scalars(select(IdempotencyKey.key)).all() == ["young"]


def test_keys_are_stored_for_more_than_a_day() -> None:
    day = timedelta(hours=24)

    assert day <= idempotency.RETENTION


def test_a_refused_request_stores_no_key_so_it_can_be_repeated_after_a_grant(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=0)
    with pytest.raises(InsufficientCredits):
        ask(database, workspace_id)

    with database.transaction() as session:
        keys = session.scalar(select(func.count()).select_from(IdempotencyKey))
        credits.grant(session, workspace_id, 1, reason="top-up", now=NOW)
        again = idempotency.begin(session, workspace_id, "key-1", BODY, now=NOW)

    assert keys == 0
    assert again is None


def test_forty_threads_with_one_key_are_one_request_and_thirty_nine_replays(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)

    answers = at_once(40, lambda _number: ask(database, workspace_id))

    assert [first for first, _job_id in answers].count(True) == 1
    assert len({job_id for _first, job_id in answers}) == 1
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 1


def test_forty_threads_with_one_key_and_no_credits_store_nothing(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=0)

    def try_to_ask(_number: int) -> str:
        try:
            ask(database, workspace_id)
        except InsufficientCredits:
            return "refused"
        return "accepted"

    outcomes = at_once(40, try_to_ask)

    assert set(outcomes) == {"refused"}
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(IdempotencyKey)) == 0
