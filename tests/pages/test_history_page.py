"""The history, receipts, and requests asked again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select
from stored_support import STAMP, a_company, a_contact
from users_support import SignedInUser, create_user

from app.domain.ids import new_id
from app.domain.kinds import Outcome
from app.engine.accounts import workspaces
from app.engine.jobs import claims, leases
from app.engine.jobs.jobs import REQUEST_ID, WITHDRAWN, Job, JobItem
from app.engine.jobs.leases import JobResult
from app.infra import clock


def ask(browser: Visitor, name: str) -> str:
    """Ask for the address of a person; return the id of the job."""
    page = browser.send("/reveal", field="email", full_name=name, company_name="Acme")
    assert page.status_code == 200, page.text
    return page.request.path.rpartition("/")[2]


@pytest.mark.parametrize("status", ["", "queued"])
def test_the_history_lists_requests_with_their_person(browser: Visitor, status: str) -> None:
    job_id = ask(browser, "Ada Lovelace")

    page = browser.open(f"/history?status={status}")

    assert f"/history/{job_id}" in page.text
    assert "Ada Lovelace · Acme" in page.text
    assert "In progress" in page.text


def test_another_status_lists_nothing(browser: Visitor) -> None:
    ask(browser, "Ada Lovelace")

    page = browser.open("/history?status=failed")

    assert "No requests" in page.text


def test_a_long_history_has_pages(browser: Visitor, user: SignedInUser) -> None:
    jobs = [ask(browser, f"Person Number{number}") for number in range(51)]

    first = browser.open("/history").text
    older = first.partition('class="button" href="')[2].partition('"')[0].replace("&amp;", "&")
    second = browser.open(older).text

    assert first.count("/history/job_") == 50
    assert second.count("/history/job_") == 1
    assert jobs[0] in second
    assert "Older entries" not in second


def test_another_workspaces_receipt_looks_like_a_missing_one(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    job_id = ask(browser, "Ada Lovelace")
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))

    foreign, missing = (
        stranger.client.get(f"/history/{some}", headers={"Accept": "text/html", "X-Request-Id": "same"})
        for some in (job_id, new_id("job"))
    )

    assert foreign.status_code == missing.status_code == 404
    assert foreign.text == missing.text
    assert stranger.send(f"/history/{job_id}/again").status_code == 404


def test_a_request_that_found_nothing_is_asked_again_as_a_new_one(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    change_settings(app, not_found_fresh_seconds=0)
    job_id = ask(browser, "Ada Lovelace")
    end_without_a_result(user, job_id)
    assert "Ask again" in browser.open(f"/history/{job_id}").text

    page = browser.send(f"/history/{job_id}/again")

    with user.database.reading() as session:
        first, second = session.scalars(select(Job).order_by(Job.created_at, Job.id)).all()
        balance = workspaces.balance(session, user.workspace_id)
    assert page.request.path == f"/history/{second.id}"
    assert first.request.pop(REQUEST_ID) != second.request.pop(REQUEST_ID)
    assert (first.request, first.request_digest) == (second.request, second.request_digest)
    assert (balance.available, balance.held) == (249, 1)


def test_a_fresh_answer_is_not_asked_for_again(browser: Visitor, user: SignedInUser) -> None:
    job_id = ask(browser, "Ada Lovelace")
    end_without_a_result(user, job_id)

    page = browser.send(f"/history/{job_id}/again")

    assert page.request.path == f"/history/{job_id}"
    assert "still fresh" in page.text
    assert "250 credits" in page.text


def test_a_receipt_shows_what_was_found_by_whom_and_for_what(browser: Visitor, user: SignedInUser) -> None:
    job_id = ask(browser, "Ada Lovelace")
    source = {"provider": "hunter", "kind": "provider", "first_seen_at": STAMP, "last_seen_at": STAMP}
    email = {"email": "ada@acme.com", "type": "work", "status": "valid", "verified_at": STAMP}
    trace = [{"provider": "hunter", "field": "email", "outcome": "hit", "latency_ms": 812, "cost": 1}]
    settle(
        user,
        job_id,
        JobResult(
            outcome=Outcome.FOUND,
            result={"contact_id": None, "emails": [email | {"sources": [source]}]},
            charge=1,
            trace=trace,
        ),
    )

    page = browser.open(f"/history/{job_id}")

    assert "ada@acme.com" in page.text
    assert "Verified 2026-11-20" in page.text
    assert "From hunter, last seen 2026-11-20" in page.text
    assert re.search(r"<dt>Charged</dt><dd>1 credit</dd>", page.text)
    assert re.search(r"hunter.*Found.*0\.8 s", page.text, re.DOTALL)
    assert "Ask again" not in page.text
    assert "refresh" not in page.text


def test_the_receipt_of_an_enrichment_has_a_row_for_each_item(browser: Visitor, user: SignedInUser) -> None:
    items = [{"subject": {"full_name": f"Person Number{n}", "company_name": "Acme"}} for n in range(3)]
    answer = user.client.post(
        "/api/ext/enrichment-request",
        json={"entity": "person", "items": items},
        headers=user.headers | {"Prefer": "respond-async"},
    )
    job_id = answer.get_json()["job"]["id"]

    page = browser.open(f"/history/{job_id}")
    history = browser.open("/history")

    assert page.text.lower().count("in progress") == 4
    assert "0 of 3" in page.text
    assert "3 people or companies" in history.text


def test_a_person_named_by_an_id_is_listed_by_name(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))

    browser.send("/reveal", field="email", contact_id=contact.id)

    assert "Ada Lovelace" in browser.open("/history").text


def test_lookups_of_visited_websites_are_not_listed(browser: Visitor, user: SignedInUser) -> None:
    headers = user.headers | {"Prefer": "respond-async"}
    user.client.post("/api/ext/company-by-hash", json={"hash": "0" * 64}, headers=headers)

    assert "No requests" in browser.open("/history").text


def test_an_open_request_cannot_be_repeated(browser: Visitor, user: SignedInUser) -> None:
    job_id = ask(browser, "Ada Lovelace")

    page = browser.send(f"/history/{job_id}/again")

    assert "cannot be repeated" in page.text
    with user.database.reading() as session:
        assert len(session.scalars(select(Job)).all()) == 1


def test_a_refund_of_an_item_does_not_mark_the_item_that_is_asked_for_again(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    change_settings(app, not_found_fresh_seconds=0)
    item = {"subject": {"full_name": "Ada Lovelace", "company_name": "Acme"}}
    answer = user.client.post(
        "/api/ext/enrichment-request",
        json={"entity": "person", "items": [item]},
        headers=user.headers | {"Prefer": "respond-async"},
    )
    job_id = answer.get_json()["job"]["id"]
    end_without_a_result(user, job_id)
    with user.database.transaction() as session:
        first = session.scalars(select(JobItem)).one()
        asked, first.request = first.request, first.request | {WITHDRAWN: True}

    browser.send(f"/history/{job_id}/again")

    with user.database.reading() as session:
        again = session.scalars(select(JobItem).where(JobItem.job_id != job_id)).one()
    assert again.request == asked


def end_without_a_result(user: SignedInUser, job_id: str) -> None:
    settle(user, job_id, JobResult(outcome=Outcome.NOT_FOUND))


def settle(user: SignedInUser, job_id: str, result: JobResult) -> None:
    """Finish the job as a worker does."""
    now = clock.now()
    with user.database.transaction() as session:
        claim = claims.claim(session, job_id, lease=timedelta(seconds=20), max_crashes=3, now=now)
        assert claim is not None
        leases.settle(session, claim, result, now=now)
