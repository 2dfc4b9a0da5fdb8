from __future__ import annotations

from dataclasses import replace

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import select, text, update
from stored_support import a_company, a_contact, an_email, own

from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure, person_data, reencryption
from app.engine.privacy.erasure import ErasurePlan
from app.features.crm import connections, pushes, records
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.pushes import PushItem, PushOutcome
from app.features.crm.records import CrmWrittenRecord
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.session import Session

EMAIL = Identifier("email", "ada@acme.com")
ONLY_NEW = DigestKeys(b"another key", b"another key", ((7, b"7" * 32),))


@pytest.fixture
def connection(session: Session) -> CrmConnection:
    return connections.create(
        session,
        a_workspace(session),
        vendor="hubspot",
        base_url=None,
        credentials=Credentials(token="token-1"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    )


@pytest.fixture
def ada(session: Session, connection: CrmConnection) -> Contact:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, EMAIL.value)
    own(session, connection.workspace_id, contact, "email")
    return contact


def push(session: Session, connection: CrmConnection, contact: Contact) -> None:
    pushes.submit(session, connection, [contact.id], account_id="acc_1", origin="", dry_run=False, now=NOW)


def follow(session: Session) -> ErasurePlan:
    return erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL])


def add_key(session: Session) -> None:
    """Give the session the new key in front of the one that it has."""
    session._keys = replace(session.keys, encryption=ONLY_NEW.encryption)  # noqa: SLF001 -- set once otherwise


def remove_old_key(session: Session) -> None:
    session._keys = ONLY_NEW  # noqa: SLF001 -- set once otherwise


def test_what_was_pushed_of_a_person_is_deleted_with_them(
    session: Session, connection: CrmConnection, ada: Contact
) -> None:
    push(session, connection, ada)
    assert follow(session).counts["crm_records"] == 0
    records.note(session, records.lock(session, connection.id, ada.id), {"email": EMAIL.value})
    plan = follow(session)

    erasure.erase(session, plan, now=NOW)

    assert plan.counts["crm_records"] == 1
    assert session.scalars(select(PushItem)).all() == []
    assert session.scalars(select(CrmWrittenRecord.contact_id)).all() == []


def test_a_person_sees_the_crms_to_which_they_were_pushed(
    session: Session, connection: CrmConnection, ada: Contact
) -> None:
    push(session, connection, ada)
    plan = follow(session)
    before = person_data.collect(session, [ada], plan)["crm_pushes"]
    session.execute(update(PushItem).values(outcome=PushOutcome.CREATED.value, finished_at=NOW))

    after = person_data.collect(session, [ada], plan)["crm_pushes"]

    assert (before, [(row["workspace"], row["crm"], row["outcome"]) for row in after]) == (
        [],
        [("Acme", "hubspot", "created")],
    )


def test_credentials_are_encrypted_under_the_new_key(session: Session, connection: CrmConnection) -> None:
    add_key(session)

    assert reencryption.encrypt_next(session, reencryption.SECRETS, now=NOW)

    assert [row.rows for row in reencryption.progress(session)] == [1]
    session.refresh(connection)
    remove_old_key(session)
    assert connections.decrypted(session, connection).token == "token-1"


def test_credentials_that_cannot_be_read_are_kept(session: Session, connection: CrmConnection) -> None:
    session.execute(update(CrmConnection).values(credentials=b"unreadable"))
    session.refresh(connection)

    assert connections.encrypt_again(session) == 0
    assert session.scalar(text("SELECT credentials FROM crm_connections")) == b"unreadable"
