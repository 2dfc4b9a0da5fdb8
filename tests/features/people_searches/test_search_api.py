"""POST /api/people-searches: its requests, prices, estimates and results."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from people_search_support import ADA, BOB, named, run_search
from settings_support import change_settings
from stored_support import exclude, suppress
from users_support import CREDITS, SignedInUser, bearer, create_user

from app.domain.callers import Scope
from app.domain.kinds import Kind
from app.engine.contacts import contacts
from app.infra import clock

PATH = "/api/people-searches"


def post(user: SignedInUser, body: dict[str, Any], **headers: str) -> Any:
    all_headers = user.headers | {"Prefer": "respond-async"} | headers
    return user.client.post(PATH, json=body, headers=all_headers)


def store(user: SignedInUser, *found: Any) -> None:
    with user.database.transaction() as session:
        for contact in found:
            contacts.upsert(session, contact, now=clock.now())


def run(app: APIFlask, user: SignedInUser, job_id: str) -> Any:
    """Run the job with a provider that finds Ada and Bob; return the polling response."""
    run_search(app, user, job_id, ADA, BOB)
    return user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()


def test_stored_people_are_in_the_first_response(user: SignedInUser) -> None:
    store(user, ADA)

    response = post(user, {"company_domain": "https://www.acme.com/team", "limit": 3})

    body = response.get_json()
    assert (response.status_code, body["job"]["status"], body["credits"]["reserved"]) == (202, "queued", 3)
    assert body["result"]["company"]["domain"] == "acme.com"
    assert [row["full_name"] for row in body["result"]["stored"]] == ["Ada Lovelace"]
    assert (body["result"]["people"], body["result"]["next_page"]) == ([], None)


def test_a_finished_search_has_found_people_beside_the_stored_ones(app: APIFlask, user: SignedInUser) -> None:
    store(user, named("Zoe West"))
    job_id = post(user, {"company_domain": "acme.com", "client_reference": "acme"}).get_json()["job"]["id"]

    body = run(app, user, job_id)

    result = body["result"]
    assert (body["job"]["outcome"], body["credits"]["charged"], body["credits"]["balance"]) == (
        "found",
        2,
        CREDITS - 2,
    )
    assert [(row["full_name"], row["credits_charged"]) for row in result["people"]] == [
        ("Ada Lovelace", 1),
        ("Bob Ray", 1),
    ]
    assert ([row["full_name"] for row in result["stored"]], result["client_reference"]) == (
        ["Zoe West"],
        "acme",
    )


def test_a_person_who_is_suppressed_later_is_not_shown(app: APIFlask, user: SignedInUser) -> None:
    job_id = post(user, {"company_domain": "acme.com"}).get_json()["job"]["id"]
    run(app, user, job_id)
    with user.database.transaction() as session:
        suppress(session, "linkedin_url", str(ADA.linkedin_url))

    result = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()["result"]

    assert [row["full_name"] for row in result["people"]] == ["Bob Ray"]
    assert result["stored"] == []


def test_an_excluded_stored_person_is_marked_and_nothing_is_available(user: SignedInUser) -> None:
    store(user, ADA)
    with user.database.transaction() as session:
        exclude(session, user.workspace_id, "linkedin_url", str(ADA.linkedin_url), now=clock.now())

    (row,) = post(user, {"company_domain": "acme.com"}).get_json()["result"]["stored"]

    assert (row["excluded"]["matched_on"], row["available"]) == ("linkedin_url", [])


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"titles": ["Sales  head"]}, ["Ada Lovelace"]),
        ({"titles": ["buyer", "engineer"]}, ["Bob Ray"]),
        ({"titles": ["100% remote"]}, []),
        ({"seniorities": ["Head of"]}, ["Ada Lovelace"]),
        ({"departments": ["Vertrieb"]}, ["Ada Lovelace"]),
        ({"countries": ["Germany", "FR"]}, ["Bob Ray"]),
        ({"limit": 1}, ["Ada Lovelace"]),
        ({}, ["Ada Lovelace", "Bob Ray"]),
    ],
)
def test_stored_people_meet_the_criteria(
    user: SignedInUser, criteria: dict[str, Any], expected: list[str]
) -> None:
    store(
        user,
        named("Ada Lovelace", title="Head of Sales", seniority="head", department="sales", country="GB"),
        named("Bob Ray", title="Engineer", country="DE"),
    )

    result = post(user, {"company_domain": "acme.com"} | criteria).get_json()["result"]

    assert [row["full_name"] for row in result["stored"]] == expected


def test_a_company_can_be_named(user: SignedInUser) -> None:
    store(user, ADA)

    result = post(user, {"company_name": "ACME Inc."}).get_json()["result"]

    assert (result["company"]["name"], len(result["stored"])) == ("Acme", 1)


def test_a_company_that_is_not_stored_has_no_people_yet(user: SignedInUser) -> None:
    assert post(user, {"company_domain": "unknown.com"}).get_json()["result"] == {
        "company": None,
        "stored": [],
        "people": [],
        "next_page": None,
    }


@pytest.mark.parametrize(
    ("body", "estimate"),
    [
        ({}, {"credits_min": 0, "credits_max": 25, "people_max": 25, "stored": 1}),
        ({"limit": 10}, {"credits_min": 0, "credits_max": 10, "people_max": 10, "stored": 1}),
        ({"max_credits": 4}, {"credits_min": 0, "credits_max": 4, "people_max": 4, "stored": 1}),
        (
            {"company_domain": "unknown.com"},
            {"credits_min": 0, "credits_max": 25, "people_max": 25, "stored": 0},
        ),
    ],
)
def test_a_dry_run_estimates_and_submits_nothing(
    user: SignedInUser, body: dict[str, Any], estimate: dict[str, int]
) -> None:
    store(user, ADA)

    response = post(user, {"company_domain": "acme.com", "dry_run": True} | body)

    stored, people, cost = (estimate[name] for name in ("stored", "people_max", "credits_max"))
    shown = "1 person" if stored == 1 else f"{stored} people"
    summary = f"{shown} shown free, at most {people} to find for at most {cost} credits"
    expected = estimate | {"summary": summary, "exceeds_balance": False}
    assert (response.status_code, response.get_json()) == (200, {"estimate": expected})
    assert user.client.get("/api/ext/jobs", headers=user.headers).get_json()["jobs"] == []


def test_more_than_the_balance_is_refused_unless_max_credits_is_less(
    app: APIFlask, user: SignedInUser
) -> None:
    prices = app.extensions["services"].settings.prices
    change_settings(app, prices={**prices, Kind.PEOPLE_SEARCH: CREDITS})

    refused = post(user, {"company_domain": "acme.com", "limit": 2})
    within = post(user, {"company_domain": "acme.com", "limit": 2, "max_credits": 2 * CREDITS - 1})

    assert (refused.status_code, refused.get_json()["code"]) == (402, "insufficient_credits")
    assert (refused.get_json()["required"], within.get_json()["credits"]["reserved"]) == (
        2 * CREDITS,
        CREDITS,
    )


def test_an_equal_search_joins_the_open_one(user: SignedInUser) -> None:
    first = post(user, {"company_domain": "acme.com", "titles": ["CTO", "CEO"], "limit": 2})
    second = post(user, {"company_domain": "www.acme.com", "titles": ["ceo", "cto", "CTO"], "limit": 2})
    other = post(user, {"company_domain": "acme.com", "titles": ["cto"], "limit": 2})

    ids = [response.get_json()["job"]["id"] for response in (first, second, other)]
    assert (ids[0] == ids[1], ids[0] == ids[2]) == (True, False)
    assert other.get_json()["credits"]["balance"] == CREDITS - 4


def test_a_replay_of_an_idempotency_key_answers_with_its_search(user: SignedInUser) -> None:
    body = {"company_domain": "acme.com", "limit": 2}
    first = post(user, body, **{"Idempotency-Key": "k"})
    second = post(user, body, **{"Idempotency-Key": "k"})
    other = post(user, body | {"limit": 3}, **{"Idempotency-Key": "k"})

    assert first.get_json()["job"]["id"] == second.get_json()["job"]["id"]
    assert second.headers["Idempotent-Replay"] == "true"
    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "insufficient_identifiers", None),
        ({"company_domain": "localhost"}, "validation_error", "/company_domain"),
        ({"company_domain": "gmail.com"}, "insufficient_identifiers", None),
        ({"company_domain": "acme.com", "limit": 0}, "validation_error", "/limit"),
        ({"company_domain": "acme.com", "limit": 101}, "validation_error", "/limit"),
        ({"company_domain": "acme.com", "page": 21}, "validation_error", "/page"),
        ({"company_domain": "acme.com", "seniorities": ["king"]}, "validation_error", "/seniorities/0"),
        ({"company_domain": "acme.com", "departments": ["magic"]}, "validation_error", "/departments/0"),
        ({"company_domain": "acme.com", "countries": ["Atlantis"]}, "validation_error", "/countries/0"),
        ({"company_domain": "acme.com", "titles": [" "]}, "validation_error", "/titles/0"),
        ({"company_domain": "acme.com", "titles": ["%"]}, "validation_error", "/titles/0"),
        ({"company_domain": "acme.com", "titles": ["ceo"] * 11}, "validation_error", "/titles"),
        ({"company_domain": "acme.com", "max_credits": -1}, "validation_error", "/max_credits"),
        (
            {"company_domain": "acme.com", "webhook_url": "http://127.0.0.1/"},
            "validation_error",
            "/webhook_url",
        ),
        ({"company_domain": "acme.com", "purpose": "curiosity"}, "validation_error", "/purpose"),
        ({"company_domain": "acme.com", "cursor": "x"}, "validation_error", "/cursor"),
    ],
)
def test_an_invalid_request_says_what_to_change(
    user: SignedInUser, body: dict[str, Any], code: str, pointer: str | None
) -> None:
    response = post(user, body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, code)
    assert pointer is None or [error["pointer"] for error in problem["errors"]] == [pointer]


def test_another_workspace_does_not_see_the_search(app: APIFlask, user: SignedInUser) -> None:
    job_id = post(user, {"company_domain": "acme.com"}).get_json()["job"]["id"]

    other_user = create_user(app, email="other@other.example")

    response = other_user.client.get(f"/api/ext/jobs?id={job_id}", headers=other_user.headers)

    assert (response.status_code, response.get_json()["code"]) == (404, "job_not_found")


def test_a_search_needs_the_scope_to_enrich(user: SignedInUser) -> None:
    key = user.make_key(Scope.LOOKUP, Scope.REVEAL)

    response = user.client.post(PATH, json={"company_domain": "acme.com"}, headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")


def test_a_purpose_is_on_the_receipt(user: SignedInUser) -> None:
    body = post(user, {"company_domain": "acme.com", "purpose": "sales_outreach"}).get_json()

    assert (body["job"]["kind"], body["job"]["purpose"]) == (Kind.PEOPLE_SEARCH, "sales_outreach")
