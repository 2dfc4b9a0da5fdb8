from __future__ import annotations

from datetime import timedelta

import pytest
from audit_support import FIELD_REQUEST, a_reveal, busy_days, faults
from jobs_support import a_workspace
from sqlalchemy import select, update
from stored_support import NOW, a_company, a_contact, a_phone, an_email, disclose

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.ids import new_id
from app.engine.contacts import emails, rejected_values
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger.reveals import REFUND_WITHIN, Reveal, RevealedValue
from app.engine.privacy import contact_retention
from app.engine.privacy.contact_retention import Deleted
from app.infra.database.session import Session

PERIOD = timedelta(days=1000)
DAY = timedelta(days=1)
LATER = NOW + PERIOD + DAY
"""When the period of all that was collected at NOW has ended."""


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, "ada@acme.com", verified_at=None)
    a_phone(session, contact, "+16175550155")
    return contact


def delete_expired(session: Session) -> Deleted:
    session.flush()
    deleted = contact_retention.delete_expired(session, period=PERIOD, now=LATER)
    session.expire_all()
    return deleted


def stored(session: Session) -> tuple[list[str], list[str]]:
    return list(session.scalars(select(Email.email))), list(session.scalars(select(Phone.e164)))


def test_values_and_a_contact_left_without_any_are_deleted_after_their_period(
    session: Session, ada: Contact
) -> None:
    assert delete_expired(session) == Deleted(emails=1, phones=1, contacts=1)
    assert stored(session) == ([], [])
    assert session.scalars(select(Contact)).all() == []
    assert not delete_expired(session).is_any


def test_a_value_that_was_verified_later_is_kept_with_its_contact(session: Session, ada: Contact) -> None:
    session.execute(update(Email).values(verified_at=NOW + 2 * DAY))

    assert delete_expired(session) == Deleted(phones=1)
    assert stored(session) == (["ada@acme.com"], [])
    assert session.get_one(Contact, ada.id).updated_at == LATER


def test_an_old_verdict_does_not_shorten_the_period_of_a_value(session: Session, ada: Contact) -> None:
    session.execute(update(Email).values(verified_at=NOW - PERIOD, first_seen_at=NOW + 2 * DAY))

    assert delete_expired(session) == Deleted(phones=1)


def test_seeing_a_value_again_does_not_renew_its_period(session: Session, ada: Contact) -> None:
    seen = FoundEmail(
        email="ada@acme.com",
        type="work",
        status=EmailStatus.UNKNOWN,
        source=Source("hunter", SourceKind.PROVIDER, LATER - DAY),
    )
    emails.upsert(session, ada.id, seen, now=LATER - DAY)

    assert session.scalars(select(Email.last_seen_at)).one() == LATER - DAY
    assert delete_expired(session) == Deleted(emails=1, phones=1, contacts=1)


def test_a_value_is_kept_while_its_reveal_can_be_refunded(session: Session, ada: Contact) -> None:
    a_reveal(session, a_workspace(session, grant=10), ada)
    session.execute(update(Reveal).values(created_at=LATER - REFUND_WITHIN))

    assert not delete_expired(session).is_any

    session.execute(update(Reveal).values(created_at=LATER - REFUND_WITHIN - DAY))

    assert delete_expired(session) == Deleted(emails=1, phones=1, contacts=1)


def test_a_contact_that_a_workspace_saved_is_kept_without_its_values(session: Session, ada: Contact) -> None:
    saved = SavedProfile(
        id=new_id("prf"),
        workspace_id=a_workspace(session),
        contact_id=ada.id,
        tags=[],
        captured={},
        created_at=NOW,
        updated_at=NOW,
    )
    session.add(saved)

    assert delete_expired(session) == Deleted(emails=1, phones=1)
    assert session.get(SavedProfile, saved.id) is not None


def test_a_contact_with_values_that_must_not_return_is_kept(session: Session, ada: Contact) -> None:
    rejected_values.reject(session, ada.id, "other@acme.com", now=NOW)

    assert delete_expired(session) == Deleted(emails=1, phones=1)


def test_a_value_found_again_stays_free_for_its_owner_while_the_contact_is_stored(
    session: Session, ada: Contact
) -> None:
    workspace_id = a_workspace(session, grant=10)
    a_reveal(session, workspace_id, ada)
    rejected_values.reject(session, ada.id, "other@acme.com", now=NOW)
    delete_expired(session)
    an_email(session, ada, "ada@acme.com")

    disclosed = disclose(
        session,
        workspace_id=workspace_id,
        job_id=new_id("job"),
        contact=ada,
        field_request=FIELD_REQUEST,
        price=2,
        now=LATER,
    )

    assert disclosed is not None
    assert (disclosed.charge, disclosed.already_owned) == (0, True)
    assert [reveal.credits for reveal in session.scalars(select(Reveal))] == [2]


def test_a_value_owned_under_a_deleted_contact_stays_owned_under_another(
    session: Session, ada: Contact
) -> None:
    namesake = a_contact(session, None, "Ada King")
    a_reveal(session, a_workspace(session, grant=10), ada)
    row = an_email(session, namesake, "ada@acme.com")
    row.first_seen_at = LATER

    assert delete_expired(session).contacts == 1
    assert session.scalars(select(RevealedValue.contact_id)).all() == [namesake.id]


def test_the_ledger_and_its_audit_stay_consistent(session: Session) -> None:
    busy_days(session)
    before = faults(session)

    deleted = delete_expired(session)

    assert deleted.contacts == deleted.emails > 0
    assert session.scalars(select(Reveal)).all() == []
    assert faults(session) == before == []


def test_a_batch_is_limited(session: Session, ada: Contact, monkeypatch: pytest.MonkeyPatch) -> None:
    an_email(session, a_contact(session, None, "Bob Ray"), "bob@acme.com")
    monkeypatch.setattr(contact_retention, "BATCH", 1)

    assert delete_expired(session).contacts == 1
    assert delete_expired(session).contacts == 1
