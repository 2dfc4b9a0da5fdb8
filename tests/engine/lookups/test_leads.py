from __future__ import annotations

from typing import Any

import pytest
from local_servers import POSTGRES
from stored_support import (
    ADA_URL,
    NOW,
    PRICES,
    a_company,
    a_contact,
    a_phone,
    an_email,
    own,
    scans,
    statements,
    suppress,
)

from app.domain.errors import InvalidValue
from app.domain.ids import EXAMPLES
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.lookups import company_overviews, leads, profile_snapshots, representations
from app.engine.lookups.company_people import PageCursor
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra.database.session import Session

ACME = hex_hash(website_hash("acme.com"))


def find(session: Session, workspace_id: str, **options: Any) -> dict[str, Any]:
    request = {"hashes": [ACME], "limit": 25} | options
    answer = leads.by_website_hash(session, workspace_id, request, prices=PRICES)
    assert answer is not None
    return answer


def names(answer: dict[str, Any]) -> list[str]:
    return [lead["full_name"] for lead in answer["leads"]]


def a_team(session: Session) -> tuple[Company, dict[str, Contact]]:
    """Insert a company with a director and two others in engineering, one in sales, one in no department."""
    company = a_company(session)
    people = {
        name: a_contact(session, company, name, seniority=seniority, department=department)
        for name, seniority, department in (
            ("Ada Lovelace", "entry", "engineering"),
            ("Grace Hopper", "director", "engineering"),
            ("Jean Bartik", "entry", "engineering"),
            ("Mary Kenneth", "something", "sales"),
            ("Kay Antonelli", None, None),
        )
    }
    a_contact(session, a_company(session, "Other", domain="other.com"), "Not Ours")
    return company, people


def test_leads_are_listed_by_seniority_with_their_company_and_counts(
    session: Session, workspace_id: str
) -> None:
    company, _ = a_team(session)

    answer = find(session, workspace_id)

    assert names(answer) == ["Grace Hopper", "Jean Bartik", "Ada Lovelace", "Kay Antonelli", "Mary Kenneth"]
    assert (answer["matched_hash"], answer["company"]) == (ACME, representations.company_card(company))
    assert (answer["total"], answer["by_department"]) == (5, {"engineering": 3, "sales": 1})
    assert (answer["email_pattern"], answer["next_cursor"]) == (None, None)


def test_a_lead_shows_available_values_and_the_saved_profile(session: Session, workspace_id: str) -> None:
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL, department="engineering")
    an_email(session, ada, "ada@acme.com")
    own(session, workspace_id, ada, "email")
    snapshot = ProfileSnapshot(linkedin_url=ADA_URL, captured_at=NOW, annotations={"list_name": "Prospects"})
    profile_snapshots.save(session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW)

    [lead] = find(session, workspace_id)["leads"]

    assert {name: lead[name] for name in lead if name not in {"saved", "available"}} == {
        "contact_id": ada.id,
        "full_name": "Ada Lovelace",
        "title": "Engineer",
        "seniority": None,
        "department": "engineering",
        "linkedin_url": ADA_URL,
        "excluded": None,
    }
    assert lead["saved"]["list"] == "Prospects"
    assert [(lead["masked"], lead["owned"], lead["credits"]) for lead in lead["available"]] == [
        ("a•••••@acme.com", True, 0)
    ]


def test_the_first_known_hash_wins_and_unknown_ones_have_no_leads(
    session: Session, workspace_id: str
) -> None:
    a_team(session)
    unknown = hex_hash(website_hash("shop.acme.com"))

    answer = find(session, workspace_id, hashes=[unknown, ACME, hex_hash(website_hash("other.com"))])

    assert answer["matched_hash"] == ACME
    nothing = leads.by_website_hash(session, workspace_id, {"hashes": [unknown], "limit": 5}, prices=PRICES)
    assert nothing is None


def test_a_department_narrows_the_leads_and_the_total_but_not_the_counts(
    session: Session, workspace_id: str
) -> None:
    a_team(session)

    answer = find(session, workspace_id, department="sales")

    assert (names(answer), answer["total"]) == (["Mary Kenneth"], 1)
    assert answer["by_department"] == {"engineering": 3, "sales": 1}


def test_a_department_without_people_is_empty(session: Session, workspace_id: str) -> None:
    a_team(session)

    answer = find(session, workspace_id, department="legal")

    assert (answer["leads"], answer["total"]) == ([], 0)


def test_a_seniority_narrows_everything(session: Session, workspace_id: str) -> None:
    a_team(session)

    answer = find(session, workspace_id, seniority="director")

    assert (names(answer), answer["total"], answer["by_department"]) == (
        ["Grace Hopper"],
        1,
        {"engineering": 1},
    )


