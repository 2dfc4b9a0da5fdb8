from __future__ import annotations

from datetime import timedelta

import pytest
from findings_support import ADA, DAY, NOW, person, phone

from app.domain.errors import ContactNotFound
from app.domain.records.merging import Change
from app.engine.contacts import contacts, phones
from app.engine.contacts.contacts import Contact
from app.engine.contacts.phones import PhoneEntry
from app.infra.database.session import Session

LATER = NOW + DAY


@pytest.fixture
def ada(session: Session) -> Contact:
    return contacts.upsert(session, person(linkedin_url=ADA), now=NOW)


def test_a_number_is_stored_with_country_and_line_type(session: Session, ada: Contact) -> None:
    stored = phones.upsert(session, ada.id, phone("+442079460001", type="direct", extension="42"), now=LATER)

    assert (stored.e164, stored.national, stored.country) == ("+442079460001", "020 7946 0001", "GB")
    assert (stored.line_type, stored.type, stored.extension, stored.status) == (
        "landline",
        "direct",
        "42",
        "valid",
    )
    assert stored.sources[0]["provider"] == "list.csv"
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == LATER


def test_a_number_of_an_unknown_contact_is_an_error(session: Session) -> None:
    with pytest.raises(ContactNotFound):
        phones.upsert(session, "con_unknown", phone(), now=NOW)


def test_newer_values_win_and_missing_ones_remove_nothing(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(do_not_call=True, extension="42"), now=NOW)

    stored = phones.upsert(session, ada.id, phone(at=LATER, type="work"), now=LATER)

    assert (stored.type, stored.do_not_call, stored.extension, stored.last_seen_at) == (
        "work",
        True,
        "42",
        LATER,
    )


@pytest.mark.parametrize("kind", ["mobile", "direct", "work", "hq", "other"])
def test_the_type_is_the_sources_and_the_line_type_is_derived_from_the_digits(
    session: Session, ada: Contact, kind: str
) -> None:
    stored = phones.upsert(session, ada.id, phone("+447911123456", type=kind), now=NOW)

    assert (stored.type, stored.line_type) == (kind, "mobile")


def test_an_unknown_type_or_status_does_not_replace_a_known_one(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(type="direct", confidence=0.9), now=NOW)

    stored = phones.upsert(session, ada.id, phone(at=LATER, type="other", status="unknown"), now=LATER)

    assert (stored.type, stored.status, stored.confidence) == ("direct", "valid", 0.9)


def test_an_unknown_status_from_a_verification_is_stored(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(), now=NOW)

    stored = phones.upsert(session, ada.id, phone(at=LATER, status="unknown", verified_at=LATER), now=LATER)

    assert (stored.status, stored.verified_at) == ("unknown", LATER)


def test_older_values_only_fill_empty_fields(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, type="other"), now=NOW)
    older = phone(type="direct", extension="42", status="invalid")

    stored = phones.upsert(session, ada.id, older, now=LATER)

    assert (stored.type, stored.extension, stored.status) == ("direct", "42", "valid")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ((False, DAY), (False, DAY)),
        ((True, DAY), (True, DAY)),
        ((False, -DAY), (True, 0 * DAY)),
        ((None, DAY), (True, 0 * DAY)),
        ((False, 0 * DAY), (True, 0 * DAY)),
    ],
    ids=["newer", "newer and the same", "older", "silence with a date", "of the same moment"],
)
def test_the_newest_do_not_call_entry_wins_with_its_date(
    session: Session, ada: Contact, entry: tuple[bool | None, timedelta], expected: tuple[bool, timedelta]
) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True, do_not_call_at=NOW), now=NOW)
    record = phone(at=LATER + DAY, do_not_call=entry[0], do_not_call_at=NOW + entry[1])

    stored = phones.upsert(session, ada.id, record, now=LATER)

    assert (stored.do_not_call, stored.do_not_call_at) == (expected[0], NOW + expected[1])


def test_a_newer_do_not_call_entry_of_an_older_record_wins(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER + DAY, do_not_call=False, do_not_call_at=NOW), now=NOW)

    stored = phones.upsert(
        session, ada.id, phone(type="hq", do_not_call=True, do_not_call_at=LATER), now=LATER
    )

    assert (stored.do_not_call, stored.do_not_call_at, stored.type) == (True, LATER, "mobile")


def test_a_do_not_call_entry_without_a_date_has_that_of_its_source(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True), now=NOW)

    stored = phones.upsert(session, ada.id, phone(do_not_call=False), now=LATER)

    assert (stored.do_not_call, stored.do_not_call_at) == (True, LATER)


def test_the_same_do_not_call_entry_again_does_not_update_the_contact(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(do_not_call=True), now=NOW)

    stored = phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True), now=LATER)

    assert stored.do_not_call_at == LATER
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_the_same_number_again_changes_nothing(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(), now=NOW)

    stored = phones.upsert(session, ada.id, phone(), now=LATER)

    assert stored.last_seen_at == NOW
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_a_number_twice_in_a_batch_is_stored_once(session: Session, ada: Contact) -> None:
    changes = phones.upsert_many(session, [PhoneEntry(ada.id, phone()), PhoneEntry(ada.id, phone())])

    assert changes == [Change.CHANGED, Change.NONE]


def test_numbers_are_returned_by_contact_oldest_first(session: Session, ada: Contact) -> None:
    texts = [f"+1617555010{index}" for index in range(5)]
    phones.upsert_many(session, [PhoneEntry(ada.id, phone(text)) for text in texts])

    known = phones.by_contact(session, [ada.id, "con_unknown"])

    assert [item.e164 for item in known[ada.id]] == texts
    assert set(known) == {ada.id}
