"""GET /api/people."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from stored_support import a_company, a_contact, an_email, exclude, own, suppress
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.engine.contacts.contacts import Contact
from app.features.stored_people.criteria import DEPARTMENTS


def get(user: SignedInUser, query: str = "") -> TestResponse:
    return user.client.get(f"/api/people{query}", headers=user.headers)


def people(user: SignedInUser, query: str = "") -> list[str]:
    response = get(user, query)
    assert response.status_code == 200, response.text
    return [person["full_name"] for person in response.get_json()["people"]]


def a_team(user: SignedInUser) -> dict[str, str]:
    """Store three people of two companies; return their ids."""
    with user.database.transaction() as session:
        acme = a_company(session)
        other = a_company(session, "Other", domain="other.com", headcount="1-10", industry="Software")
        made = {
            name: a_contact(
                session,
                company,
                name,
                title=title,
                seniority=seniority,
                department=department,
                country=country,
            )
            for company, name, title, seniority, department, country in (
                (acme, "Ada Lovelace", "CTO", "c_suite", "engineering", "GB"),
                (acme, "Grace Hopper", "VP Sales", "vp", "sales", "US"),
                (other, "Mary Kenneth", "Leiterin Vertrieb", "head", "sales", "DE"),
            )
        }
        for name, contact in made.items():
            an_email(session, contact, f"{name[:3].lower()}@acme.com")
    return {name: contact.id for name, contact in made.items()}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Ada Lovelace", "Grace Hopper", "Mary Kenneth"]),
        ("?title=vice%20president%20of%20sales", ["Grace Hopper"]),
        ("?title=cto&title=head%20of%20sales", ["Ada Lovelace", "Mary Kenneth"]),
        ("?seniority=vp&seniority=C-Level", ["Ada Lovelace", "Grace Hopper"]),
        ("?department=Vertrieb&country=Germany", ["Mary Kenneth"]),
        ("?industry=software", ["Mary Kenneth"]),
        ("?headcount=120", ["Ada Lovelace", "Grace Hopper"]),
        ("?company_domain=https://www.acme.com/about", ["Ada Lovelace", "Grace Hopper"]),
        ("?country=FR", []),
    ],
)
def test_people_are_found_however_their_criteria_are_written(
    user: SignedInUser, query: str, expected: list[str]
) -> None:
    a_team(user)

    found = people(user, query)

    assert found == expected


def test_the_response_has_numbers_and_masked_values(user: SignedInUser) -> None:
    ids = a_team(user)

    body = get(user, "?department=sales&limit=1").get_json()

    assert {name: body[name] for name in ("total", "at_least", "estimate", "next_cursor")} == {
        "total": 2,
        "at_least": False,
        "estimate": None,
        "next_cursor": ids["Grace Hopper"],
    }
    assert body["counts"]["country"] == {"DE": 1, "US": 1}
    [grace] = body["people"]
    assert [entry["masked"] for entry in grace["available"]] == ["g•••••@acme.com"]
    assert grace["company"]["name"] == "Acme Engines"
    assert "gra@acme.com" not in str(body)


def test_a_cursor_leads_to_the_next_page(user: SignedInUser) -> None:
    a_team(user)
    cursor = get(user, "?limit=2").get_json()["next_cursor"]

    rest = people(user, f"?limit=2&cursor={cursor}")

    assert rest == ["Mary Kenneth"]


def test_only_what_the_workspace_owns_is_shown_in_full(app: APIFlask, user: SignedInUser) -> None:
    ids = a_team(user)
    stranger = create_user(app, email="eve@other.example")
    with user.database.transaction() as session:
        own(session, user.workspace_id, session.get_one(Contact, ids["Ada Lovelace"]), "email")

    mine, theirs = (get(who, "?title=cto").get_json()["people"][0] for who in (user, stranger))

    assert [email["email"] for email in mine["revealed"]["emails"]] == ["ada@acme.com"]
    assert theirs["revealed"] == {"emails": [], "phones": []}


def test_a_suppressed_person_is_left_out_and_an_excluded_one_is_marked(user: SignedInUser) -> None:
    a_team(user)
    with user.database.transaction() as session:
        suppress(session, "email", "gra@acme.com")
        exclude(session, user.workspace_id, "domain", "other.com")

    body = get(user).get_json()

    assert body["total"] == 2
    ada, mary = body["people"]
    assert (ada["excluded"], mary["excluded"]["reason"], mary["available"]) == (None, "customer", [])


@pytest.mark.parametrize(
    ("query", "pointer", "detail"),
    [
        ("?seniority=vp&seniority=boss", "/seniority/1", "founder, owner, c_suite"),
        ("?department=magic", "/department/0", ", ".join(DEPARTMENTS)),
        ("?headcount=many", "/headcount/0", "51-200"),
        ("?country=Atlantis", "/country/0", "country"),
        ("?title=!!!", "/title/0", "VP Sales"),
        (f"?title={'a' * 201}", "/title/0", "200"),
        ("?industry=%20", "/industry/0", ""),
        ("?industry=Steel%00", "/industry/0", "control"),
        ("?company_domain=nonsense", "/company_domain", ""),
        ("?cursor=nonsense", "/cursor", "next_cursor"),
        ("?limit=101", "/limit", "100"),
        ("?" + "&".join(["seniority=vp"] * 21), "/seniority", "20"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(
    user: SignedInUser, query: str, pointer: str, detail: str
) -> None:
    response = get(user, query)

    assert response.status_code == 422
    [error] = response.get_json()["errors"]
    assert error["pointer"] == pointer
    assert detail in error["detail"]


def test_only_keys_that_may_look_up_search(user: SignedInUser) -> None:
    statuses = {
        scope: user.client.get(
            "/api/people", headers={"Authorization": f"Bearer {user.make_key(scope)}"}
        ).status_code
        for scope in Scope
    }

    assert statuses == {scope: 200 if scope is Scope.LOOKUP else 403 for scope in Scope}


def test_what_was_typed_finds_people_masked(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session, "Northlight"), "Ethan Müller")
        an_email(session, contact, "ethan@northlight.example")

    answer = user.client.get("/api/people?q=mueller%20northl", headers=user.headers)

    body = answer.get_json()
    assert [person["full_name"] for person in body["people"]] == ["Ethan Müller"]
    assert (body["total"], body["at_least"], body["next_cursor"]) == (1, False, None)
    assert "ethan@" not in answer.text


@pytest.mark.parametrize(
    "query", ["q=ada&title=CTO", "q=ada&company_domain=acme.com", "q=%20", f"q={'x' * 201}"]
)
def test_what_was_typed_stands_alone(user: SignedInUser, query: str) -> None:
    answer = user.client.get(f"/api/people?{query}", headers=user.headers)

    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["pointer"] == "/q"
