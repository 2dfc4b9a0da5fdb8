from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from jobs_support import NOW, a_job, a_workspace
from sqlalchemy import select
from stored_support import a_contact, a_phone, an_email, own

from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.jobs.jobs import Job
from app.engine.ledger import ownership, reveals
from app.engine.ledger.reveals import RevealedValue
from app.engine.privacy import reencrypted_rows, reencryption
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings

ADA, BOB = "ada@acme.example", "bob@acme.example"
NUMBER = "+15550100123"


@pytest.fixture
def rotated(settings: Settings) -> Iterator[Database]:
    """The database opened with a new key."""
    keys = replace(DigestKeys.from_settings(settings), encryption=((7, b"7" * 32),))
    database = Database(settings.database_url, keys=keys)
    yield database
    database.close()


def finish(database: Database, *, batches: int = 1000) -> int:
    """Encrypt everything, or a number of batches; return how many batches were needed."""
    done = 0
    for name in reencryption.names():
        is_finished = False
        while not is_finished and done < batches:
            with database.transaction() as session:
                is_finished = reencryption.encrypt_next(session, name, now=NOW)
            done += 1
    return done


def with_owned_address(session: Session, address: str = ADA) -> tuple[str, Contact]:
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, address)
    own(session, workspace_id, contact, "email")
    index = session.keys.ring.index("email", address)
    session.add(
        RevealedValue(
            workspace_id=workspace_id, field="email", value_index=index, contact_id=contact.id, created_at=NOW
        )
    )
    session.flush()
    return workspace_id, contact


def test_everything_is_encrypted_under_the_new_key(database: Database, rotated: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact = with_owned_address(session)
        a_phone(session, contact, NUMBER)
        job_id = a_job(session, workspace_id, request={"subject": {"email": ADA}})

    finish(rotated)

    without_the_old = Database(
        str(database.engine.url.render_as_string(hide_password=False)), keys=other_secret()
    )
    with without_the_old.reading() as session:
        assert session.scalars(select(Email.email)).all() == [ADA]
        assert session.execute(select(Phone.e164, Phone.national)).all() == [(NUMBER, NUMBER[2:])]
        assert session.scalars(select(Job.request).where(Job.id == job_id)).one()["subject"] == {"email": ADA}
        assert ownership.owned(session, workspace_id, [contact.id]).values
        assert reveals.first_contact_id(session, workspace_id, "email", ADA) == contact.id
    without_the_old.close()


def other_secret() -> DigestKeys:
    """Return the new key with another SECRET_KEY, under whose derived key nothing was encrypted."""
    return DigestKeys(b"another", b"another", ((7, b"7" * 32),))


def test_contacts_with_the_same_address_are_changed_together(
    database: Database, rotated: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reencrypted_rows, "BATCH", 1)
    with database.transaction() as session:
        workspace_id, _contact = with_owned_address(session)
        twin = a_contact(session)
        an_email(session, twin, ADA)

    with rotated.transaction() as session:
        reencryption.encrypt_next(session, "emails", now=NOW)

    with rotated.reading() as session:
        assert len(set(session.scalars(select(Email.email_index)))) == 1
        assert ownership.owned(session, workspace_id, [twin.id]).values


def test_a_value_is_not_changed_while_one_of_its_rows_is_locked(
    database: Database, rotated: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        workspace_id, contact = with_owned_address(session)
        twin = a_contact(session)
        locked = an_email(session, twin, ADA).id
    lockable = reencrypted_rows._lockable  # noqa: SLF001 -- SQLite has no locks of rows

    def without_locked(*arguments: object) -> frozenset[tuple[object, ...]]:
        return lockable(*arguments) - {(locked,)}  # type: ignore[arg-type]

    with monkeypatch.context() as patch, rotated.transaction() as session:
        patch.setattr(reencrypted_rows, "_lockable", without_locked)
        reencryption.encrypt_next(session, "emails", now=NOW)

    with rotated.reading() as session:
        for each in (contact, twin):
            assert ownership.owned(session, workspace_id, [each.id]).values
    finish(rotated)
    with rotated.reading() as session:
        assert len(set(session.scalars(select(Email.email_index)))) == 1
        assert ownership.owned(session, workspace_id, [twin.id]).values


def test_an_interrupted_run_continues_and_a_finished_one_has_nothing_to_do(
    database: Database, rotated: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reencrypted_rows, "BATCH", 2)
    with database.transaction() as session:
        for number in range(5):
            an_email(session, a_contact(session), f"{number}@acme.example")
    finish(rotated, batches=reencryption.names().index("emails") + 1)

    finish(rotated)

    with rotated.reading() as session:
        rows = {row.name: row for row in reencryption.progress(session)}
    assert rows["emails"].rows == 5
    assert {row.finished_at for row in rows.values()} == {NOW}
    assert finish(rotated) == len(reencryption.names())


def test_what_was_written_with_the_old_key_meanwhile_is_found_by_the_next_run(
    database: Database, rotated: Database
) -> None:
    finish(rotated)
    with database.transaction() as session:
        an_email(session, a_contact(session), ADA)

    with rotated.transaction() as session:
        reencryption.restart(session, now=NOW)
    finish(rotated)

    with rotated.reading() as session:
        assert {row.name: row.rows for row in reencryption.progress(session)}["emails"] == 1


def test_a_value_whose_key_is_missing_stops_the_run(database: Database, rotated: Database) -> None:
    with rotated.transaction() as session:
        an_email(session, a_contact(session), ADA)

    with pytest.raises(Undecryptable, match="ENCRYPTION_KEYS"), database.transaction() as session:
        reencryption.encrypt_next(session, "emails", now=NOW)


def test_a_change_between_reading_and_writing_is_not_overwritten(
    database: Database, rotated: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        job_id = a_job(session, a_workspace(session), request={"subject": {"email": ADA}})
    lockable = reencrypted_rows._lockable  # noqa: SLF001 -- what runs between both

    def change_first(session: Session, *arguments: object) -> frozenset[tuple[object, ...]]:
        session.get_one(Job, job_id).request = {"subject": {"email": BOB}}
        session.flush()
        return lockable(session, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reencrypted_rows, "_lockable", change_first)
    with rotated.transaction() as session:
        reencryption.encrypt_next(session, "jobs", now=NOW)

    with rotated.reading() as session:
        assert session.scalars(select(Job.request)).one() == {"subject": {"email": BOB}}


def test_a_change_of_the_key_starts_every_table_again(database: Database, rotated: Database) -> None:
    with database.transaction() as session:
        with_owned_address(session)
    finish(database)

    finish(rotated)

    with rotated.reading() as session:
        assert {row.key_id for row in reencryption.progress(session)} == {7}
        assert session.scalars(select(Email)).one().email == ADA


def test_a_table_is_unfinished_until_it_is_encrypted_under_the_current_key(
    database: Database, rotated: Database
) -> None:
    finish(database, batches=1)
    with database.reading() as session:
        begun = reencryption.unfinished(session)
    finish(database)

    with database.reading() as session, rotated.reading() as session_with_new_key:
        assert begun == reencryption.names()[1:]
        assert reencryption.unfinished(session) == []
        assert reencryption.unfinished(session_with_new_key) == reencryption.names()
