"""The statements of the alternative that does what the product does, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.exceptions import InvalidTag
from local_servers import POSTGRES, empty_database
from psycopg.rows import dict_row
from redis import Redis

from benchmarks.comparison.people import person
from benchmarks.comparison.systems import sql
from benchmarks.comparison.systems.alternative import KEY
from benchmarks.comparison.systems.fastapi_saq_duties import schema, statements
from benchmarks.comparison.systems.fastapi_saq_duties.rate_limit import RATE_LIMIT
from benchmarks.comparison.systems.fastapi_saq_duties.sealing import Cipher
from benchmarks.comparison.systems.system import Scale

CIPHER = Cipher(bytes.fromhex(KEY))
PROFILE = person(0).profile
TOKEN = "token"
TOKEN_DIGEST = sql.digest(TOKEN)
LAPSED = "UPDATE jobs SET lease_until = now() - interval '1 second'"


class Database:
    """A connection with the tables of the alternative, two people, and a token."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def rows(self, statement: str, *values: object) -> list[dict[str, Any]]:
        with psycopg.RawCursor(self._connection, row_factory=dict_row) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def submit(self, profile: str = PROFILE, key: str | None = None) -> Any:
        digest = CIPHER.digest(profile)
        found = self.rows(statements.SUBMIT, TOKEN_DIGEST, profile, digest, b"", key, "channel")
        return found[0] if found else None

    def settle(self, job_id: int, attempts: int = 1) -> list[dict[str, Any]]:
        digests = [CIPHER.digest(person(0).address)]
        return self.rows(statements.SETTLE, job_id, attempts, "succeeded", "found", digests, "{}", "[]")

    def reveal(self) -> int:
        """Return what a reveal was charged."""
        job_id = self.submit()["id"]
        self.rows(statements.CLAIM, job_id)
        return int(self.settle(job_id)[0]["charged"])

    @property
    def balance(self) -> tuple[int, ...]:
        return tuple(
            self.rows("SELECT available - $1 AS a, held, spent FROM workspaces", sql.CREDITS)[0].values()
        )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    if POSTGRES is None:
        pytest.skip("the statements are PostgreSQL's")
    with (
        empty_database(tmp_path, "duties") as url,
        psycopg.connect(url.replace("postgresql+psycopg:", "postgresql:"), autocommit=True) as connection,
    ):
        schema.fill(connection, Scale(1, 2), [TOKEN])
        yield Database(connection)


def test_a_new_job_holds_a_credit_and_an_equal_one_joins_it(database: Database) -> None:
    first, second = database.submit(), database.submit()

    assert (first["id"], first["created"], second["created"]) == (second["id"], True, False)
    assert database.balance == (-1, 1, 0)
    assert database.rows("SELECT channels FROM jobs") == [{"channels": ["channel", "channel"]}]


def test_a_contact_is_charged_once(database: Database) -> None:
    charged = [database.reveal(), database.reveal()]

    assert charged == [1, 0]
    assert database.balance == (-1, 0, 1)
    assert database.rows("SELECT kind FROM ledger ORDER BY id")[1:] == [{"kind": "hold"}, {"kind": "settle"}]
    assert (
        database.rows("SELECT action, token_id FROM audit_log")
        == [{"action": "reveal.email", "token_id": 1}] * 2
    )


def test_a_job_that_finds_nothing_releases_its_credit(database: Database) -> None:
    job_id = database.submit("https://www.linkedin.com/in/unknown")["id"]
    claimed = database.rows(statements.CLAIM, job_id)

    database.rows(statements.SETTLE, job_id, 1, "succeeded", "not_found", [], None, "[]")

    assert [row["address"] for row in claimed] == [None]
    assert database.balance == (0, 0, 0)
    assert database.rows("SELECT kind FROM ledger ORDER BY id")[1:] == [{"kind": "hold"}, {"kind": "release"}]


