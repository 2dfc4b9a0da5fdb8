"""Lookups and lists of leads show who is in the workspace's CRM."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from crm_index_support import a_crm, in_crm
from sqlalchemy import select
from stored_support import ADA_URL, a_company, a_contact, an_email, statements
from users_support import SignedInUser, create_user
from worker_harness import deliver, make_services

from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.contacts.companies import Company
from app.engine.jobs.jobs import Job
from workers.jobs import leads_by_website_hash

REGISTERED = leads_by_website_hash
ACME = hex_hash(website_hash("acme.com"))
BOB_URL = "https://www.linkedin.com/in/bob-babbage"
ADA, BOB = {"linkedin_url": ADA_URL}, {"linkedin_url": BOB_URL}


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    """A user whose CRM has Ada and Bob, of whom only Ada is stored."""
    user = create_user(app)
    with user.database.transaction() as session:
        an_email(session, a_contact(session, a_company(session), linkedin_url=ADA_URL), "ada@acme.com")
        crm = a_crm(session, user.workspace_id)
        in_crm(session, crm, {"profiles": [ADA_URL], "owner": "Kim Lee"}, {"profiles": [BOB_URL]})
    return user


def look_up(user: SignedInUser, body: dict[str, Any]) -> dict[str, Any]:
    response = user.client.post("/api/ext/lookup", json=body, headers=user.headers)
    assert response.status_code == 200, response.get_json()
    answer: dict[str, Any] = response.get_json()
    return answer


def leads(user: SignedInUser, **options: str) -> tuple[Any, dict[str, Any]]:
    """Request the leads of Acme, let a worker resolve the job, and return it with the result."""
    path, headers = "/api/ext/leads-by-website-hash", user.headers | {"Prefer": "respond-async"}
    requested = user.client.post(path, json={"hash": ACME} | options, headers=headers)
    job_id = requested.get_json()["job"]["id"]
    api = user.client.application.extensions["services"]
    deliver(make_services(api.settings, api.database), job_id)
    polled = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers)
    with user.database.reading() as session:
        return session.get_one(Job, job_id), polled.get_json()["result"]


def test_a_result_has_the_records_of_the_person(user: SignedInUser) -> None:
    result = look_up(user, {"subject": ADA})

    assert [(record["vendor"], record["owner"]) for record in result["crm"]] == [("hubspot", "Kim Lee")]
    assert result["available"][0]["owned"] is False


def test_each_of_several_results_has_its_own(user: SignedInUser) -> None:
    nobody = {"linkedin_url": "https://www.linkedin.com/in/nobody"}

    answer = look_up(user, {"subjects": [BOB, nobody, ADA]})

    urls = [[record["url"][-1] for record in result["crm"]] for result in answer["results"]]
    assert urls == [["2"], [], ["1"]]


def test_another_workspace_sees_nothing_of_it(app: APIFlask, user: SignedInUser) -> None:
    stranger = create_user(app, email="eve@babbage.example")

    result = look_up(stranger, {"subject": ADA})

    assert (result["outcome"], result["crm"]) == ("matched", [])


def test_each_lead_has_its_records_which_are_not_stored_with_the_job(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        company = session.scalars(select(Company)).one()
        for name in ("Grace Hopper", "Jean Bartik"):
            a_contact(session, company, name)
        in_crm(
            session,
            a_crm(session, user.workspace_id, vendor="salesforce"),
            {"name": "Grace Hopper", "company": "Acme Engines"},
        )

    job, result = leads(user)

    assert {lead["full_name"]: [record["vendor"] for record in lead["crm"]] for lead in result["leads"]} == {
        "Ada Lovelace": ["hubspot"],
        "Grace Hopper": ["salesforce"],
        "Jean Bartik": [],
    }
    assert "crm" not in job.result["leads"][0]


def test_a_page_without_leads_has_no_records(user: SignedInUser) -> None:
    _job, result = leads(user, department="legal")

    assert result["leads"] == []


def test_saving_a_profile_reads_no_crm(user: SignedInUser) -> None:
    body = {"profile": ADA | {"full_name": "Ada Lovelace"}}

    with statements(user.client.application.extensions["services"].database.engines[0]) as executed:
        response = user.client.post("/api/ext/linkedin-save", json=body, headers=user.headers)

    assert response.status_code == 201
    assert not [sql for sql, _values in executed if "crm_index" in sql]
