from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import StatementError
from stored_support import a_contact, an_email

from app.engine.contacts.emails import Email
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.db import Database
from app.infra.database.encrypted_columns import MARK, encrypted
from app.infra.database.session import Session
from app.settings import Settings

ADDRESS = "ada@acme.example"
RAW = text("SELECT email_index, email FROM emails WHERE id = :id")
MOVE = text("UPDATE emails SET email = (SELECT email FROM emails WHERE id = :source) WHERE id = :target")


def keys_of(settings: Settings, *ids: int) -> DigestKeys:
    """Return the keys of the settings with further encryption keys, the first of which encrypts."""
    encryption = tuple((key_id, bytes([key_id]) * 32) for key_id in ids)
    return DigestKeys(settings.secret_key.encode(), settings.suppression_key.encode(), encryption)


@pytest.fixture
def rotated(settings: Settings) -> Iterator[Database]:
    """The database opened with a new key."""
    database = Database(settings.database_url, keys=keys_of(settings, 7))
    yield database
    database.close()


def stored(database: Database, address: str = ADDRESS) -> str:
    with database.transaction() as session:
        return an_email(session, a_contact(session), address).id


def test_an_address_is_stored_as_an_index_and_a_ciphertext_that_begins_with_the_id_of_the_key(
    session: Session,
) -> None:
    row = an_email(session, a_contact(session), ADDRESS)

    index, ciphertext = session.execute(RAW, {"id": row.id}).one()
    assert row.email == ADDRESS
    assert index == row.email_index == session.keys.ring.index("email", ADDRESS)
    assert ciphertext.startswith(MARK)
    assert base64.b64decode(ciphertext.removeprefix(MARK))[0] == 0
    assert session.scalars(select(Email.email)).all() == [ADDRESS]


def test_equal_values_have_different_ciphertexts_and_indexes_of_their_own_field(session: Session) -> None:
    rows = [an_email(session, a_contact(session), ADDRESS) for _ in range(2)]

    ciphertexts = {session.execute(RAW, {"id": row.id}).one()[1] for row in rows}

    assert len(ciphertexts) == 2
    assert session.keys.ring.index("email", "1") != session.keys.ring.index("phone", "1")


def test_a_ciphertext_that_was_copied_to_another_row_is_refused(session: Session) -> None:
    source, target = (an_email(session, a_contact(session), f"{name}@acme.example") for name in "ab")
    session.execute(MOVE, {"source": source.id, "target": target.id})
    session.expunge_all()

    with pytest.raises(Undecryptable, match=r"emails\.email cannot be decrypted"):
        session.get_one(Email, target.id)


def test_a_ciphertext_of_another_column_is_refused(session: Session) -> None:
    row = an_email(session, a_contact(session), ADDRESS)
    other = Email.__table__.c.email.type.__class__("phones.e164").encrypted(  # type: ignore[attr-defined]
        session.keys.ring, row.id, ADDRESS
    )
    session.execute(update(Email).where(Email.id == row.id).values(email=other))
    session.expunge_all()

    with pytest.raises(Undecryptable):
        session.get_one(Email, row.id)


def test_a_statement_that_would_store_plain_text_is_refused(session: Session) -> None:
    row = an_email(session, a_contact(session), ADDRESS)

    with pytest.raises(StatementError, match="is not encrypted"):
        session.execute(update(Email).where(Email.id == row.id).values(email="b@acme.example"))


def test_a_statement_stores_what_was_encrypted_for_its_row(session: Session) -> None:
    row = an_email(session, a_contact(session), ADDRESS)
    value = encrypted(session, Email.email, row.id, "b@acme.example")

    session.execute(update(Email).where(Email.id == row.id).values(email=value))

    session.expunge_all()
    assert session.get_one(Email, row.id).email == "b@acme.example"


def test_a_change_by_the_orm_is_encrypted_and_stays_readable_in_the_object(session: Session) -> None:
    row = an_email(session, a_contact(session), ADDRESS)

    row.email = "b@acme.example"
    session.flush()

    assert row.email == "b@acme.example"
    assert "b@acme" not in str(session.execute(RAW, {"id": row.id}).one())


def test_a_plain_address_is_refused(session: Session) -> None:
    row = an_email(session, a_contact(session), ADDRESS)
    session.execute(text("UPDATE emails SET email = :email WHERE id = :id"), {"email": ADDRESS, "id": row.id})
    session.expunge_all()

    with pytest.raises(Undecryptable):
        session.get_one(Email, row.id)


def test_values_of_the_old_key_are_read_with_the_new_one(database: Database, rotated: Database) -> None:
    old, new = stored(database), stored(rotated, "b@acme.example")

    with rotated.reading() as session:
        assert session.get_one(Email, old).email == ADDRESS
        raw = session.execute(RAW, {"id": new}).one()[1]
    assert base64.b64decode(raw.removeprefix(MARK))[0] == 7


def test_without_its_key_a_value_is_not_read(database: Database, rotated: Database) -> None:
    new = stored(rotated)

    with database.reading() as session, pytest.raises(Undecryptable, match="ENCRYPTION_KEYS"):
        session.get_one(Email, new)


def test_a_database_without_keys_reads_no_encrypted_column(database: Database, settings: Settings) -> None:
    stored(database)
    without = Database(settings.database_url)

    with without.reading() as session, pytest.raises(RuntimeError, match="with keys"):
        session.scalars(select(Email)).all()
    without.close()


@pytest.mark.parametrize("length", [0, 1, 40])
def test_random_bytes_are_refused(session: Session, length: int) -> None:
    row = an_email(session, a_contact(session), ADDRESS)
    noise = MARK + base64.b64encode(secrets.token_bytes(length)).decode()
    session.execute(text("UPDATE emails SET email = :noise WHERE id = :id"), {"noise": noise, "id": row.id})
    session.expunge_all()

    with pytest.raises(Undecryptable):
        session.get_one(Email, row.id)
