"""The page of usage: bars, table, file, and the limits that apply."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from users_support import SignedInUser, create_user

from app.domain.spending import Period
from app.engine.accounts.accounts import Account, Role
from app.engine.jobs.jobs import Job
from app.engine.ledger import limit_settings
from app.engine.ledger.credits import LedgerEntry
from app.infra.database import database_clock


def submit(user: SignedInUser, email: str) -> None:
    headers = user.headers | {"Prefer": "respond-async"}
    user.client.post("/api/ext/reveal/email", json={"subject": {"email": email}}, headers=headers)


def limit(user: SignedInUser, amount: int) -> None:
    with user.database.transaction() as session:
        subject = limit_settings.subject(session, user.workspace_id, user.account_id)
        now = database_clock.value(session)
        limit_settings.put(session, user.workspace_id, subject, Period.MONTH, amount, now=now)


def test_a_member_sees_the_own_requests_by_account(browser: Visitor, user: SignedInUser) -> None:
    submit(user, "one@acme.com")
    submit(user.colleague(), "two@acme.com")

    page = browser.open("/usage?by=account")

    assert page.status_code == 200
    assert re.findall(r'<th scope="row">([^<]*)</th>', page.text) == ["Ada Lovelace"]
    assert '<a class="button" href="/usage/account.csv?from=' in page.text


def test_an_admin_sees_the_workspace(app: APIFlask, user: SignedInUser) -> None:
    submit(user, "one@acme.com")
    admin = user.colleague()
    with user.database.transaction() as session:
        session.get_one(Account, admin.account_id).role = Role.ADMIN.value

    page = visitor(app, admin).open("/usage?by=account")

    assert "What your workspace spent" in page.text
    assert re.findall(r'<th scope="row">([^<]*)</th>', page.text) == ["Ada Lovelace"]


def test_the_file_is_a_csv_table_of_the_same_rows(browser: Visitor, user: SignedInUser) -> None:
    submit(user, "one@acme.com")
    link = re.search(r'href="(/usage/kind[.]csv[^"]+)"', browser.open("/usage?by=kind").text)
    assert link is not None

    file = browser.open(link.group(1).replace("&amp;", "&"))

    assert file.mimetype == "text/csv"
    assert file.get_data().startswith(b'\xef\xbb\xbf"id","name","credits","jobs",')
    assert '"reveal.email","","0","1","0","0","0","0.0"' in file.text


@pytest.mark.parametrize(
    ("query", "reason"),
    [("from=2026-02-30", "Not a valid date."), ("from=2026-11-02&to=2026-11-01", "must not be before")],
)
def test_an_invalid_period_is_explained(browser: Visitor, query: str, reason: str) -> None:
    page = browser.open(f"/usage?{query}")
    file = browser.open(f"/usage/day.csv?{query}")

    assert (page.status_code, file.status_code) == (422, 422)
    assert "Correct the marked fields" in page.text
    assert reason in page.text
    assert reason in file.text


def test_an_unknown_grouping_is_explained(browser: Visitor) -> None:
    assert browser.open("/usage?by=month").status_code == 422
    assert browser.open("/usage/month.csv").status_code == 404


def test_the_limits_that_apply_are_shown_with_their_use(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    limit(user, 4)
    submit(user, "one@acme.com")
    limit(create_user(app, email="eve@babbage.example"), 7_777_777)

    page = browser.open("/usage")

    assert "Ada Lovelace: monthly limit" in page.text
    assert "0 spent, 1 reserved, 3 left; starts again on" in page.text
    assert "7\u202f777\u202f777" not in page.text


def test_without_limits_the_page_says_so(browser: Visitor) -> None:
    assert "No limit applies." in browser.open("/usage").text


def test_the_chart_has_a_bar_for_each_day_with_credits(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for day, spent in ((1, 20), (2, 0), (3, 5)):
            entry = {"workspace_id": user.workspace_id, "job_id": f"job_{day}", "kind": "settle"}
            when = datetime(2026, 11, day, 12, tzinfo=UTC)
            session.add(Job(**a_job(user, f"job_{day}", when)))
            session.add(
                LedgerEntry(id=f"led_{day}", available=0, held=-spent, spent=spent, created_at=when, **entry)
            )

    page = browser.open("/usage?from=2026-11-01&to=2026-11-04")

    assert [float(height) for height in re.findall(r'<rect [^>]*height="([^"]+)"', page.text)] == [80, 20]
    assert "up to 20" in page.text


def a_job(user: SignedInUser, job_id: str, when: datetime) -> dict[str, Any]:
    """Return the columns of a finished job."""
    return {
        "id": job_id,
        "workspace_id": user.workspace_id,
        "account_id": user.account_id,
        "kind": "reveal.email",
        "request_digest": job_id.encode(),
        "request": {},
        "status": "succeeded",
        "outcome": "found",
        "trace": [],
        "held": 20,
        "charged": 0,
        "already_owned": False,
        "progress_done": 1,
        "progress_total": 1,
        "attempts": 1,
        "crashes": 0,
        "publishes": 0,
        "run_after": when,
        "deadline_at": when,
        "created_at": when,
        "finished_at": when,
    }


def test_a_period_without_credits_has_no_chart(browser: Visitor) -> None:
    assert "No credits were spent in this period." in browser.open("/usage").text
