from __future__ import annotations

from typing import Any

import pytest
from jobs_support import a_workspace
from stored_support import ADA_URL, NOW, STAMP, a_company, a_contact, own, suppress

from app.engine.contacts import job_changes
from app.engine.contacts.contacts import Contact
from app.engine.contacts.job_changes import Employer, Move
from app.engine.lookups import job_change_descriptions, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra.database.session import Session


@pytest.fixture
def ada(session: Session, workspace_id: str) -> Contact:
    """Ada, whom the workspace owns."""
    contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    own(session, workspace_id, contact, "email")
    return contact


def move(session: Session, workspace_id: str, contact: Contact, current: Employer, **changes: Any) -> None:
    values = {"source": "import", "as_of": NOW} | changes
    previous = Employer(company_id=contact.company_id, domain="acme.com")
    moved = Move(contact_id=contact.id, previous=previous, current=current, **values)
    job_changes.record_for(session, [(workspace_id, moved)], now=NOW)


def described(session: Session, workspace_id: str, contact: Contact) -> Any:
    return job_change_descriptions.latest_of(session, workspace_id, [contact.id]).get(contact.id)


def test_a_job_change_is_described_with_the_names_that_are_stored_now(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    globex = a_company(session, "Globex", domain="globex.com")
    move(session, workspace_id, ada, Employer(company_id=globex.id, domain="globex.com"))
    ada.full_name, globex.name = "Ada King", "Globex Group"
    session.flush()

    change = described(session, workspace_id, ada)

    assert change.name == "Ada King"
    assert change.to_public() == {
        "from": {"company_id": ada.company_id, "name": "Acme Engines", "domain": "acme.com"},
        "to": {"company_id": globex.id, "name": "Globex Group", "domain": "globex.com"},
        "source": "import",
        "as_of": STAMP,
        "detected_at": STAMP,
    }
    assert described(session, a_workspace(session), ada) is None


@pytest.mark.usefixtures("ada")
def test_a_company_that_is_not_stored_has_the_name_in_the_saved_profile(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    snapshot = ProfileSnapshot(
        linkedin_url=ADA_URL, captured_at=NOW, fields={"company_name": "Initech", "full_name": "Ada"}
    )
    profile_snapshots.save(session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW)

    change = described(session, workspace_id, ada)

    assert change.current == {"company_id": None, "name": "Initech", "domain": None}


def test_a_suppressed_person_is_not_named(session: Session, workspace_id: str, ada: Contact) -> None:
    move(session, workspace_id, ada, Employer(domain="globex.com"))
    suppress(session, "linkedin_url", ADA_URL)

    assert described(session, workspace_id, ada).name is None


def test_without_job_changes_nothing_is_described(session: Session, workspace_id: str, ada: Contact) -> None:
    assert described(session, workspace_id, ada) is None
