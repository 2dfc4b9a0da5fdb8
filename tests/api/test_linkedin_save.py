from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import select
from stored_support import ADA_URL, a_company, a_contact, an_email, suppress
from users_support import SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.jobs.idempotency import IdempotencyKey
from app.infra.database.db import Database

PATH = "/api/ext/linkedin-save"
PROFILE = {
    "linkedin_url": "https://uk.linkedin.com/in/Ada-Lovelace/?trk=x",
    "full_name": "Ada Lovelace",
    "title": "Engineer",
    "company": {"name": "Acme Engines", "domain": "www.acme.com"},
}


def save(user: SignedInUser, headers: dict[str, str] | None = None, **changes: Any) -> TestResponse:
    body = {"profile": PROFILE} | changes
    return user.client.post(PATH, json=body, headers=user.headers | (headers or {}))


def profile(**changes: Any) -> dict[str, Any]:
    return {"linkedin_url": ADA_URL} | changes


def test_a_new_profile_is_created(user: SignedInUser) -> None:
    response = save(user, list="Prospects", tags=["x", "y", "x"], note="")

    body = response.get_json()
    assert response.status_code == 201
    assert {name: body[name] for name in body if name != "saved_profile"} == {
        "created": True,
        "changes": [],
        "job_change": {"detected": False, "from": None, "to": None},
        "contact_id": None,
        "available": [],
    }
    saved = body["saved_profile"]
    assert saved["id"].startswith("prf_")
    assert (saved["linkedin_url"], saved["saved_by"]) == (ADA_URL, user.account_id)
    assert saved["company"] == {"name": "Acme Engines", "domain": "acme.com", "linkedin_url": None}
    assert (saved["list"], saved["tags"], saved["note"]) == ("Prospects", ["x", "y"], "")


def test_saving_a_known_profile_returns_the_changes_and_the_job_change(user: SignedInUser) -> None:
    save(user)

    response = save(user, profile=profile(title="Director", company={"name": "Beta"}), tags=None)

    body = response.get_json()
    assert (response.status_code, body["created"]) == (200, False)
    assert body["changes"] == [
        {"field": "title", "old": "Engineer", "new": "Director"},
        {"field": "company.name", "old": "Acme Engines", "new": "Beta"},
        {"field": "company.domain", "old": "acme.com", "new": None},
    ]
    assert body["job_change"] == {
        "detected": True,
        "from": {"title": "Engineer", "company": "Acme Engines"},
        "to": {"title": "Director", "company": "Beta"},
    }


def test_saving_twice_is_harmless(user: SignedInUser) -> None:
    first = save(user).get_json()

    again = save(user).get_json()

    assert (again["changes"], again["job_change"]["detected"]) == ([], False)
    assert again["saved_profile"]["id"] == first["saved_profile"]["id"]


def test_an_older_capture_does_not_overwrite_a_newer_one(user: SignedInUser) -> None:
    save(user, captured_at="2026-02-01T00:00:00Z")

    response = save(user, profile=profile(title="Trainee"), captured_at="2026-01-01T01:00:00+01:00")

    assert response.get_json()["saved_profile"]["title"] == "Engineer"
    assert response.get_json()["changes"] == []


def test_the_response_has_the_contact_and_its_available_values(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session))
        an_email(session, ada, "ada@acme.com")

    body = save(user).get_json()

    assert body["contact_id"] == ada.id
    assert [value["masked"] for value in body["available"]] == ["a•••••@acme.com"]


@pytest.mark.parametrize(("kind", "value"), [("linkedin_url", ADA_URL), ("email", "ada@acme.com")])
def test_a_suppressed_person_is_not_saved(user: SignedInUser, kind: str, value: str) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
        suppress(session, kind, value)

    response = save(user, {"Idempotency-Key": "k1"})

    assert (response.status_code, response.get_json()["code"]) == (422, "person_suppressed")
    with user.database.reading() as session:
        assert session.scalars(select(SavedProfile)).all() == []
        assert session.scalars(select(IdempotencyKey)).all() == []


def test_a_replay_returns_the_record_as_it_is_now(user: SignedInUser) -> None:
    first = save(user, {"Idempotency-Key": "k1"}).get_json()
    save(user, profile=profile(title="Director"))

    replay = save(user, {"Idempotency-Key": "k1"})

    body = replay.get_json()
    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (200, "true")
    assert body["saved_profile"]["id"] == first["saved_profile"]["id"]
    assert (body["saved_profile"]["title"], body["created"], body["changes"]) == ("Director", False, [])


