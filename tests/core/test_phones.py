from __future__ import annotations

import pytest
from findings_support import ADA, DAY, NOW, person, phone
from sqlalchemy.orm import Session

from app.core import contacts, phones
from app.core.contacts import Contact
from app.core.phones import OwnedPhone
from app.domain.errors import ContactNotFound
from app.domain.merging import Change

LATER = NOW + DAY


@pytest.fixture
def ada(session: Session) -> Contact:
    return contacts.keep(session, person(linkedin_url=ADA), now=NOW)


def test_a_number_is_kept_with_what_its_digits_tell(session: Session, ada: Contact) -> None:
    kept = phones.keep(session, ada.id, phone("+442079460001", type="direct", extension="42"), now=LATER)

    assert (kept.e164, kept.national, kept.country) == ("+442079460001", "020 7946 0001", "GB")
    assert (kept.line_type, kept.type, kept.extension, kept.status) == ("landline", "direct", "42", "valid")
    assert kept.sources[0]["provider"] == "list.csv"
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == LATER


def test_a_number_needs_its_contact(session: Session) -> None:
    with pytest.raises(ContactNotFound):
        phones.keep(session, "con_unknown", phone(), now=NOW)


def test_a_newer_word_wins_and_silence_takes_nothing_back(session: Session, ada: Contact) -> None:
    phones.keep(session, ada.id, phone(do_not_call=True, extension="42"), now=NOW)

    kept = phones.keep(session, ada.id, phone(at=LATER, type="work"), now=LATER)

    assert (kept.type, kept.do_not_call, kept.extension, kept.last_seen_at) == ("work", True, "42", LATER)


def test_the_same_again_is_no_change(session: Session, ada: Contact) -> None:
    phones.keep(session, ada.id, phone(), now=NOW)

    kept = phones.keep(session, ada.id, phone(), now=LATER)

    assert kept.last_seen_at == NOW
    assert session.get_one(Contact, ada.id, populate_existing=True).updated_at == NOW


def test_the_same_number_twice_in_a_batch_is_one(session: Session, ada: Contact) -> None:
    changes = phones.keep_all(session, [OwnedPhone(ada.id, phone()), OwnedPhone(ada.id, phone())])

    assert changes == [Change.VISIBLE, Change.NONE]


def test_numbers_come_by_contact_in_the_order_they_were_known(session: Session, ada: Contact) -> None:
    texts = [f"+1617555010{index}" for index in range(5)]
    phones.keep_all(session, [OwnedPhone(ada.id, phone(text)) for text in texts])

    known = phones.of(session, [ada.id, "con_unknown"])

    assert [one.e164 for one in known[ada.id]] == texts
    assert set(known) == {ada.id}
