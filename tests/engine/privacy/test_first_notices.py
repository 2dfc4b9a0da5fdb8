from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from jobs_support import a_workspace
from sqlalchemy import update
from stored_support import NOW, a_company, a_contact, a_phone, an_email, own, suppress

from app.domain.regional_rules import RegionalRules
from app.engine.contacts.contacts import Contact
from app.engine.ledger.reveals import Reveal
from app.engine.privacy import first_notices
from app.infra.database.session import DataSettings, Session

DAY, PERIOD = timedelta(days=1), timedelta(days=30)


def obtained(session: Session, name: str, days_ago: int, **changes: Any) -> Contact:
    return a_contact(session, None, name, created_at=NOW - days_ago * DAY, **changes)


def reveal(session: Session, contact: Contact, days_ago: int) -> None:
    own(session, a_workspace(session), contact, "email")
    session.execute(
        update(Reveal).where(Reveal.contact_id == contact.id).values(created_at=NOW - days_ago * DAY)
    )


def names(session: Session, by: datetime = NOW) -> list[str]:
    return [person["full_name"] for person in first_notices.due(session, by=by, period=PERIOD)]


def test_a_notice_is_due_a_period_after_the_person_was_obtained(session: Session) -> None:
    obtained(session, "Old Ray", 31)
    obtained(session, "Due Ray", 30)
    obtained(session, "New Ray", 29)

    assert names(session) == ["Old Ray", "Due Ray"]
    assert names(session, NOW + DAY) == ["Old Ray", "Due Ray", "New Ray"]
    assert names(session, NOW - DAY) == ["Old Ray"]


def test_a_notice_is_due_at_the_first_reveal_at_the_latest(session: Session) -> None:
    revealed, late = obtained(session, "Revealed Ray", 3), obtained(session, "Late Ray", 40)
    reveal(session, revealed, 2)
    reveal(session, late, 1)
    reveal(session, late, 5)

    due = {
        person["full_name"]: (person["disclosed_at"][:10], person["due_at"][:10])
        for person in first_notices.due(session, by=NOW, period=PERIOD)
    }

    assert due == {"Revealed Ray": ("2026-11-18", "2026-11-18"), "Late Ray": ("2026-11-15", "2026-11-10")}
    assert names(session, NOW - 3 * DAY) == ["Late Ray"]


def test_a_person_is_listed_with_what_a_notice_needs(session: Session) -> None:
    contact = a_contact(session, a_company(session), created_at=NOW - PERIOD, linkedin_url=None)
    contact.provenance = {"*": {"source": "list.csv", "at": "2026-10-01T00:00:00.000Z"}}
    an_email(session, contact, "wrong@acme.com", status="invalid")
    an_email(session, contact, "ada@acme.com")
    a_phone(session, contact, "+16175550155")

    [person] = first_notices.due(session, by=NOW, period=PERIOD)

    assert person == {
        "contact_id": contact.id,
        "full_name": "Ada Lovelace",
        "company": "Acme Engines",
        "country": "GB",
        "email": "ada@acme.com",
        "sources": "file; list.csv",
        "obtained_at": "2026-10-21T09:30:00.000Z",
        "due_at": "2026-11-20T09:30:00.000Z",
    }
    assert set(person) < set(first_notices.COLUMNS)


def test_an_address_that_a_rule_hides_is_not_listed(session: Session) -> None:
    contact = obtained(session, "Ada Lovelace", 31, country="DE")
    an_email(session, contact, "ada@gmail.com", type="personal")
    session.settings = DataSettings(regional_rules=RegionalRules(frozenset({"DE"})))

    [person] = first_notices.due(session, by=NOW, period=PERIOD)

    assert "email" not in person


def test_suppressed_people_are_left_out_and_batches_go_on(session: Session, monkeypatch: Any) -> None:
    query = first_notices._PEOPLE.limit(None).limit(2)  # noqa: SLF001 -- batches of two
    monkeypatch.setattr(first_notices, "_PEOPLE", query)
    people = [obtained(session, f"Person {letter}", 40) for letter in "ABCDE"]
    an_email(session, people[1], "b@acme.com")
    suppress(session, "email", "b@acme.com")

    assert sorted(names(session)) == ["Person A", "Person C", "Person D", "Person E"]
    assert first_notices.count_overdue(session, period=PERIOD, now=NOW) == 4


def test_notified_people_are_not_listed_and_keep_the_time_of_the_notice(session: Session) -> None:
    ada, bob = obtained(session, "Ada Lovelace", 40), obtained(session, "Bob Ray", 40)

    first = first_notices.mark(session, [ada.id], at=NOW)
    second = first_notices.mark(session, [ada.id, ada.id, bob.id, "con_unknown"], at=NOW + DAY)
    session.expire_all()

    assert (first, second) == (first_notices.Marked(1, 0, 0), first_notices.Marked(1, 1, 1))
    assert (ada.notified_at, bob.notified_at, names(session)) == (NOW, NOW + DAY, [])


def test_nothing_is_overdue_without_a_period(session: Session) -> None:
    obtained(session, "Ada Lovelace", 400)

    assert first_notices.count_overdue(session, period=timedelta(0), now=NOW) == 0