def test_a_key_of_another_request_is_refused(user: SignedInUser) -> None:
    save(user, {"Idempotency-Key": "k1"})

    response = save(user, {"Idempotency-Key": "k1"}, note="other")

    assert (response.status_code, response.get_json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.linkedin.com/company/acme",
        "https://www.linkedin.com/sales/lead/x",
        "https://acme.com/in/x",
        "x",
    ],
)
def test_a_url_that_is_not_a_profile_is_rejected(user: SignedInUser, url: str) -> None:
    response = save(user, profile={"linkedin_url": url})

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "not_a_profile_url")
    assert problem["errors"] == [{"pointer": "/profile/linkedin_url", "detail": problem["detail"]}]


def test_a_url_that_is_not_a_company_page_is_told_from_that_of_the_profile(user: SignedInUser) -> None:
    response = save(user, profile=profile(company={"linkedin_url": "Acme"}))

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "not_a_profile_url")
    assert [error["pointer"] for error in problem["errors"]] == ["/profile/company/linkedin_url"]
    assert problem["detail"].endswith("https://www.linkedin.com/company/<slug>.")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"profile": None}, "/profile"),
        ({"profile": {}}, "/profile/linkedin_url"),
        ({"profile": profile(age=36)}, "/profile/age"),
        ({"profile": profile(company={"domain": "localhost"})}, "/profile/company/domain"),
        ({"tags": ["x"] * 51}, "/tags"),
        ({"tags": ["x" * 101]}, "/tags/0"),
        ({"note": "x" * 5001}, "/note"),
        ({"captured_at": "2026-01-01T00:00:00"}, "/captured_at"),
        ({"captured_at": "0001-01-01T00:00:00+14:00"}, "/captured_at"),
        ({"captured_at": (datetime.now(UTC) + timedelta(days=1)).isoformat()}, "/captured_at"),
    ],
)
def test_an_invalid_field_is_reported_with_a_pointer(
    user: SignedInUser, changes: dict[str, Any], pointer: str
) -> None:
    response = save(user, **changes)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_clock_that_is_slightly_fast_is_tolerated(user: SignedInUser) -> None:
    response = save(user, captured_at=(datetime.now(UTC) + timedelta(minutes=4)).isoformat())

    assert response.status_code == 201


def test_null_is_the_same_as_absent(user: SignedInUser) -> None:
    response = save(
        user, profile=profile(title=None, company=None), list=None, tags=None, note=None, captured_at=None
    )

    assert response.status_code == 201
    assert response.get_json()["saved_profile"]["tags"] == []


def test_another_workspace_has_its_own_profile(app: APIFlask, user: SignedInUser) -> None:
    save(user, note="ours")

    response = save(create_user(app, email="grace@other.example"))

    assert response.status_code == 201
    assert response.get_json()["saved_profile"]["note"] is None


def test_a_key_needs_the_scope(user: SignedInUser) -> None:
    key = user.make_key(Scope.LOOKUP)

    response = user.client.post(PATH, json={"profile": PROFILE}, headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")


@pytest.mark.parametrize(
    ("name", "saved"), [("Ada Lovelace, PMP® (she/her)", "Ada Lovelace"), ("LinkedIn Member", None)]
)
def test_a_saved_name_has_no_notes_and_is_that_of_a_person(
    user: SignedInUser, name: str, saved: str | None
) -> None:
    response = save(user, profile=profile(full_name=name))

    assert response.get_json()["saved_profile"]["full_name"] == saved


MEMBER_URL = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"


@pytest.mark.parametrize(
    "url",
    [
        MEMBER_URL,
        "https://www.linkedin.com/in/ACoAAAbCdEf_-123/?miniProfileUrn=x",
        "https://www.linkedin.com/authwall?sessionRedirect=https%3A%2F%2Fwww.linkedin.com%2Fin%2FACoAAAbCdEf_-123",
    ],
)
def test_a_profile_is_saved_by_the_id_of_the_member(user: SignedInUser, url: str) -> None:
    response = save(user, profile=profile(linkedin_url=url))

    assert response.get_json()["saved_profile"]["linkedin_url"] == MEMBER_URL


def test_a_profile_known_by_both_urls_is_saved_once(user: SignedInUser, database: Database) -> None:
    with database.transaction() as session:
        a_contact(session, linkedin_url=ADA_URL, member_url=MEMBER_URL)

    first, second = save(user), save(user, profile=profile(linkedin_url=MEMBER_URL))
    found = user.client.post(
        "/api/ext/lookup", json={"subject": {"linkedin_url": MEMBER_URL}}, headers=user.headers
    )

    saved = [response.get_json()["saved_profile"]["id"] for response in (first, second)]
    assert saved == [found.get_json()["saved"]["id"]] * 2


@pytest.mark.parametrize("text", ["Yes", "ada-lovelace-1815", "ACoAAAbCdEf_-123", "https://lnkd.in/abc"])
def test_a_text_that_is_no_url_of_a_profile_is_refused(user: SignedInUser, text: str) -> None:
    response = save(user, profile=profile(linkedin_url=text))

    assert (response.status_code, response.get_json()["code"]) == (422, "not_a_profile_url")