def test_without_a_credit_nothing_is_stored(database: Database) -> None:
    database.rows("UPDATE workspaces SET available = 0")

    with pytest.raises(psycopg.errors.CheckViolation):
        database.submit(key="key")

    assert database.rows("SELECT id FROM jobs") == database.rows("SELECT key FROM idempotency_keys") == []


def test_what_is_owned_is_revealed_without_a_credit(database: Database) -> None:
    database.reveal()
    database.rows("UPDATE workspaces SET available = 0")

    assert database.submit()["created"]


@pytest.mark.parametrize("change", ["expires_at = now()", "revoked_at = now()"])
def test_a_token_that_has_expired_or_was_revoked_is_not_valid(database: Database, change: str) -> None:
    database.rows(f"UPDATE tokens SET {change}")  # noqa: S608 - a constant

    assert database.submit() is None
    assert database.rows(statements.LOOKUP, TOKEN_DIGEST, PROFILE, CIPHER.digest(PROFILE)) == []


def test_an_idempotency_key_returns_its_job_and_the_digest_of_its_request(database: Database) -> None:
    first = database.submit(key="key")

    replay, reused = database.submit(key="key"), database.submit(person(1).profile, key="key")

    assert replay == reused == {"id": first["id"], "created": None, "replayed": CIPHER.digest(PROFILE)}
    assert len(database.rows("SELECT id FROM jobs")) == 1


def test_a_job_has_one_worker_until_its_lease_is_over(database: Database) -> None:
    job_id = database.submit()["id"]

    claims = [database.rows(statements.CLAIM, job_id), database.rows(statements.CLAIM, job_id)]
    swept_before = database.rows(statements.SWEEP)
    database.rows(LAPSED)
    swept = database.rows(statements.SWEEP)
    claimed_again = database.rows(statements.CLAIM, job_id)

    assert [len(claim) for claim in claims] == [1, 0]
    assert (swept_before, swept) == ([], [{"id": job_id, "attempts": 1}])
    assert claimed_again[0]["attempts"] == 2
    assert database.settle(job_id, attempts=1) == []
    assert database.settle(job_id, attempts=2)[0]["charged"] == 1
    assert database.settle(job_id, attempts=2) == []


def test_a_job_whose_message_was_lost_is_swept(database: Database) -> None:
    job_id = database.submit()["id"]
    database.rows(LAPSED)

    assert database.rows(statements.SWEEP) == [{"id": job_id, "attempts": 0}]


@pytest.mark.parametrize("identifier", [PROFILE, person(0).address])
def test_a_suppressed_person_is_neither_revealed_nor_looked_up(database: Database, identifier: str) -> None:
    database.rows("INSERT INTO suppressions VALUES ($1)", CIPHER.digest(identifier))

    claimed = database.rows(statements.CLAIM, database.submit()["id"])
    shown = database.rows(statements.LOOKUP, TOKEN_DIGEST, PROFILE, CIPHER.digest(PROFILE))

    assert [row["suppressed"] for row in (*claimed, *shown)] == [True, True]


def test_a_lookup_tells_what_the_workspace_owns(database: Database) -> None:
    before = database.rows(statements.LOOKUP, TOKEN_DIGEST, PROFILE, CIPHER.digest(PROFILE))
    database.reveal()
    after = database.rows(statements.LOOKUP, TOKEN_DIGEST, PROFILE, CIPHER.digest(PROFILE))

    assert [row["owned"] for row in (*before, *after)] == [False, True]


def test_an_address_can_be_read_in_its_row_only(database: Database) -> None:
    sealed = database.rows("SELECT address FROM emails ORDER BY contact_id")[0]["address"]

    assert CIPHER.unseal(sealed, "emails 0") == person(0).address
    with pytest.raises(InvalidTag):
        CIPHER.unseal(sealed, "emails 1")


def test_the_rate_limit_is_a_bucket_for_a_minute(redis_url: str) -> None:
    with Redis.from_url(redis_url) as redis:
        seconds_to_wait = redis.register_script(RATE_LIMIT)

        waits = [seconds_to_wait(keys=["limit:test"], args=[2]) for _ in range(5)]

    assert waits == [0, 0, 30, 30, 30]
