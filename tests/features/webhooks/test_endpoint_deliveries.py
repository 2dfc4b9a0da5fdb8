from __future__ import annotations

from datetime import timedelta

from jobs_support import DIGEST_KEYS, NOW, a_job, a_question, a_workspace, at_once, claim, submit
from sqlalchemy import select
from webhook_support import begin_due, claim_due

from app.domain.event_types import JOB_FINISHED, EventType
from app.domain.kinds import Kind, Outcome
from app.engine.events import deliveries, endpoints, events
from app.engine.events.deliveries import Webhook
from app.engine.events.endpoints import DISABLE_AFTER, DisabledReason, WebhookEndpoint
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.engine.work.items import WorkItem
from app.features.webhooks import delivery as webhooks
from app.features.webhooks import delivery_log
from app.features.webhooks.delivery import RETRY_SCHEDULE, AttemptResult, Delivery
from app.features.webhooks.delivery_log import DeliveryState
from app.infra.database.db import Database
from app.infra.database.session import Session

URL = "https://hooks.acme.example/events"
ACCEPTED = AttemptResult(status=204, latency_ms=7)
FAILED = AttemptResult(status=500, latency_ms=7)
GONE = AttemptResult(status=410, latency_ms=7)
LATER = NOW + DISABLE_AFTER + timedelta(hours=1)


def an_endpoint(session: Session, workspace_id: str, *types: str) -> str:
    return endpoints.create(
        session, workspace_id, url=URL, types=types or [EventType.LIMIT_WARNING], now=NOW
    ).id


def an_event(session: Session, workspace_id: str, key: str = "one") -> str:
    """Record an event; return the id of its only delivery."""
    known = set(session.scalars(select(Webhook.id)))
    events.record(session, workspace_id, EventType.LIMIT_WARNING, {"used": 8}, dedup_key=key, now=NOW)
    (webhook_id,) = set(session.scalars(select(Webhook.id))) - known
    return webhook_id


def begin(session: Session, webhook_id: str, *, at_last: bool = False) -> Delivery:
    """Begin an attempt; `at_last` makes it the last of the schedule."""
    if at_last:
        item = session.get_one(WorkItem, webhook_id, populate_existing=True)
        item.attempts = len(RETRY_SCHEDULE)
        session.flush()
    delivery = begin_due(session, webhook_id, now=LATER)
    assert delivery is not None
    return delivery


def endpoint(session: Session, endpoint_id: str) -> WebhookEndpoint:
    return session.get_one(WebhookEndpoint, endpoint_id, populate_existing=True)


def test_an_event_is_due_at_once_and_signed_with_the_secret_of_its_endpoint(
    session: Session, workspace_id: str
) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    webhook_id = an_event(session, workspace_id)

    claimed = claim_due(session, now=NOW)
    delivery = begin_due(session, webhook_id, now=NOW)

    assert claimed == [webhook_id]
    assert delivery is not None
    assert delivery.url == URL
    assert delivery.secret == endpoints.secret(DIGEST_KEYS, endpoint_id)
    assert delivery.secret != endpoints.workspace_secret(DIGEST_KEYS, workspace_id)
    (event,) = events.latest(session, workspace_id, limit=2)
    assert delivery.payload == {
        "id": event.id,
        "type": "credits.limit_warning",
        "timestamp": "2026-11-20T09:30:00.000Z",
        "data": {"used": 8},
    }


def test_an_endpoint_for_finished_jobs_receives_the_end_of_the_workspaces_jobs(
    session: Session, workspace_id: str
) -> None:
    endpoint_id = an_endpoint(session, workspace_id, JOB_FINISHED)
    job_id = a_job(session, workspace_id)
    a_job(session, a_workspace(session))

    before = claim_due(session, now=NOW)
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    (claimed,) = claim_due(session, now=NOW)

    delivery = begin_due(session, claimed, now=NOW)
    assert before == []
    assert delivery is not None
    assert (delivery.endpoint_id, delivery.payload["data"]["job"]["id"]) == (endpoint_id, job_id)


def test_a_joined_request_is_reported_once_and_a_hash_lookup_never(
    session: Session, workspace_id: str
) -> None:
    an_endpoint(session, workspace_id, JOB_FINISHED)

    for _ in range(2):
        submit(session, a_question(workspace_id))
    submit(session, a_question(workspace_id, kind=Kind.COMPANY_BY_HASH, price=0))

    assert len(session.scalars(select(Webhook.id)).all()) == 1


def test_an_endpoint_for_events_does_not_receive_finished_jobs(session: Session, workspace_id: str) -> None:
    an_endpoint(session, workspace_id)

    a_job(session, workspace_id)

    assert session.scalars(select(Webhook.id)).all() == []


def test_the_url_of_a_request_and_an_endpoint_with_the_same_url_are_both_notified(
    session: Session, workspace_id: str
) -> None:
    an_endpoint(session, workspace_id, JOB_FINISHED)

    submit(session, a_question(workspace_id, webhook_url=URL))

    rows = session.scalars(select(Webhook)).all()
    assert {(row.url, row.endpoint_id is None) for row in rows} == {(URL, True), (URL, False)}


