"""Reveals of what the CRM has, over the API and on the pages: free, unless the caller buys all the same."""

from __future__ import annotations

from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from page_support import Visitor
from sqlalchemy import select
from stored_support import ADA_URL
from users_support import SignedInUser
from worker_harness import deliver, make_services

from app.engine.jobs.jobs import USE_OWN_RECORDS, Job, JobItem
from app.infra import clock

NUMBER = "+447400123456"
SUBJECT = {"linkedin_url": ADA_URL}
Answer = dict[str, Any]


@pytest.fixture
def user(user: SignedInUser) -> SignedInUser:
    """An account of a workspace that has Ada's number in its CRM."""
    with user.database.transaction() as session:
        crm = a_crm(session, user.workspace_id)
        in_crm(session, crm, {"profiles": [ADA_URL], "phones": [NUMBER], "changed_at": clock.now()})
    return user


def post(user: SignedInUser, path: str, **body: Any) -> Answer:
    headers = user.headers | {"Prefer": "respond-async"}
    answer: Answer = user.client.post(path, json=body, headers=headers).get_json()
    return answer


def run(user: SignedInUser, job_id: str) -> Answer:
    """Run the job, and return what a poll returns."""
    api = user.client.application.extensions["services"]
    services = make_services(api.settings, api.database)
    deliver(services, job_id)
    answer: Answer = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()
    return answer


def reveal(user: SignedInUser, **options: Any) -> str:
    job_id: str = post(user, "/api/ext/reveal/phone", subject=SUBJECT, **options)["job"]["id"]
    return job_id


def test_a_number_of_the_crm_is_free_and_its_receipt_names_the_crm(user: SignedInUser) -> None:
    answer = run(user, reveal(user))

    assert [phone["e164"] for phone in answer["result"]["phones"]] == [NUMBER]
    assert (answer["result"]["contact_id"], answer["job"]["outcome"]) == (None, "found")
    assert (answer["credits"]["charged"], answer["credits"]["reserved"]) == (0, 0)
    assert [(line["provider"], line["source"], line["cost"]) for line in answer["trace"]] == [
        ("hubspot", "crm", 0)
    ]


def test_the_same_request_gets_the_same_answer_and_one_that_buys_another_job(user: SignedInUser) -> None:
    first = reveal(user)
    run(user, first)

    again, explicit, bought = (
        reveal(user),
        reveal(user, use_own_records=True),
        reveal(user, use_own_records=False),
    )

    assert again == explicit == first
    assert bought != first


def test_an_enrichment_may_do_without_the_crm(user: SignedInUser) -> None:
    items = [{"subject": SUBJECT}]
    body: Answer = {"entity": "person", "items": items, "fields": ["phone"]}

    with_crm, without = (
        post(user, "/api/ext/enrichment-request", **body, **options)["job"]["id"]
        for options in ({}, {"use_own_records": False})
    )

    with user.database.reading() as session:
        requests = [session.get_one(Job, job_id).request for job_id in (with_crm, without)]
    assert [request.get(USE_OWN_RECORDS) for request in requests] == [None, False]


@pytest.mark.parametrize("path", ["/api/ext/reveal/email", "/api/ext/reveal/phone"])
@pytest.mark.parametrize("value", ["no", 0, None])
def test_the_choice_is_true_or_false(user: SignedInUser, path: str, value: object) -> None:
    answer = post(user, path, subject=SUBJECT, use_own_records=value)

    assert answer["errors"][0]["pointer"] == "/use_own_records"


def test_the_search_says_what_is_free_and_offers_to_buy(browser: Visitor, user: SignedInUser) -> None:
    page = browser.send("/", **SUBJECT).text

    assert page.count("What your CRM or address book has is returned free") == 1
    assert page.count('name="buy"') == 1


@pytest.mark.parametrize(("form", "expected"), [({}, None), ({"buy": "yes"}, False)])
def test_the_search_buys_all_the_same_if_it_is_chosen(
    browser: Visitor, user: SignedInUser, *, form: dict[str, str], expected: bool | None
) -> None:
    browser.send("/reveal", field="phone", **SUBJECT, **form)

    with user.database.reading() as session:
        [request] = session.scalars(select(Job.request)).all()
    assert request.get(USE_OWN_RECORDS) is expected


def test_the_receipt_offers_to_buy_all_the_same(browser: Visitor, user: SignedInUser) -> None:
    job_id = reveal(user)
    run(user, job_id)

    receipt = browser.open(f"/history/{job_id}").text
    bought = browser.send(f"/history/{job_id}/again")

    assert "0 credits: your workspace has it itself" in receipt
    assert "Buy all the same" in receipt
    new_id = bought.request.path.rpartition("/")[2]
    assert new_id != job_id
    with user.database.reading() as session:
        assert session.get_one(Job, new_id).request[USE_OWN_RECORDS] is False


def test_a_bought_request_that_found_nothing_is_asked_again_without_the_crm(
    browser: Visitor, user: SignedInUser
) -> None:
    job_id = reveal(user, use_own_records=False)
    enrichment_id = post(
        user,
        "/api/ext/enrichment-request",
        entity="person",
        items=[{"subject": SUBJECT}],
        fields=["phone"],
        use_own_records=False,
    )["job"]["id"]
    for one in (job_id, enrichment_id):
        end_without_result(user, one)

    repeated = [browser.send(f"/history/{one}/again") for one in (job_id, enrichment_id)]

    ids = [page.request.path.rpartition("/")[2] for page in repeated]
    with user.database.reading() as session:
        requests = [session.get_one(Job, one).request for one in ids]
    assert {job_id, enrichment_id}.isdisjoint(ids)
    assert [request[USE_OWN_RECORDS] for request in requests] == [False, False]


def end_without_result(user: SignedInUser, job_id: str) -> None:
    with user.database.transaction() as session:
        job = session.get_one(Job, job_id)
        job.status, job.outcome = "failed", None
        job.finished_at = clock.now()
        for item in session.scalars(select(JobItem).where(JobItem.job_id == job_id)):
            item.outcome = "not_found"
