from __future__ import annotations

import json

import pytest
from jobs_support import NOW, a_job, a_workspace
from sqlalchemy import text
from stored_support import a_contact, a_phone, an_email

from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger.reveals import RevealedValue
from app.engine.privacy import plain_values
from app.engine.uploads import uploads
from app.infra.database.session import Session

PLAIN = {
    "emails.email_encrypted": (
        "UPDATE emails SET email = 'ada@acme.com', email_encrypted = NULL",
        "UPDATE emails SET email_encrypted = 'ada@acme.com'",
        "UPDATE emails SET email = 'ada@acme.com'",
    ),
    "phones.e164_encrypted": ("UPDATE phones SET e164 = '+15550100123'",),
    "phones.national": ("UPDATE phones SET national = '(555) 010-0123'",),
    "saved_profiles.note": (
        "UPDATE saved_profiles SET note = 'met at the fair'",
        "UPDATE saved_profiles SET note = 'enc: her CV'",
    ),
    "jobs.request": ("UPDATE jobs SET request = :json",),
    "revealed_values.value": ("UPDATE revealed_values SET value = 'ada@acme.com'",),
    "upload_files.content": ("UPDATE upload_files SET content = :bytes",),
}
STATEMENTS = [(name, statement) for name, statements in PLAIN.items() for statement in statements]


@pytest.fixture
def stored(session: Session) -> Session:
    """Store a value in the encrypted columns."""
    workspace_id, contact = a_workspace(session), a_contact(session)
    an_email(session, contact, "ada@acme.com")
    a_phone(session, contact, "+15550100123")
    owned = {"workspace_id": workspace_id, "field": "email", "contact_id": contact.id, "created_at": NOW}
    session.add(RevealedValue(value=session.keys.ring.index("email", "ada@acme.com"), **owned))
    a_job(session, workspace_id, request={"subject": {"email": "ada@acme.com"}})
    a_job(session, workspace_id, "empty", request={})
    times = {"created_at": NOW, "updated_at": NOW}
    session.add(
        SavedProfile(
            id="prf_1", workspace_id=workspace_id, linkedin_url="x", tags=[], captured={}, note="n", **times
        )
    )
    uploads.create(
        session,
        workspace_id=workspace_id,
        account_id="acc_1",
        api_key_id=None,
        file_name="people.csv",
        content=b"name",
        now=NOW,
    )
    session.flush()
    return session


def test_no_encrypted_value_counts_as_plain(stored: Session) -> None:
    assert plain_values.count(stored) == {}


@pytest.mark.parametrize(("name", "statement"), STATEMENTS)
def test_a_value_that_was_written_in_plain_text_is_counted(
    stored: Session, name: str, statement: str
) -> None:
    given = {"json": json.dumps({"subject": {"email": "ada@acme.com"}}), "bytes": b"name,email"}
    named = {key: value for key, value in given.items() if f":{key}" in statement}

    stored.execute(text(statement), named)

    found = plain_values.count(stored)
    assert set(found) == {name}
    assert found[name] >= 1