def test_an_endpoint_that_failed_for_days_is_disabled_when_a_delivery_is_given_up(
    session: Session, workspace_id: str
) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    first, second = an_event(session, workspace_id, "1"), an_event(session, workspace_id, "2")
    endpoints.record_result(session, endpoint_id, delivered=False, now=NOW)

    webhooks.finish(session, begin(session, first, at_last=True), FAILED, now=LATER)

    disabled = endpoint(session, endpoint_id)
    assert (disabled.disabled_at, disabled.disabled_reason) == (LATER, DisabledReason.FAILING)
    waiting = delivery_log.get(session, second)
    assert waiting is not None
    assert waiting.state is DeliveryState.GIVEN_UP
    (event,) = events.latest(session, workspace_id, type_=EventType.ENDPOINT_DISABLED, limit=2)
    assert event.data == {"endpoint_id": endpoint_id, "reason": "failing"}


def test_of_deliveries_given_up_at_the_same_time_one_disables_the_endpoint(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        endpoint_id = an_endpoint(session, workspace_id)
        webhook_ids = [an_event(session, workspace_id, str(number)) for number in range(8)]
        attempts = [begin(session, webhook_id, at_last=True) for webhook_id in webhook_ids]
        endpoints.record_result(session, endpoint_id, delivered=False, now=NOW)

    def work(number: int) -> None:
        with database.transaction() as session:
            webhooks.finish(session, attempts[number], FAILED, now=LATER)

    at_once(8, work)

    with database.reading() as session:
        recorded = events.latest(session, workspace_id, type_=EventType.ENDPOINT_DISABLED, limit=2)
        assert len(recorded) == 1
        assert endpoint(session, endpoint_id).disabled_at == LATER


def test_an_endpoint_is_not_disabled_while_deliveries_are_retried_or_others_succeed(
    session: Session, workspace_id: str
) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    retried, accepted, given_up = (an_event(session, workspace_id, key) for key in "123")
    endpoints.record_result(session, endpoint_id, delivered=False, now=NOW)

    webhooks.finish(session, begin(session, retried), FAILED, now=LATER)
    webhooks.finish(session, begin(session, accepted), ACCEPTED, now=LATER)
    webhooks.finish(session, begin(session, given_up, at_last=True), FAILED, now=LATER)

    row = endpoint(session, endpoint_id)
    assert (row.disabled_at, row.failing_since) == (None, LATER)


def test_an_endpoint_that_answers_gone_is_disabled_at_once(session: Session, workspace_id: str) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    webhook_id = an_event(session, workspace_id)

    webhooks.finish(session, begin(session, webhook_id), GONE, now=LATER)

    assert endpoint(session, endpoint_id).disabled_reason == DisabledReason.GONE


def test_a_delivery_to_a_disabled_endpoint_is_not_replayed(session: Session, workspace_id: str) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    webhook_id = an_event(session, workspace_id)
    endpoint(session, endpoint_id).disabled_at = NOW
    session.flush()

    replayed = delivery_log.replay(session, [webhook_id], now=NOW)
    endpoint(session, endpoint_id).disabled_at = None
    session.flush()

    assert replayed == []
    assert delivery_log.replay(session, [webhook_id], now=NOW) == [webhook_id]


def test_failed_deliveries_of_events_are_replayed_since_a_time(session: Session, workspace_id: str) -> None:
    an_endpoint(session, workspace_id)
    webhook_id = an_event(session, workspace_id)
    webhooks.finish(session, begin(session, webhook_id), FAILED, now=LATER)

    late, early = (
        delivery_log.replay_failed(session, workspace_id=workspace_id, since=since, now=NOW)
        for since in (NOW + timedelta(seconds=1), NOW)
    )

    assert (late, early) == ([], [webhook_id])


def test_webhooks_are_listed_by_page_with_the_type_of_their_event(
    session: Session, workspace_id: str
) -> None:
    an_endpoint(session, workspace_id)
    made = [an_event(session, workspace_id, key) for key in "123"]

    first = delivery_log.latest(session, workspace_id=workspace_id, failed=False, limit=2)
    rest = delivery_log.latest(
        session, workspace_id=workspace_id, failed=False, limit=2, before=first[-1].webhook.id
    )

    assert [status.webhook.id for status in first + rest] == made[::-1]
    assert {status.type for status in first} == {"credits.limit_warning"}


def test_an_endpoint_that_is_disabled_stays_so(session: Session, workspace_id: str) -> None:
    one = endpoint(session, an_endpoint(session, workspace_id))
    deliveries.disable(session, one, now=NOW)

    deliveries.disable(session, one, now=LATER)

    assert one.disabled_at == NOW


def test_an_operator_pages_through_the_webhooks_of_all_workspaces(
    session: Session, workspace_id: str
) -> None:
    an_endpoint(session, workspace_id)
    webhook_id = an_event(session, workspace_id)

    rest = delivery_log.latest(session, workspace_id=None, failed=False, limit=9, before=webhook_id)

    assert rest == []
