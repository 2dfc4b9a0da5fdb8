from __future__ import annotations

from datetime import timedelta

import pytest
from findings_support import ADA, DAY, NOW, person, phone
from sqlalchemy.orm import Session

from app.core.contacts import contacts, phones
from app.core.contacts.contacts import Contact
from app.core.contacts.phones import PhoneEntry
from app.domain.errors import ContactNotFound
from app.domain.records.merging import Change

LATER = NOW + DAY


@pytest.fixture
def ada(session: Session) -> Contact:
    return contacts.upsert(session, person(linkedin_url=ADA), now=NOW)


def test_a_number_is_kept_with_what_its_digits_tell(session: Session, ada: Contact) -> None:
    kept = phones.upsert(session, ada.id, phone("+442079460001", type="direct", extension="42"), now=LATER)

    assert (kept.e164, kept.national, kept.country) == ("+442079460001", "020 7946 0001", "GB")
    assert (kept.line_type, kept.type, kept.extension, kept.status) == ("landline", "direct", "42", "valid")
    assert kept.sources[0]["provider"] == "list.csv"
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == LATER


def test_a_number_needs_its_contact(session: Session) -> None:
    with pytest.raises(ContactNotFound):
        phones.upsert(session, "con_unknown", phone(), now=NOW)


def test_a_newer_word_wins_and_silence_takes_nothing_back(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(do_not_call=True, extension="42"), now=NOW)

    kept = phones.upsert(session, ada.id, phone(at=LATER, type="work"), now=LATER)

    assert (kept.type, kept.do_not_call, kept.extension, kept.last_seen_at) == ("work", True, "42", LATER)


@pytest.mark.parametrize("kind", ["mobile", "direct", "work", "hq", "other"])
def test_whose_number_it_is_stays_as_it_was_told_and_the_line_is_the_digits(
    session: Session, ada: Contact, kind: str
) -> None:
    kept = phones.upsert(session, ada.id, phone("+447911123456", type=kind), now=NOW)

    assert (kept.type, kept.line_type) == (kind, "mobile")


def test_who_does_not_know_the_type_or_the_status_takes_none_back(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(type="direct", confidence=0.9), now=NOW)

    kept = phones.upsert(session, ada.id, phone(at=LATER, type="other", status="unknown"), now=LATER)

    assert (kept.type, kept.status, kept.confidence) == ("direct", "valid", 0.9)


def test_a_verdict_that_nobody_can_tell_is_news(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(), now=NOW)

    kept = phones.upsert(session, ada.id, phone(at=LATER, status="unknown", verified_at=LATER), now=LATER)

    assert (kept.status, kept.verified_at) == ("unknown", LATER)


def test_an_older_word_fills_gaps_only(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, type="other"), now=NOW)
    older = phone(type="direct", extension="42", status="invalid")

    kept = phones.upsert(session, ada.id, older, now=LATER)

    assert (kept.type, kept.extension, kept.status) == ("direct", "42", "valid")


@pytest.mark.parametrize(
    ("told", "stands"),
    [
        ((False, DAY), (False, DAY)),
        ((True, DAY), (True, DAY)),
        ((False, -DAY), (True, 0 * DAY)),
        ((None, DAY), (True, 0 * DAY)),
        ((False, 0 * DAY), (True, 0 * DAY)),
    ],
    ids=["newer", "newer and the same", "older", "silence with a date", "of the same moment"],
)
def test_the_newest_look_up_of_do_not_call_stands_with_its_date(
    session: Session, ada: Contact, told: tuple[bool | None, timedelta], stands: tuple[bool, timedelta]
) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True, do_not_call_at=NOW), now=NOW)
    word = phone(at=LATER + DAY, do_not_call=told[0], do_not_call_at=NOW + told[1])

    kept = phones.upsert(session, ada.id, word, now=LATER)

    assert (kept.do_not_call, kept.do_not_call_at) == (stands[0], NOW + stands[1])


def test_a_look_up_counts_though_the_rest_of_the_word_is_older(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER + DAY, do_not_call=False, do_not_call_at=NOW), now=NOW)

    kept = phones.upsert(session, ada.id, phone(type="hq", do_not_call=True, do_not_call_at=LATER), now=LATER)

    assert (kept.do_not_call, kept.do_not_call_at, kept.type) == (True, LATER, "mobile")


def test_without_a_date_it_was_looked_up_when_it_was_told(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True), now=NOW)

    kept = phones.upsert(session, ada.id, phone(do_not_call=False), now=LATER)

    assert (kept.do_not_call, kept.do_not_call_at) == (True, LATER)


def test_the_same_look_up_again_is_no_update_of_the_contact(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(do_not_call=True), now=NOW)

    kept = phones.upsert(session, ada.id, phone(at=LATER, do_not_call=True), now=LATER)

    assert kept.do_not_call_at == LATER
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_the_same_again_is_no_change(session: Session, ada: Contact) -> None:
    phones.upsert(session, ada.id, phone(), now=NOW)

    kept = phones.upsert(session, ada.id, phone(), now=LATER)

    assert kept.last_seen_at == NOW
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_the_same_number_twice_in_a_batch_is_one(session: Session, ada: Contact) -> None:
    changes = phones.upsert_many(session, [PhoneEntry(ada.id, phone()), PhoneEntry(ada.id, phone())])

    assert changes == [Change.CHANGED, Change.NONE]


def test_numbers_come_by_contact_in_the_order_they_were_known(session: Session, ada: Contact) -> None:
    texts = [f"+1617555010{index}" for index in range(5)]
    phones.upsert_many(session, [PhoneEntry(ada.id, phone(text)) for text in texts])

    known = phones.by_contact(session, [ada.id, "con_unknown"])

    assert [one.e164 for one in known[ada.id]] == texts
    assert set(known) == {ada.id}
