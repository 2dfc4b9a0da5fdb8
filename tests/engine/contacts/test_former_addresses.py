"""The addresses of former employers are marked, and are not what is sold first."""

from __future__ import annotations

from typing import Any

import pytest
from findings_support import ADA, DAY, NOW, a_source, company, email, person, phone

from app.domain.findings import FoundContact
from app.engine.contacts import contacts, emails, phones
from app.engine.contacts.contacts import Contact
from app.engine.lookups.representations import quality_key
from app.infra.database.session import Session

OLDCO = {"name": "Oldco", "domain": "oldco.example"}
NEWCO = {"name": "Newco", "domain": "newco.example"}
OLD, NEW = "ada@oldco.example", "ada@newco.example"


def record(employer: dict[str, Any], *addresses: str, days: int = 0, **more: Any) -> FoundContact:
    """Return what a list says of Ada so many days after NOW."""
    at = NOW + days * DAY
    values = {"linkedin_url": ADA, "source": a_source(at)} | more
    found = tuple(email(address, at=at) for address in addresses)
    return person(company=company(at=at, **employer), emails=found, **values)


def store(session: Session, *records: FoundContact) -> Contact:
    """Store the records, each in a batch of its own."""
    return [contacts.upsert(session, found, now=found.source.at) for found in records][-1]


def listed(session: Session, contact: Contact) -> list[tuple[str, str, bool]]:
    """Return the addresses, best first, with their status, and whether they are former."""
    session.expire_all()
    rows = sorted(emails.by_contact(session, [contact.id])[contact.id], key=quality_key)
    return [(row.email, row.status, emails.FORMER in row.status_reasons) for row in rows]


CHANGED = [(NEW, "valid", False), (OLD, "risky", True)]


def test_the_address_of_the_former_employer_is_marked_and_comes_after_the_present_one(
    session: Session,
) -> None:
    ada = store(session, record(OLDCO, OLD), record(NEWCO, NEW, days=9))

    assert listed(session, ada) == CHANGED


def test_an_address_at_a_public_suffix_of_no_known_employer_is_marked(session: Session) -> None:
    nameless = {"name": "Oldco", "domain": None}
    ada = store(session, record(nameless, "ada@gov.au"), record(NEWCO, NEW, days=9))

    assert ("ada@gov.au", "risky", True) in listed(session, ada)


def test_a_list_that_is_older_than_the_change_brings_a_former_address(session: Session) -> None:
    ada = store(session, record(NEWCO, NEW, days=9), record(OLDCO, OLD))

    assert listed(session, ada) == CHANGED


@pytest.mark.parametrize("days", [(0, 9), (9, 0)])
def test_both_employers_in_one_list_are_told_apart_by_their_dates(
    session: Session, days: tuple[int, int]
) -> None:
    rows = {0: record(OLDCO, OLD), 9: record(NEWCO, NEW, days=9)}

    results = contacts.upsert_many(session, [rows[day] for day in days], now=NOW + 9 * DAY)

    assert len({result.contact_id for result in results}) == 1
    assert listed(session, session.get_one(Contact, results[0].contact_id)) == CHANGED


def test_an_address_that_comes_with_the_new_employer_is_current(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD), record(NEWCO, OLD, days=9))  # Newco has bought Oldco

    assert listed(session, ada) == [(OLD, "valid", False)]


def test_a_former_address_is_current_again_when_a_later_list_has_it(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD), record(NEWCO, NEW, days=9), record(NEWCO, OLD, days=12))

    assert listed(session, ada) == [(OLD, "valid", False), (NEW, "valid", False)]


def test_returning_to_the_first_employer_makes_the_other_address_former(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD), record(NEWCO, NEW, days=9), record(OLDCO, OLD, days=12))

    assert listed(session, ada) == [(OLD, "valid", False), (NEW, "risky", True)]


@pytest.mark.parametrize(
    "kept",
    [
        {"text": "ada@gmail.com", "type": "personal"},
        {"text": "ada@lovelace.example"},  # a domain of neither company
    ],
)
def test_other_addresses_stay_what_they_are(session: Session, kept: dict[str, str]) -> None:
    first = person(company=company(**OLDCO), linkedin_url=ADA, emails=(email(**kept),))

    ada = store(session, first, record(NEWCO, NEW, days=9))

    assert (kept["text"], "valid", False) in listed(session, ada)


def test_a_subdomain_for_mail_belongs_to_the_employer(session: Session) -> None:
    ada = store(session, record(OLDCO, "ada@mail.oldco.example"), record(NEWCO, NEW, days=9))

    assert listed(session, ada)[1] == ("ada@mail.oldco.example", "risky", True)


def test_two_records_of_one_company_make_nothing_former(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD), record({"name": "Oldco"}, days=9))

    assert listed(session, ada) == [(OLD, "valid", False)]


def test_the_employer_before_without_a_domain_is_told_by_the_domain_of_the_new_one(session: Session) -> None:
    ada = store(session, record({"name": "Oldco"}, OLD), record(NEWCO, NEW, days=9))

    assert listed(session, ada) == CHANGED


OFFICE = "+442079460018"


def number(session: Session, contact: Contact) -> str:
    """Return the status of the contact's number of the office."""
    session.expire_all()
    [row] = [row for row in phones.by_contact(session, [contact.id])[contact.id] if row.e164 == OFFICE]
    return row.status


def at_office(type_: str = "work", days: int = 0) -> dict[str, Any]:
    return {"phones": (phone(OFFICE, at=NOW + days * DAY, type=type_),)}


def bob(employer: dict[str, Any], **more: Any) -> FoundContact:
    return person("Bob Byron", company=company(**employer), emails=(email("bob@oldco.example"),), **more)


def test_a_number_of_the_colleagues_left_behind_is_no_longer_valid(session: Session) -> None:
    colleague = store(session, bob(OLDCO, **at_office()))
    ada = store(session, record(OLDCO, OLD, **at_office()), record(NEWCO, NEW, days=9))

    assert number(session, ada) == "unknown"
    assert number(session, colleague) == "valid"


def test_the_number_of_the_former_head_office_is_no_longer_valid(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD, **at_office("hq")), record(NEWCO, NEW, days=9))

    assert number(session, ada) == "unknown"


@pytest.mark.parametrize("type_", ["mobile", "direct"])
def test_a_personal_number_stays_valid(session: Session, type_: str) -> None:
    store(session, bob(OLDCO, **at_office(type_)))
    ada = store(session, record(OLDCO, OLD, **at_office(type_)), record(NEWCO, NEW, days=9))

    assert number(session, ada) == "valid"


def test_a_work_number_that_nobody_else_has_stays_valid(session: Session) -> None:
    ada = store(session, record(OLDCO, OLD, **at_office()), record(NEWCO, NEW, days=9))

    assert number(session, ada) == "valid"


def test_a_number_that_people_of_the_new_company_have_stays_valid(session: Session) -> None:
    store(session, bob(OLDCO, **at_office()))
    store(session, person("Cy Dee", company=company(**NEWCO), **at_office()))
    ada = store(session, record(OLDCO, OLD, **at_office()), record(NEWCO, NEW, days=9))

    assert number(session, ada) == "valid"


def test_only_a_source_that_has_the_number_after_the_move_makes_it_valid_again(session: Session) -> None:
    store(session, bob(OLDCO, **at_office()))
    old = record(OLDCO, OLD, **at_office())
    ada = store(session, old, record(NEWCO, NEW, days=9), old)
    before = number(session, ada)
    store(session, record(NEWCO, NEW, days=12, **at_office(days=12)))

    assert (before, number(session, ada)) == ("unknown", "valid")