def test_the_has_filter_requires_a_value_that_is_not_invalid(session: Session, workspace_id: str) -> None:
    _, people = a_team(session)
    for name in ("Ada Lovelace", "Grace Hopper"):
        an_email(session, people[name], f"{name[:3]}@acme.com")
    a_phone(session, people["Grace Hopper"], "+12025550143")
    an_email(session, people["Jean Bartik"], "jean@acme.com", status="invalid")
    a_phone(session, people["Mary Kenneth"], "+12025550144", status="invalid")

    with_email = find(session, workspace_id, has=["email"])
    with_phone = find(session, workspace_id, has=["phone"])
    with_both = find(session, workspace_id, has=["email", "phone"])

    assert names(with_email) == ["Grace Hopper", "Ada Lovelace"]
    assert names(with_phone) == ["Grace Hopper"]
    assert (names(with_both), with_both["total"]) == (["Grace Hopper"], 1)


def test_every_person_is_on_exactly_one_page(session: Session, workspace_id: str) -> None:
    a_team(session)

    pages = [find(session, workspace_id, limit=2)]
    while pages[-1]["next_cursor"]:
        pages.append(find(session, workspace_id, limit=2, cursor=pages[-1]["next_cursor"]))

    assert [names(page) for page in pages] == [
        ["Grace Hopper", "Jean Bartik"],
        ["Ada Lovelace", "Kay Antonelli"],
        ["Mary Kenneth"],
    ]
    assert {page["total"] for page in pages} == {5}


def test_people_without_a_name_are_listed_too(session: Session, workspace_id: str) -> None:
    company = a_company(session)
    people = {a_contact(session, company, None).id for _ in range(3)}

    first = find(session, workspace_id, limit=2)
    second = find(session, workspace_id, limit=2, cursor=first["next_cursor"])

    assert {lead["contact_id"] for lead in first["leads"] + second["leads"]} == people


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "?",
        "ü",
        "W10",  # []
        "WzEsMiwzXQ",  # [1,2,3]
        PageCursor(99, "x", EXAMPLES["con"]).cursor(),
        PageCursor(-1, "x", EXAMPLES["con"]).cursor(),
        PageCursor(rank=True, name="x", contact_id=EXAMPLES["con"]).cursor(),
        PageCursor(1, "x\0", EXAMPLES["con"]).cursor(),
        PageCursor(1, "\ud800", EXAMPLES["con"]).cursor(),
        PageCursor(1, "x", EXAMPLES["com"]).cursor(),
        PageCursor(1, "x", EXAMPLES["con"]).cursor() + "x" * 1000,
    ],
)
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidValue):
        PageCursor.parse(cursor)


def test_a_cursor_can_be_parsed_again(session: Session) -> None:
    place = PageCursor(1, "lovelace ü", EXAMPLES["con"])

    assert PageCursor.parse(place.cursor()) == place


def test_suppressed_people_are_neither_listed_nor_counted(session: Session, workspace_id: str) -> None:
    _, people = a_team(session)
    an_email(session, people["Mary Kenneth"], "mary@acme.com")
    suppress(session, "email", "mary@acme.com")

    answer = find(session, workspace_id)

    assert "Mary Kenneth" not in names(answer)
    assert (answer["total"], answer["by_department"]) == (4, {"engineering": 3})


def test_in_a_large_company_suppressed_people_are_counted_but_not_listed(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(company_overviews, "MAX_CHECKED", 4)
    _, people = a_team(session)
    an_email(session, people["Mary Kenneth"], "mary@acme.com")
    suppress(session, "email", "mary@acme.com")

    answer = find(session, workspace_id)

    assert (len(answer["leads"]), answer["total"]) == (4, 5)


def test_a_page_of_a_hundred_needs_as_many_queries_as_a_page_of_one(
    session: Session, workspace_id: str
) -> None:
    company = a_company(session)
    for number in range(100):
        ada = a_contact(session, company, linkedin_url=f"{ADA_URL}-{number}")
        an_email(session, ada, f"ada{number}@acme.com")

    with statements(session.get_bind()) as lead:  # type: ignore[arg-type]
        find(session, workspace_id, limit=1)
    with statements(session.get_bind()) as hundred:  # type: ignore[arg-type]
        answer = find(session, workspace_id, limit=100)

    assert len(answer["leads"]) == 100
    assert len(lead) == len(hundred) <= 3


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
def test_a_page_scans_no_whole_table(session: Session, workspace_id: str) -> None:
    a_team(session)
    cursor = find(session, workspace_id, limit=1)["next_cursor"]

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        find(session, workspace_id, department="engineering", has=["email", "phone"], cursor=cursor)

    assert [step for step in scans(session, seen) if "suppressions" not in step] == []
