"""What callers are told of reveals and enrichments of people whom their workspace excludes."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from page_support import visitor
from sqlalchemy import select
from stored_support import ADA_URL, a_company, a_contact, an_email, exclude
from users_support import SignedInUser
from worker_harness import deliver, make_services

from app.domain.kinds import Queue, Status
from app.engine.jobs.jobs import Job
from workers.jobs import enrichment_request, reveal

REGISTERED = (enrichment_request, reveal)
ADA = {"linkedin_url": ADA_URL}


@pytest.fixture(autouse=True)
def ada(user: SignedInUser) -> None:
    """Store Ada with an address, and exclude her company."""
    with user.database.transaction() as session:
        an_email(session, a_contact(session, a_company(session), linkedin_url=ADA_URL), "ada@acme.com")
        exclude(session, user.workspace_id, "domain", "acme.com")


def run(app: APIFlask, user: SignedInUser, path: str, body: dict[str, Any], queue: Queue) -> Any:
    """Submit the request, run its job, and return the answer to a poll."""
    headers = user.headers | {"Prefer": "respond-async"}
    job_id = user.client.post(path, json=body, headers=headers).get_json()["job"]["id"]
    api = app.extensions["services"]
    with user.database.reading() as session:
        assert session.scalars(select(Job.id).where(Job.status == Status.QUEUED)).all() == [job_id]
    deliver(make_services(api.settings, api.database), job_id, queue=queue)
    return user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()


def test_a_reveal_says_why_and_who_can_change_it(app: APIFlask, user: SignedInUser) -> None:
    body = {"subject": ADA, "client_reference": "row-1"}

    answer = run(app, user, "/api/ext/reveal/email", body, Queue.INTERACTIVE)

    job = answer["job"]
    message = job["excluded"].pop("message")
    assert (job["outcome"], job["excluded"]) == (
        "excluded",
        {"reason": "customer", "note": None, "matched_on": "domain", "vendor": None, "stage": None},
    )
    assert message == (
        "Your workspace excludes this person (customer), so nothing was revealed and nothing was charged. "
        "An admin can remove the exclusion on the page of exclusions."
    )
    assert (answer["result"], answer["trace"], answer["credits"]["charged"]) == (None, [], 0)
    assert answer["credits"]["reserved"] == 0


def test_an_item_of_an_enrichment_says_why(app: APIFlask, user: SignedInUser) -> None:
    body = {"entity": "person", "fields": ["email"], "items": [{"subject": ADA}]}

    answer = run(app, user, "/api/ext/enrichment-request", body, Queue.ENRICHMENT)

    [item] = answer["result"]["items"]
    assert (item["outcome"], item["emails"], item["credits_charged"]) == ("excluded", [], 0)
    assert (item["excluded"]["reason"], answer["credits"]["charged"]) == ("customer", 0)


def test_the_receipt_of_a_page_says_why(app: APIFlask, user: SignedInUser) -> None:
    answer = run(app, user, "/api/ext/reveal/email", {"subject": ADA}, Queue.INTERACTIVE)

    page = visitor(app, user).open(f"/history/{answer['job']['id']}").text

    assert "Your workspace excludes this person (customer)" in page
