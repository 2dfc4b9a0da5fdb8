from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import text
from stored_support import a_contact, an_email

from app.encryption_settings import MAX_KEY_ID, parse
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import Session

ADDRESS = "ada@acme.example"


@pytest.fixture
def run(app: APIFlask) -> Callable[..., Result]:
    return lambda *arguments: app.test_cli_runner().invoke(args=["keys", *arguments])


def use_keys(app: APIFlask, *ids: int) -> None:
    """Start the application anew with these keys."""
    services = app.extensions["services"]
    keys = replace(services.digest_keys, encryption=tuple((key_id, bytes([key_id]) * 32) for key_id in ids))
    services.database.close()
    database = Database(services.settings.database_url, keys=keys)
    app.extensions["services"] = replace(services, digest_keys=keys, database=database)


def store(database: Database) -> None:
    with database.transaction() as session:
        an_email(session, a_contact(session), ADDRESS)


def printed(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_new_key_has_the_next_id_and_is_accepted_as_a_setting(
    app: APIFlask, run: Callable[..., Result]
) -> None:
    use_keys(app, 1, 4)

    result = printed(run("create", "--json"))

    [(key_id, key)] = parse(result["key"], "ENCRYPTION_KEYS")
    assert (result["id"], key_id, len(key)) == (5, 5, 32)
    assert run("create").output.startswith("5:")


def test_no_key_is_made_after_the_last_id(app: APIFlask, run: Callable[..., Result]) -> None:
    use_keys(app, MAX_KEY_ID)

    result = run("create")

    assert result.exit_code == 1
    assert "Remove a key" in result.output


def test_a_rotation_encrypts_all_values_under_the_first_key(
    app: APIFlask, database: Database, run: Callable[..., Result]
) -> None:
    store(database)
    use_keys(app, 1)

    rotated = printed(run("rotate", "--json"))

    assert (rotated["key"], rotated["rows"]) == (1, 1)
    listed = printed(run("list", "--json"))
    assert listed["keys"] == [
        {"id": 1, "source": "ENCRYPTION_KEYS", "encrypts": True},
        {"id": 0, "source": "SECRET_KEY", "encrypts": False},
    ]
    assert all(table["finished_at"] and table["key"] == 1 for table in listed["tables"])
    assert "Encrypted 0 rows under key 1" in run("rotate").output
    assert "emails" in run("list").output


def test_a_rotation_without_the_old_key_names_the_table(
    app: APIFlask, database: Database, run: Callable[..., Result]
) -> None:
    store(database)
    services = app.extensions["services"]
    services.database.close()
    other = DigestKeys(b"another", b"another", ((1, b"1" * 32),))
    database = Database(services.settings.database_url, keys=other)
    app.extensions["services"] = replace(services, digest_keys=other, database=database)

    result = run("rotate")

    assert result.exit_code == 1
    assert "ENCRYPTION_KEYS" in result.output
    assert "emails.email cannot be decrypted" in result.output


def test_a_value_that_was_changed_is_not_overwritten(
    app: APIFlask, database: Database, session: Session, run: Callable[..., Result]
) -> None:
    store(database)
    with database.transaction() as writing:
        writing.execute(text("UPDATE emails SET email = 'enc:AAAA'"))
    use_keys(app, 1)

    assert run("rotate").exit_code == 1
    assert session.scalars(text("SELECT email FROM emails")).all() == ["enc:AAAA"]
