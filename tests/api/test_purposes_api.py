"""Purposes in requests: which are accepted, when one is required, and which requests are equal."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from apiflask import APIFlask
from settings_support import change_settings, require_purpose
from sqlalchemy import func, select
from stored_support import ADA_URL, a_company, a_contact, an_email, own, suppress
from users_support import SignedInUser
from werkzeug.test import TestResponse
from worker_harness import deliver, make_services

from app.engine.contacts.contacts import Contact
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal
from workers.execution.worker_services import WorkerServices
from workers.jobs import enrichment_request, reveal

REGISTERED = (enrichment_request, reveal)
REVEAL, ENRICH = "/api/ext/reveal/email", "/api/ext/enrichment-request"
SUBJECT = {"linkedin_url": ADA_URL}
ITEMS = {"entity": "person", "fields": ["email"], "items": [{"subject": SUBJECT}]}
BODIES: dict[str, dict[str, Any]] = {
    REVEAL: {"subject": SUBJECT},
    "/api/ext/reveal/phone": {"subject": SUBJECT},
    ENRICH: ITEMS,
}
PURPOSE = {"purpose": "recruiting"}


@pytest.fixture
def ada(user: SignedInUser) -> Contact:
    """A contact in Great Britain with a stored address."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
    return contact


def send(user: SignedInUser, path: str = REVEAL, **changes: Any) -> TestResponse:
    headers = user.headers | {"Prefer": "respond-async"}
    key = changes.pop("key", None)
    if key:
        headers["Idempotency-Key"] = key
    return user.client.post(path, json=BODIES[path] | changes, headers=headers)


def run(user: SignedInUser, services: WorkerServices, response: TestResponse) -> dict[str, Any]:
    """Run the job of a response; return its body as a client reads it."""
    job_id = response.get_json()["job"]["id"]
    deliver(services, job_id)
    body: dict[str, Any] = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()
    return body


def worker(app: APIFlask, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    api = app.extensions["services"]
    return make_services(api.settings, api.database)


def jobs(user: SignedInUser) -> int:
    with user.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Job)) or 0


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("purpose", ["", "sales", "Recruiting", "x" * 41, 7, ["recruiting"]])
def test_a_purpose_that_cannot_be_stated_is_refused(user: SignedInUser, path: str, purpose: object) -> None:
    response = send(user, path, purpose=purpose)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == ["/purpose"]
    assert jobs(user) == 0


def test_the_refusal_of_an_unknown_purpose_names_those_that_can_be_stated(
    app: APIFlask, user: SignedInUser
) -> None:
    change_settings(app, purposes=("recruiting", "support"))

    problem = send(user, purpose="sales_outreach").get_json()

    assert problem["errors"] == [{"pointer": "/purpose", "detail": "It must be one of: recruiting, support."}]


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("purpose", [{}, {"purpose": None}, PURPOSE])
def test_a_purpose_is_optional_while_no_rule_is_set(
    user: SignedInUser, path: str, purpose: dict[str, str]
) -> None:
    response = send(user, path, **purpose)

    assert response.status_code == 202
    assert response.get_json()["job"].get("purpose") == purpose.get("purpose")


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("path", BODIES)
def test_a_rule_for_everybody_refuses_a_request_without_a_purpose_at_once(
    app: APIFlask, user: SignedInUser, path: str
) -> None:
    require_purpose(app, "*")

    response = send(user, path, key="click-1")
    again = send(user, path, key="click-1", **PURPOSE)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "purpose_required")
    assert (problem["retryable"], problem["purposes"][0]) == (False, "sales_outreach")
    assert (again.status_code, jobs(user)) == (202, 1)  # refusals are not remembered


@pytest.mark.parametrize("path", [REVEAL, ENRICH])
def test_a_rule_for_everybody_accepts_what_is_owned_or_suppressed_without_a_purpose(
    app: APIFlask, user: SignedInUser, ada: Contact, path: str
) -> None:
    require_purpose(app, "*")
    with user.database.transaction() as session:
        own(session, user.workspace_id, ada, "email")
    owned = send(user, path)
    with user.database.transaction() as session:
        suppress(session, "email", "ada@acme.com")

    assert (owned.status_code, send(user, path).status_code) == (202, 202)


@pytest.mark.parametrize(
    "body",
    [
        {"dry_run": True},
        {"fields": ["profile", "company"]},
        {"entity": "company", "fields": ["company"], "items": [{"company": {"domain": "acme.com"}}]},
    ],
)
def test_an_enrichment_that_obtains_no_values_needs_no_purpose(
    app: APIFlask, user: SignedInUser, body: dict[str, Any]
) -> None:
    require_purpose(app, "*")

    assert send(user, ENRICH, **body).status_code in {200, 202}


