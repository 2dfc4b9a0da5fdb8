"""The history, receipts, and requests asked again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select
from users_support import SignedInUser, create_user

from app.core.accounts import workspaces
from app.core.jobs import claims, leases
from app.core.jobs.jobs import Job
from app.core.jobs.leases import JobResult
from app.domain.ids import new_id
from app.domain.kinds import Outcome
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
    assert "in progress" in page.text


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
    assert (first.request, first.question) == (second.request, second.question)
    assert (balance.available, balance.held) == (249, 1)


def test_a_fresh_answer_is_not_asked_for_again(browser: Visitor, user: SignedInUser) -> None:
    job_id = ask(browser, "Ada Lovelace")
    end_without_a_result(user, job_id)

    page = browser.send(f"/history/{job_id}/again")

    assert page.request.path == f"/history/{job_id}"
    assert "still fresh" in page.text
    assert "250 credits" in page.text


def test_an_open_request_cannot_be_repeated(browser: Visitor, user: SignedInUser) -> None:
    job_id = ask(browser, "Ada Lovelace")

    page = browser.send(f"/history/{job_id}/again")

    assert "cannot be repeated" in page.text
    with user.database.reading() as session:
        assert len(session.scalars(select(Job)).all()) == 1


def end_without_a_result(user: SignedInUser, job_id: str) -> None:
    """Settle the job as a worker does that found nothing."""
    now = clock.now()
    with user.database.transaction() as session:
        claim = claims.claim(session, job_id, lease=timedelta(seconds=20), max_crashes=3, now=now)
        assert claim is not None
        leases.settle(session, claim, JobResult(outcome=Outcome.NOT_FOUND), now=now)
