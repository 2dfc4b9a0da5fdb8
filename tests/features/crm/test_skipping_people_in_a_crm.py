"""Enrichments that skip the people in the CRM of the workspace: estimates, items, and receipts."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from typing import Any

import pytest
from apiflask import APIFlask
from crm_index_support import a_crm, in_crm
from fake_providers import email, hit, phone
from page_support import visitor
from stored_support import ADA_URL, a_contact, an_email, own, statements
from users_support import SignedInUser, create_user
from worker_harness import WorkerHarness, deliver, make_services, worker_harness

from app.domain.kinds import Queue
from app.features.crm.connections import CrmConnection
from app.infra.database.db import Database
from app.settings import Settings
from workers.jobs import enrichment_request

REGISTERED = (enrichment_request,)
PATH = "/api/ext/enrichment-request"
ADA = {"linkedin_url": ADA_URL}
BOB = {"email": "bob@acme.com"}
NEW = {"linkedin_url": "https://www.linkedin.com/in/new-person"}
RECORD = "https://app.hubspot.com/contacts/4242/record/0-1/1"
SKIPPED = {
    "source": "crm",
    "system": "hubspot",
    "title": "HubSpot",
    "url": RECORD,
    "fields": ["email"],
    "message": "This person is in HubSpot, and the request skips such people, so nobody was asked and "
    "nothing was charged.",
}


@pytest.fixture
def worker(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)


@pytest.fixture
def crm(user: SignedInUser) -> CrmConnection:
    """Store Ada, with an address, and Bob, by an address that the workspace does not own, in the CRM."""
    return fill(user, user.workspace_id)


def fill(user: SignedInUser, workspace_id: str) -> CrmConnection:
    with user.database.transaction() as session:
        connection = a_crm(session, workspace_id)
        in_crm(session, connection, {"profiles": [ADA_URL], "emails": ["ada@home.example"]}, BOB_IN_CRM)
        return connection


BOB_IN_CRM: dict[str, Any] = {"emails": ["bob@acme.com"], "phones": ["+12025550143"]}


def send(user: SignedInUser, *subjects: dict[str, str], **options: Any) -> Any:
    items = [{"subject": subject} for subject in subjects]
    body = {"entity": "person", "fields": ["email"], "items": items} | options
    return user.client.post(PATH, json=body, headers=user.headers | {"Prefer": "respond-async"})


def run(app: APIFlask, user: SignedInUser, *subjects: dict[str, str], **options: Any) -> Any:
    """Submit the enrichment, run its job, and return the answer to a poll."""
    job_id = send(user, *subjects, **options).get_json()["job"]["id"]
    api = app.extensions["services"]
    deliver(make_services(api.settings, api.database), job_id, queue=Queue.ENRICHMENT)
    return user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()


@pytest.mark.usefixtures("crm")
def test_a_dry_run_says_who_is_in_the_crm_and_what_the_others_cost(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        eve = a_contact(session, None, "Eve Owned")
        an_email(session, eve, "eve@acme.com")
        own(session, user.workspace_id, eve, "email")
    people = (ADA, BOB, NEW, {"contact_id": eve.id})

    every, others = (
        send(user, *people, dry_run=True, **options).get_json()["estimate"]
        for options in ({}, {"skip": ["crm", "owned"]})
    )

    own_records = [
        {
            "source": "crm",
            "system": "hubspot",
            "title": "HubSpot",
            "people": 2,
            "with_email": 2,
            "with_phone": 1,
        }
    ]
    same: dict[str, Any] = {"credits_min": 0, "owned": 1, "suppressed": 0, "excluded": 0, "ineligible": 0}
    same |= {"own_records": own_records, "exceeds_balance": False}
    sentence = "4 people: 2 in HubSpot (2 with an address), 1 owned"
    assert every == same | {
        "credits_max": 3,
        "to_buy": 3,
        "skipped": 0,
        "summary": f"{sentence}, 3 to buy for at most 3 credits",
    }
    assert others == same | {
        "credits_max": 1,
        "to_buy": 1,
        "skipped": 3,
        "summary": f"{sentence}, 1 to buy for at most 1 credit",
    }


@pytest.mark.usefixtures("crm")
def test_only_those_who_are_not_skipped_are_paid_for(user: SignedInUser) -> None:
    answer = send(user, ADA, BOB, NEW, skip=["crm"]).get_json()

    assert answer["credits"]["reserved"] == 1


def test_the_people_in_the_crm_of_another_workspace_count_for_nothing(
    app: APIFlask, user: SignedInUser
) -> None:
    fill(user, create_user(app, email="eve@other.example").workspace_id)

    estimate = send(user, ADA, BOB, dry_run=True, skip=["crm"]).get_json()["estimate"]
    answer = run(app, user, ADA, skip=["crm"])

    assert (estimate["own_records"], estimate["skipped"], estimate["to_buy"]) == ([], 0, 2)
    assert answer["job"]["outcome"] == "not_found"


@pytest.mark.usefixtures("crm")
def test_a_skipped_item_says_why_and_costs_nothing(app: APIFlask, user: SignedInUser) -> None:
    answer = run(app, user, ADA, skip=["crm"])

    [item] = answer["result"]["items"]
    assert (item["outcome"], item["skipped"], item["credits_charged"]) == ("skipped", SKIPPED, 0)
    assert (item["emails"], item["contact"], answer["trace"]) == ([], None, [])
    assert answer["job"]["outcome"] == "skipped"


@pytest.mark.usefixtures("crm")
def test_a_worker_looks_once_whether_a_workspace_has_a_crm(app: APIFlask, user: SignedInUser) -> None:
    with ExitStack() as recording:
        engines = app.extensions["services"].database.engines
        executed = [recording.enter_context(statements(engine)) for engine in engines]
        run(app, user, ADA, BOB, NEW, skip=["crm"])

    looks = [
        sql
        for sql, _ in chain.from_iterable(executed)
        if sql.startswith("SELECT DISTINCT crm_connections.workspace_id")
    ]
    assert len(looks) == 2  # the process of the API, and the worker for all three items


@pytest.mark.usefixtures("crm")
def test_the_receipt_shows_where_a_skipped_person_is(app: APIFlask, user: SignedInUser) -> None:
    answer = run(app, user, ADA, NEW, skip=["crm"])

    page = visitor(app, user).open(f"/history/{answer['job']['id']}").text

    assert f'<a href="{RECORD}" target="_blank" rel="noopener noreferrer">In HubSpot</a>' in page


def test_the_receipt_says_that_the_values_of_a_skipped_person_are_owned(
    app: APIFlask, user: SignedInUser
) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, linkedin_url=ADA_URL)
        an_email(session, ada, "ada@acme.com")
        own(session, user.workspace_id, ada, "email")
    answer = run(app, user, ADA, skip=["owned"])

    page = visitor(app, user).open(f"/history/{answer['job']['id']}").text

    [item] = answer["result"]["items"]
    assert (item["skipped"]["source"], item["skipped"]["url"]) == ("owned", None)
    assert "Your workspace owns these values, and the request skips such people" in page


@pytest.mark.usefixtures("crm")
def test_an_equal_request_is_not_answered_with_people_who_were_skipped(
    app: APIFlask, user: SignedInUser
) -> None:
    first = run(app, user, ADA, NEW, skip=["crm"])
    only = run(app, user, ADA, skip=["crm"])

    again = [send(user, ADA, NEW, skip=["crm"]).get_json(), send(user, ADA, skip=["crm"]).get_json()]

    assert {first["job"]["id"], only["job"]["id"]}.isdisjoint(answer["job"]["id"] for answer in again)


@pytest.mark.usefixtures("crm")
def test_asking_again_skips_the_same_people(app: APIFlask, user: SignedInUser) -> None:
    answer = run(app, user, ADA, NEW, skip=["crm"], skip_when="has_field")

    page = visitor(app, user).send(f"/history/{answer['job']['id']}/again")

    assert page.status_code == 200
    jobs = user.client.get("/api/jobs", headers=user.headers).get_json()["jobs"]
    assert len(jobs) == 2
    newest = user.client.get(f"/api/ext/jobs?id={jobs[0]['id']}", headers=user.headers).get_json()
    assert newest["credits"]["reserved"] == 1


@pytest.mark.parametrize(
    ("body", "pointer", "allowed"),
    [
        ({"skip": ["crm", "spreadsheet"]}, "/skip/1", "crm, owned"),
        ({"skip": "crm"}, "/skip", "list"),
        ({"skip": ["crm"], "skip_when": "always"}, "/skip_when", "in_source, has_field"),
    ],
)
def test_an_unknown_source_is_refused_with_the_known_ones(
    user: SignedInUser, body: dict[str, Any], pointer: str, allowed: str
) -> None:
    response = send(user, ADA, **body)

    [error] = response.get_json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, pointer)
    assert allowed in error["detail"]


def test_with_has_field_only_the_missing_field_is_bought(worker: WorkerHarness) -> None:
    acme = worker.set_providers(acme=hit(phone()))["acme"]
    with worker.database.transaction() as session:
        in_crm(
            session, a_crm(session, worker.workspace_id), {"profiles": [ADA_URL], "emails": ["a@b.example"]}
        )

    item = worker.enrich({"subject": ADA}, ("email", "phone"), price=3, skip=["crm"], skip_when="has_field")

    assert [request.field for request in acme.requests] == ["phone"]
    assert (item["outcome"], item["emails"]) == ("found", [])
    assert [found["e164"] for found in item["phones"]] == ["+16175550101"]
    assert (item["skipped"]["fields"], item["skipped"]["message"]) == (
        ["email"],
        "HubSpot has the e-mail address of this person, so no other was bought.",
    )


def test_a_person_without_an_address_in_the_crm_is_enriched(worker: WorkerHarness) -> None:
    worker.set_providers(acme=hit(email()))
    with worker.database.transaction() as session:
        in_crm(session, a_crm(session, worker.workspace_id), {"profiles": [ADA_URL]})

    missing = worker.enrich({"subject": ADA}, ("email",), skip=["crm"], skip_when="has_field")
    skipped = worker.enrich({"subject": ADA}, ("email",), skip=["crm"])

    assert (missing["outcome"], missing.get("skipped")) == ("found", None)
    assert skipped["outcome"] == "skipped"


def test_whether_a_person_is_skipped_is_decided_when_the_item_runs(worker: WorkerHarness) -> None:
    job_id = worker.submit_enrichment({"subject": ADA}, fields=("email",), skip=["crm"])
    with worker.database.transaction() as session:
        in_crm(session, a_crm(session, worker.workspace_id), {"profiles": [ADA_URL]})

    answer = worker.run_enrichment(job_id)

    assert answer["result"]["items"][0]["outcome"] == "skipped"


def test_an_unknown_contact_is_not_skipped(worker: WorkerHarness) -> None:
    item = worker.enrich({"subject": {"contact_id": "con_0"}}, ("email",), skip=["crm", "owned"])

    assert item["error"]["code"] == "contact_not_found"
