"""The page of events."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import ADA_URL, NOW, a_company, a_contact, own, suppress
from users_support import SignedInUser, create_user

from app.domain.callers import Scope
from app.domain.event_types import SUBSCRIBABLE, EventType
from app.domain.permissions import Permission
from app.engine.accounts import api_keys, permissions
from app.engine.contacts import job_changes
from app.engine.contacts.job_changes import Employer, Move
from app.engine.events import endpoints, events
from app.infra import clock
from app.pages.event_sentences import LABELS


def record(user: SignedInUser, type_: EventType, data: dict[str, Any], key: str = "one") -> None:
    with user.database.transaction() as session:
        events.record(session, user.workspace_id, type_, data, dedup_key=key, now=clock.now())


def a_limit(subject: str, subject_id: str, period: str) -> dict[str, Any]:
    return {
        "subject": subject,
        "id": subject_id,
        "period": period,
        "credits": 100,
        "held": 0,
        "spent": 80,
        "left": 20,
        "resets_at": "2026-12-01T00:00:00Z" if period == "month" else None,
    }


def a_job_change(user: SignedInUser, *, suppressed: bool = False) -> None:
    """Record that Grace, whom the user's workspace owns, moved from Acme to Globex."""
    with user.database.transaction() as session:
        globex = a_company(session, "Globex", domain="globex.com")
        grace = a_contact(session, a_company(session), "Grace Hopper", linkedin_url=ADA_URL)
        own(session, user.workspace_id, grace, "email")
        move = Move(
            contact_id=grace.id,
            previous=Employer(company_id=grace.company_id, domain="acme.com"),
            current=Employer(company_id=globex.id, domain="globex.com"),
            source="import",
            as_of=NOW,
        )
        job_changes.record_for(session, [(user.workspace_id, move)], now=NOW)
        if suppressed:
            suppress(session, "linkedin_url", ADA_URL)


def test_a_job_change_is_a_sentence_that_leads_to_the_person(browser: Visitor, user: SignedInUser) -> None:
    a_job_change(user)

    page = browser.open("/events")

    assert "Grace Hopper moved from Acme Engines to Globex." in page.text
    assert "Shown by an import, as of 2026-11-20" in page.text
    assert "Show the person" in page.text


def test_a_suppressed_person_is_not_named(browser: Visitor, user: SignedInUser) -> None:
    a_job_change(user, suppressed=True)

    page = browser.open("/events")

    assert "A contact moved from Acme Engines to Globex." in page.text
    assert "Hopper" not in page.text


def test_limits_are_named_by_their_account_or_key(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        key, _secret = api_keys.create(
            session,
            user.account_id,
            name="CRM sync",
            scopes=[Scope.REVEAL],
            expires_at=None,
            now=clock.now(),
        )
    monthly, cap = a_limit("account", user.account_id, "month"), a_limit("key", key.id, "total")
    record(user, EventType.LIMIT_WARNING, {"percent": 80, "limit": monthly}, "1")
    record(user, EventType.LIMIT_REACHED, {"percent": 100, "limit": cap}, "2")

    page = browser.open("/events")

    assert "80 % of the monthly limit of the account Ada Lovelace is used." in page.text
    assert "100 % of the spending cap of the API key CRM sync is used." in page.text
    assert "80 of 100 credits" in page.text


def test_failures_of_endpoints_are_sentences(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        endpoint = endpoints.create(
            session,
            user.workspace_id,
            url="https://hooks.acme.example/?key=secret",
            types=["job.finished"],
            now=clock.now(),
        )
    record(user, EventType.ENDPOINT_DISABLED, {"endpoint_id": endpoint.id, "reason": "failing"}, "2")
    record(user, EventType.ENDPOINT_TEST, {"endpoint_id": "whe_deleted"}, "3")

    page = browser.open("/events")

    assert "Webhooks to hooks.acme.example were disabled." in page.text
    assert "A test was sent to an endpoint that was deleted." in page.text
    assert "secret" not in page.text


def test_events_are_filtered_by_type_and_have_pages(browser: Visitor, user: SignedInUser) -> None:
    for number in range(51):
        warning = {"percent": 100 + number, "limit": a_limit("account", user.account_id, "month")}
        record(user, EventType.LIMIT_WARNING, warning, str(number))
    record(user, EventType.ENDPOINT_TEST, {"endpoint_id": "x"}, "test")

    page = browser.open("/events?type=credits.limit_warning")
    older = page.text.partition('class="button" href="')[2].partition('"')[0].replace("&amp;", "&")

    assert "A test was sent" not in page.text
    assert "150 % of" in page.text
    assert "100 % of" not in page.text
    assert "100 % of" in browser.open(older).text


def test_another_workspaces_events_are_not_shown(app: APIFlask, user: SignedInUser) -> None:
    a_job_change(user)

    page = visitor(app, create_user(app, email="eve@babbage.example")).open("/events")

    assert "No events" in page.text


@pytest.mark.parametrize("type_", [*SUBSCRIBABLE, *EventType])
def test_every_type_has_a_label(type_: str) -> None:
    assert LABELS[type_]


def test_whoever_may_not_see_costs_sees_no_event_about_them(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    limit = a_limit("account", user.account_id, "month")
    record(user, EventType.LIMIT_WARNING, {"percent": 80, "limit": limit})
    path, texts = "/api/events", ("80 of 100", LABELS[EventType.LIMIT_WARNING.value])
    before = user.client.get(path, headers=user.headers).get_json()["events"]
    shown = browser.open("/events").text
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, {Permission.SEE_COSTS: False})

    hidden = browser.open("/events").text

    assert user.client.get(path, headers=user.headers).get_json()["events"] == []
    assert len(before) == 1
    assert [str(text) in shown for text in texts] == [True, True]
    assert [str(text) in hidden for text in texts] == [False, False]