@pytest.mark.usefixtures("ada")
def test_a_rule_by_country_fails_the_job_and_a_second_request_with_a_purpose_is_answered(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_purpose(app, "GB")
    services = worker(app, monkeypatch)

    failed = run(user, services, send(user))
    found = run(user, services, send(user, **PURPOSE))

    assert (failed["job"]["status"], failed["job"]["error"]["code"]) == ("failed", "purpose_required")
    assert (failed["credits"]["charged"], failed["credits"]["balance"]) == (0, 250)
    assert (found["job"]["outcome"], found["job"]["purpose"]) == ("found", "recruiting")
    assert (found["credits"]["charged"], found["credits"]["balance"]) == (1, 249)
    with user.database.reading() as session:
        assert session.scalars(select(Reveal.purpose)).all() == ["recruiting"]


@pytest.mark.parametrize("path", BODIES)
def test_a_request_with_a_purpose_does_not_join_the_open_job_of_one_without(
    user: SignedInUser, path: str
) -> None:
    purposes: list[dict[str, str]] = [{}, PURPOSE, {"purpose": "due_diligence"}, PURPOSE, {}]

    ids = [send(user, path, **purpose).get_json()["job"]["id"] for purpose in purposes]

    assert (len(set(ids)), ids[1], ids[0]) == (3, ids[3], ids[4])


@pytest.mark.usefixtures("ada")
def test_a_finished_answer_is_given_again_and_is_free_for_another_purpose(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_purpose(app, "GB")
    services = worker(app, monkeypatch)
    first = run(user, services, send(user, **PURPOSE))

    same = send(user, **PURPOSE)
    others = [run(user, services, send(user, **other)) for other in ({}, {"purpose": "due_diligence"})]

    assert (same.status_code, same.get_json()["job"]["id"]) == (200, first["job"]["id"])
    assert [(body["job"]["outcome"], body["credits"]["charged"]) for body in others] == [("found", 0)] * 2


@pytest.mark.usefixtures("ada")
def test_an_idempotency_key_belongs_to_one_purpose(user: SignedInUser) -> None:
    first = send(user, key="click-1", **PURPOSE)
    replay = send(user, key="click-1", **PURPOSE)
    other = send(user, key="click-1", purpose="due_diligence")

    assert replay.headers["Idempotent-Replay"] == "true"
    assert replay.get_json()["job"]["id"] == first.get_json()["job"]["id"]
    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


def test_receipts_have_the_purpose(user: SignedInUser) -> None:
    send(user, **PURPOSE)
    send(user, ENRICH)

    listed = user.client.get("/api/jobs", headers=user.headers).get_json()["jobs"]
    as_csv = user.client.get("/api/jobs?format=csv", headers=user.headers).text
    as_json = user.client.get("/api/jobs?format=json", headers=user.headers).get_json()["jobs"]

    assert [job.get("purpose") for job in listed] == [None, "recruiting"]
    assert [row["purpose"] for row in csv.DictReader(io.StringIO(as_csv))] == ["", "recruiting"]
    assert [job["purpose"] for job in as_json] == [None, "recruiting"]


@pytest.mark.parametrize(("places", "required"), [((), False), (("EU",), True), (("*",), True)])
def test_the_session_and_the_sign_in_say_whether_a_purpose_is_required(
    app: APIFlask, user: SignedInUser, places: tuple[str, ...], *, required: bool
) -> None:
    require_purpose(app, *places)
    change_settings(app, purposes=("recruiting", "support"))

    bodies = [user.client.get("/api/ext/session", headers=user.headers).get_json(), user.sign_in().get_json()]

    expected = {"required": required, "allowed": ["recruiting", "support"]}
    assert [body["purposes"] for body in bodies] == [expected, expected]


def test_a_replay_of_an_accepted_enrichment_returns_it_although_a_purpose_is_required_now(
    app: APIFlask, user: SignedInUser
) -> None:
    first = send(user, ENRICH, key="one click")
    require_purpose(app, "*")

    replay, other = send(user, ENRICH, key="one click"), send(user, ENRICH, key="another")

    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (202, "true")
    assert replay.get_json()["job"]["id"] == first.get_json()["job"]["id"]
    assert (other.status_code, other.get_json()["code"]) == (422, "purpose_required")
    assert jobs(user) == 1
