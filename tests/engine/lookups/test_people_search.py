"""The search for stored people, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest
from stored_support import (
    ADA_URL,
    NOW,
    PRICES,
    a_company,
    a_contact,
    an_email,
    exclude,
    own,
    suppress,
)

from app.domain.errors import InvalidValue
from app.domain.ids import EXAMPLES
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.contacts import Contact
from app.engine.lookups import (
    contact_data,
    people_finder,
    people_index,
    people_search,
    profile_snapshots,
    representations,
)
from app.engine.lookups.people_search import StoredPeople
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra.database.session import Session


def find(
    session: Session, workspace_id: str, *, limit: int = 25, cursor: str | None = None, **criteria: Any
) -> StoredPeople:
    wanted = PeopleCriteria(**criteria)
    return people_search.search(session, workspace_id, wanted, limit=limit, cursor=cursor, prices=PRICES)


def names(found: StoredPeople) -> list[str]:
    return [person["full_name"] for person in found.people]


def a_team(session: Session) -> dict[str, Contact]:
    """Insert three people at a company in London, and two at another one."""
    acme = a_company(session)
    other = a_company(session, "Other", domain="other.com", industry="Software", headcount="1-10")
    people = (
        (acme, "Ada Lovelace", "Chief Technology Officer", "c_suite", "engineering", "GB"),
        (acme, "Grace Hopper", "VP Sales", "vp", "sales", "US"),
        (acme, "Jean Bartik", "Sales Manager", "manager", "sales", "US"),
        (other, "Mary Kenneth", "Leiterin Vertrieb", None, None, "DE"),
        (other, "Kay Antonelli", "Account Executive", "entry", "sales", None),
    )
    return {
        name: a_contact(
            session, company, name, title=title, seniority=seniority, department=department, country=country
        )
        for company, name, title, seniority, department, country in people
    }


def test_everybody_meets_no_criteria_most_senior_first(session: Session, workspace_id: str) -> None:
    a_team(session)

    found = find(session, workspace_id)

    assert names(found) == [
        "Ada Lovelace", "Grace Hopper", "Jean Bartik", "Kay Antonelli", "Mary Kenneth"
    ]  # fmt: skip
    assert (found.total, found.is_at_least, found.next_cursor) == (5, False, None)
    assert found.counts == {
        "seniority": {"c_suite": 1, "entry": 1, "manager": 1, "vp": 1},
        "department": {"sales": 3, "engineering": 1},
        "country": {"US": 2, "DE": 1, "GB": 1},
        "industry": {"Machinery": 3, "Software": 2},
        "headcount": {"51-200": 3, "1-10": 2},
    }


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"seniorities": ("vp", "manager")}, ["Grace Hopper", "Jean Bartik"]),
        ({"departments": ("engineering",)}, ["Ada Lovelace"]),
        ({"countries": ("DE", "GB")}, ["Ada Lovelace", "Mary Kenneth"]),
        ({"industries": ("software",)}, ["Kay Antonelli", "Mary Kenneth"]),
        ({"headcounts": ("1-10",), "seniorities": ("entry",)}, ["Kay Antonelli"]),
        ({"company_domain": "other.com"}, ["Kay Antonelli", "Mary Kenneth"]),
        ({"company_name": "Acme Engines Ltd", "countries": ("US",)}, ["Grace Hopper", "Jean Bartik"]),
        ({"company_domain": "other.com", "company_name": "Acme Engines"}, ["Kay Antonelli", "Mary Kenneth"]),
        ({"titles": ("cto",)}, ["Ada Lovelace"]),
        ({"titles": ("vice president of sales",)}, ["Grace Hopper"]),
        ({"titles": ("head of sales",)}, ["Mary Kenneth"]),
        ({"titles": ("CTO", "sales manager")}, ["Ada Lovelace", "Jean Bartik", "Mary Kenneth"]),
        ({"titles": ("acco",)}, ["Kay Antonelli"]),
        ({"titles": ("ales",)}, []),
        ({"titles": ("!!!",)}, []),
        ({"titles": ("sales",), "countries": ("DE",)}, ["Mary Kenneth"]),
    ],
)
def test_people_meet_every_criterion_by_any_of_its_values(
    session: Session, workspace_id: str, criteria: dict[str, Any], expected: list[str]
) -> None:
    a_team(session)

    found = find(session, workspace_id, **criteria)

    assert (names(found), found.total) == (expected, len(expected))


def test_a_person_is_shown_masked_with_the_company_and_the_saved_profile(
    session: Session, workspace_id: str
) -> None:
    company = a_company(session)
    ada = a_contact(session, company, linkedin_url=ADA_URL, department="engineering")
    an_email(session, ada, "ada@acme.com")
    own(session, workspace_id, ada, "email")
    snapshot = ProfileSnapshot(linkedin_url=ADA_URL, captured_at=NOW, annotations={"list_name": "Prospects"})
    profile_snapshots.save(session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW)

    [person] = find(session, workspace_id).people

    assert {name: person[name] for name in person if name not in {"saved", "available"}} == {
        "contact_id": ada.id,
        "full_name": "Ada Lovelace",
        "title": "Engineer",
        "seniority": None,
        "department": "engineering",
        "linkedin_url": ADA_URL,
        "location": {"city": "London", "country": "GB"},
        "company": representations.company_card(company),
        "revealed": representations.revealed(contact_data.load(session, workspace_id, [ada]), ada.id),
        "excluded": None,
    }
    assert person["saved"]["list"] == "Prospects"
    assert [one["email"] for one in person["revealed"]["emails"]] == ["ada@acme.com"]
    assert [(entry["masked"], entry["owned"]) for entry in person["available"]] == [("a•••••@acme.com", True)]


def test_a_person_without_a_company_is_found(session: Session, workspace_id: str) -> None:
    a_contact(session)

    [person] = find(session, workspace_id).people

    assert person["company"] is None


def test_a_person_without_a_name_is_not_found(session: Session, workspace_id: str) -> None:
    a_contact(session, a_company(session), None)

    found = find(session, workspace_id)

    assert (found.people, found.total) == ([], 0)


def test_pages_follow_one_another_until_the_last(session: Session, workspace_id: str) -> None:
    a_team(session)

    first = find(session, workspace_id, limit=2)
    second = find(session, workspace_id, limit=2, cursor=first.next_cursor)
    third = find(session, workspace_id, limit=2, cursor=second.next_cursor)

    assert [names(page) for page in (first, second, third)] == [
        ["Ada Lovelace", "Grace Hopper"],
        ["Jean Bartik", "Kay Antonelli"],
        ["Mary Kenneth"],
    ]
    assert [page.total for page in (first, second, third)] == [5, 5, 5]
    assert third.next_cursor is None


@pytest.mark.parametrize("cursor", ["nonsense", EXAMPLES["con"]])
def test_a_text_that_is_not_a_cursor_is_refused(session: Session, workspace_id: str, cursor: str) -> None:
    with pytest.raises(InvalidValue):
        find(session, workspace_id, cursor=cursor)


def test_a_page_follows_a_person_who_no_longer_meets_the_criteria(
    session: Session, workspace_id: str
) -> None:
    people = a_team(session)
    first = find(session, workspace_id, limit=2, departments=("sales",))
    people["Jean Bartik"].department = "legal"
    session.flush()

    second = find(session, workspace_id, limit=2, cursor=first.next_cursor, departments=("sales",))

    assert (names(first), names(second)) == (["Grace Hopper", "Jean Bartik"], ["Kay Antonelli"])


def test_more_people_than_are_counted_are_at_least_so_many(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_team(session)
    for module in (people_finder, people_index):
        monkeypatch.setattr(module, "MAX_FOUND", 3)

    found = find(session, workspace_id, limit=2)
    rest = find(session, workspace_id, limit=2, cursor=found.next_cursor)

    assert (found.total, found.is_at_least) == (3, True)
    assert (len(found.people), len(rest.people), rest.next_cursor) == (2, 1, None)


def test_suppressed_people_are_neither_listed_nor_counted(session: Session, workspace_id: str) -> None:
    people = a_team(session)
    an_email(session, people["Grace Hopper"], "grace@acme.com")
    suppress(session, "email", "grace@acme.com")
    suppress(session, "domain", "other.com")

    found = find(session, workspace_id)

    assert (names(found), found.total) == (["Ada Lovelace", "Jean Bartik"], 2)
    assert found.counts["seniority"] == {"c_suite": 1, "manager": 1}


def test_suppressed_people_beyond_the_checked_ones_are_not_listed(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = a_team(session)
    an_email(session, people["Grace Hopper"], "grace@acme.com")
    suppress(session, "email", "grace@acme.com")
    monkeypatch.setattr(people_search, "MAX_CHECKED", 2)

    first = find(session, workspace_id, limit=2)
    second = find(session, workspace_id, limit=2, cursor=first.next_cursor)

    assert (names(first), names(second)) == (["Ada Lovelace"], ["Jean Bartik", "Kay Antonelli"])
    assert (first.total, second.total) == (5, 5)


def test_an_excluded_person_is_marked_and_nothing_is_available(session: Session, workspace_id: str) -> None:
    ada = a_contact(session, a_company(session))
    an_email(session, ada, "ada@acme.com")
    exclude(session, workspace_id, "domain", "acme.com")

    [person] = find(session, workspace_id).people

    assert person["available"] == []
    assert person["excluded"]["reason"] == "customer"
