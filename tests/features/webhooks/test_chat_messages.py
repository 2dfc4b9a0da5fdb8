"""Messages in the forms of Slack and Microsoft Teams: their sentences, links and limits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import pytest
from jobs_support import a_workspace
from pytest_httpserver import HTTPServer
from sqlalchemy import select
from webhook_support import begin_due, next_at
from werkzeug import Response
from worker_harness import make_services

from app.domain.event_types import SUBSCRIBABLE, EventType
from app.engine.events import endpoints, events
from app.engine.events.deliveries import Webhook
from app.engine.events.endpoints import DisabledReason, WebhookEndpoint
from app.features.webhooks import chat_sentences, message_bodies, message_formats
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.delivery import AttemptResult
from app.features.webhooks.message_formats import MessageFormat
from app.features.webhooks.work import post
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.webhook_client import WebhookClient

LOOPBACK = WebhookClient((ip_network("127.0.0.1/32"),))
JOB = {"id": "job_1", "kind": "reveal.email", "status": "succeeded", "outcome": "not_found"}
LIMIT = {
    "subject": "account",
    "id": "acc_1",
    "period": "month",
    "credits": 1000,
    "held": 0,
    "spent": 800,
    "resets_at": None,
}
MOVE = {"contact_id": "con_1", "from": {"domain": "acme.example"}, "to": {"domain": None}}
PUSH = {"vendor": "hubspot", "push_id": "psh_1", "error": "rate_limited"}
SCHEDULE = {"vendor": "hubspot", "reason": "no_credits", "resumes_at": "2026-12-01T00:00:00Z"}
CASES: list[tuple[str, Mapping[str, Any], str, str]] = [
    ("job.finished", {"job": JOB}, "A job has finished (e-mail): not found.", "/history/job_1"),
    (
        "job.finished",
        {"job": {**JOB, "kind": "enrichment_request", "outcome": "partial", "progress": {"total": 1200}}},
        "A job has finished (enrichment of 1,200): partial.",
        "/history/job_1",
    ),
    (
        "job.finished",
        {"job": {**JOB, "kind": "later.kind", "status": "failed", "outcome": None}},
        "A job has finished (later.kind): failed.",
        "/history/job_1",
    ),
    ("contact.job_changed", MOVE, "A contact moved from acme.example to another company.", "/contacts/con_1"),
    (
        "credits.limit_warning",
        {"percent": 80, "limit": LIMIT},
        "80 % of the monthly limit of an account is used: 800 of 1,000 credits.",
        "/events",
    ),
    (
        "credits.limit_reached",
        {"percent": 100, "limit": {**LIMIT, "subject": "key", "period": "total", "spent": 1000}},
        "100 % of the spending cap of an API key is used: 1,000 of 1,000 credits.",
        "/events",
    ),
    ("crm.push_failed", PUSH, "A push to the CRM (hubspot) failed: rate limited.", "/events"),
    (
        "crm.push_failed",
        {**PUSH, "push_id": None},
        "The connection to the CRM (hubspot) failed: rate limited.",
        "/events",
    ),
    (
        "crm_schedule.stopped",
        SCHEDULE,
        "A schedule of the CRM (hubspot) stopped: no credits. It goes on at 2026-12-01T00:00:00Z.",
        "/events",
    ),
    (
        "crm_schedule.stopped",
        {**SCHEDULE, "resumes_at": None},
        "A schedule of the CRM (hubspot) stopped: no credits.",
        "/events",
    ),
    (
        "person.erased",
        {"contact_id": "con_1"},
        "The person of contact con_1 had their data erased. Delete what you exported of this contact.",
        "/events",
    ),
    (
        "person.rectified",
        {"contact_id": "con_1", "fields": ["full_name", "title"]},
        "The person of contact con_1 corrected: full name, title. Correct what you exported.",
        "/contacts/con_1",
    ),
    (
        "webhook_endpoint.disabled",
        {"reason": "gone"},
        "A webhook endpoint was disabled: it answered that it is gone.",
        "/events",
    ),
    ("webhook_endpoint.test", {}, "A test: this channel receives the events of your workspace.", "/events"),
    ("a.later_type", {}, "Event: a.later_type.", "/events"),
]


@pytest.mark.parametrize(("type_", "data", "text", "path"), CASES)
def test_a_message_is_a_sentence_with_the_page_that_shows_it(
    type_: str, data: Mapping[str, Any], text: str, path: str
) -> None:
    message = {"type": type_, "data": data}

    assert chat_sentences.sentence(message) == text
    assert chat_sentences.path(message) == path


def test_every_type_of_event_has_a_sentence_of_its_own() -> None:
    assert {*SUBSCRIBABLE, *EventType} <= {type_ for type_, *_ in CASES}


def message(**data: Any) -> dict[str, Any]:
    return {
        "id": "evt_1",
        "type": "crm.push_failed",
        "timestamp": "2026-11-22T12:02:29.308Z",
        "data": PUSH | data,
    }


def body(form: MessageFormat, public_url: str = "", **data: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(message_bodies.body(message(**data), form, public_url=public_url))
    return content


def test_slack_gets_a_text_and_blocks() -> None:
    assert body(MessageFormat.SLACK, "https://lookup.example.com/") == {
        "text": "A push to the CRM (hubspot) failed: rate limited.",
        "blocks": [
            {
                "type": "section",
                "text": {
                    "type": "mrkdwn",
                    "text": "A push to the CRM (hubspot) failed: rate limited. "
                    "<https://lookup.example.com/events|Open>",
                },
            },
            {
                "type": "context",
                "elements": [
                    {"type": "mrkdwn", "text": "crm.push_failed · 2026-11-22T12:02:29.308Z · evt_1"}
                ],
            },
        ],
    }


def test_teams_gets_an_adaptive_card() -> None:
    (attachment,) = body(MessageFormat.TEAMS, "https://lookup.example.com")["attachments"]

    card = attachment["content"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert (card["type"], card["body"][0]["text"]) == (
        "AdaptiveCard",
        "A push to the CRM (hubspot) failed: rate limited.",
    )
    assert {fact["title"]: fact["value"] for fact in card["body"][1]["facts"]}["Id"] == "evt_1"
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open", "url": "https://lookup.example.com/events"}
    ]


def test_without_the_address_of_the_service_there_is_no_link() -> None:
    (attachment,) = body(MessageFormat.TEAMS)["attachments"]

    assert "actions" not in attachment["content"]
    assert "|Open>" not in json.dumps(body(MessageFormat.SLACK))


def test_text_cannot_mention_a_channel_or_exceed_the_limits() -> None:
    slack = body(MessageFormat.SLACK, vendor="<!channel> & co")
    long = body(MessageFormat.SLACK, error="x" * 5000)

    assert "&lt;!channel&gt; &amp; co" in slack["text"]
    assert len(long["blocks"][0]["text"]["text"]) < 3000


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("https://hooks.slack.com/workflows/1", "slack"),
        ("https://prod-1.westeurope.logic.azure.com:443/workflows/1", "teams"),
        ("https://default1.1d.environment.api.powerplatform.com/workflows/1", "teams"),
        ("https://acme.webhook.office.com/webhookb2/1", "teams"),
        ("https://hooks.acme.example/slack", "standard"),
        ("https://nothooks.slack.com.acme.example/", "standard"),
        ("https://xhooks.slack.com/", "standard"),
    ],
)
def test_the_host_of_a_url_decides_without_a_format(url: str, form: str) -> None:
    assert message_formats.of_url(url).value == form


def an_endpoint(database: Database, form: MessageFormat, url: str) -> tuple[str, str]:
    """Insert an endpoint and an event; return the ids of the endpoint and of the delivery."""
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        endpoint = endpoints.create(
            session,
            workspace_id,
            url=url,
            types=[EventType.CRM_PUSH_FAILED],
            format_=form.value,
            now=clock.now(),
        )
        events.record(
            session, workspace_id, EventType.CRM_PUSH_FAILED, PUSH, dedup_key="one", now=clock.now()
        )
        return endpoint.id, session.scalars(select(Webhook.id)).one()


def test_a_channel_of_slack_receives_the_sentence(
    settings: Settings, database: Database, httpserver: HTTPServer
) -> None:
    _, webhook_id = an_endpoint(database, MessageFormat.SLACK, httpserver.url_for("/services/T0"))
    httpserver.expect_request("/services/T0", method="POST").respond_with_response(Response("ok", 200))

    post(webhook_id, make_services(settings, database), LOOPBACK)

    (request, _response) = httpserver.log[0]
    assert request.content_type == "application/json"
    assert json.loads(request.get_data())["text"] == "A push to the CRM (hubspot) failed: rate limited."
    with database.reading() as session:
        assert session.get_one(Webhook, webhook_id).delivered_at is not None


def test_a_message_that_cannot_be_made_counts_as_an_attempt(
    settings: Settings, database: Database, httpserver: HTTPServer
) -> None:
    _, webhook_id = an_endpoint(database, MessageFormat.SLACK, httpserver.url_for("/"))
    with database.transaction() as session:
        session.scalars(select(events.Event)).one().data = {}

    with pytest.raises(KeyError):
        post(webhook_id, make_services(settings, database), LOOPBACK)

    with database.reading() as session:
        assert session.get_one(Webhook, webhook_id).attempts == 1
        assert next_at(session, webhook_id) is not None
    assert httpserver.log == []


@pytest.mark.parametrize(
    ("form", "status", "reason"),
    [
        (MessageFormat.SLACK, 404, "gone"),
        (MessageFormat.SLACK, 410, "gone"),
        (MessageFormat.TEAMS, 404, "gone"),
        (MessageFormat.STANDARD, 410, "gone"),
        (MessageFormat.STANDARD, 404, None),
        (MessageFormat.SLACK, 500, None),
    ],
)
def test_a_deleted_hook_disables_the_endpoint(
    database: Database, form: MessageFormat, status: int, reason: str | None
) -> None:
    endpoint_id, webhook_id = an_endpoint(database, form, "https://hooks.acme.example/1")

    with database.transaction() as session:
        delivery = begin_due(session, webhook_id, now=clock.now())
        assert delivery is not None
        webhooks.finish(session, delivery, AttemptResult(status=status, latency_ms=1), now=clock.now())

    with database.reading() as session:
        endpoint = session.get_one(WebhookEndpoint, endpoint_id)
        assert endpoint.disabled_reason == (reason and DisabledReason(reason).value)
        assert (next_at(session, webhook_id) is None) is (reason is not None)


def test_slacks_rate_limit_is_obeyed(database: Database) -> None:
    _, webhook_id = an_endpoint(database, MessageFormat.SLACK, "https://hooks.acme.example/1")
    now = clock.now()

    with database.transaction() as session:
        delivery = begin_due(session, webhook_id, now=now)
        assert delivery is not None
        result = AttemptResult(status=429, retry_after=3600, latency_ms=1)
        webhooks.finish(session, delivery, result, now=now)

    with database.reading() as session:
        planned = next_at(session, webhook_id)
    assert planned is not None
    assert (planned - now).total_seconds() == 3600
