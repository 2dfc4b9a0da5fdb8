from __future__ import annotations

from datetime import timedelta

import pytest
from findings_support import company, person
from stored_support import ADA_URL, NOW, a_company, a_contact, a_phone, an_email

from app.domain.findings import EmailStatus, FoundContact, FoundEmail, FoundPhone, Source, SourceKind
from app.engine.contacts import contacts, emails, phones, rejected_values
from app.engine.contacts.contacts import Contact
from app.engine.privacy import rectification
from app.engine.privacy.rectification import Correction
from app.infra.database.session import Session

LATER = NOW + timedelta(days=30)
SOURCE = Source("list", SourceKind.IMPORT, LATER)


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(
        session, a_company(session), linkedin_url=ADA_URL, title="Engineer", city="Bath", country="GB"
    )
    an_email(session, contact, "ada@acme.com")
    an_email(session, contact, "wrong@acme.com")
    a_phone(session, contact, "+16175550155")
    session.flush()
    return contact


def rectify(session: Session, ada: Contact, correction: Correction) -> list[str]:
    changed = rectification.rectify(session, [ada.id], correction, now=NOW)
    session.expire_all()
    return changed


def test_no_newer_source_overwrites_a_correction(session: Session, ada: Contact) -> None:
    rectify(session, ada, Correction({"title": "Countess", "city": None}))
    newer = FoundContact(
        source=SOURCE,
        full_name="Ada L",
        title="Clerk",
        city="Paris",
        country="FR",
        seniority="senior",
        linkedin_url=ADA_URL,
    )

    for _ in range(2):  # the provenance stays, whatever else changes
        contacts.upsert(session, newer, now=LATER)
        session.expire_all()

    assert (ada.title, ada.city, ada.country) == ("Countess", None, "GB")
    assert (ada.full_name, ada.seniority) == ("Ada L", "senior")
    assert ada.provenance["title"]["source"] == ada.provenance["city"]["source"] == "person"


def test_the_name_of_the_operator_is_the_one_with_which_later_corrections_are_compared(
    session: Session, ada: Contact
) -> None:
    rectify(session, ada, Correction({"full_name": "Ada King"}, is_own=True))
    rectify(session, ada, Correction({"full_name": "Ada Byron"}, is_own=True))
    of_source = rectification.source_name(ada)

    rectify(session, ada, Correction({"full_name": "Augusta Byron"}))

    assert (of_source, rectification.source_name(ada)) == ("Ada Lovelace", "Augusta Byron")


def test_a_removed_company_does_not_return(session: Session, ada: Contact) -> None:
    company_id = ada.company_id
    assert company_id

    changed = rectify(session, ada, Correction({"company": None}))

    newer = person(None, LATER, linkedin_url=ADA_URL, company=company(at=LATER))
    contacts.upsert(session, newer, now=LATER)
    session.expire_all()
    assert (changed, ada.company_id) == (["company"], None)


def test_a_removed_value_is_not_stored_with_the_contact_again(session: Session, ada: Contact) -> None:
    changed = rectify(
        session, ada, Correction(wrong_emails=["wrong@acme.com"], wrong_phones=["+16175550155"])
    )
    again = FoundContact(
        source=SOURCE,
        linkedin_url=ADA_URL,
        emails=tuple(
            FoundEmail(email=each, type="work", status=EmailStatus.VALID, source=SOURCE)
            for each in ("wrong@acme.com", "new@acme.com")
        ),
        phones=(FoundPhone(e164="+16175550155", source=SOURCE),),
    )

    contacts.upsert(session, again, now=LATER)

    assert changed == ["emails", "phones"]
    assert sorted(row.email for row in emails.by_contact(session, [ada.id])[ada.id]) == [
        "ada@acme.com",
        "new@acme.com",
    ]
    assert phones.by_contact(session, [ada.id]) == {}


def test_a_rejected_value_can_belong_to_another_contact(session: Session, ada: Contact) -> None:
    rectify(session, ada, Correction(wrong_emails=["wrong@acme.com"]))

    pairs = {(ada.id, "wrong@acme.com"), (ada.id, "ada@acme.com"), ("con_other", "wrong@acme.com")}

    assert rejected_values.rejected(session, pairs) == {(ada.id, "wrong@acme.com")}


def test_what_is_not_the_persons_or_not_new_changes_nothing(session: Session, ada: Contact) -> None:
    assert rectify(session, ada, Correction({"title": "Engineer"}, wrong_emails=["bob@acme.com"])) == []
