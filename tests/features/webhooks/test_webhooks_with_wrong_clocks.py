"""Times of webhooks, with this process's clock an hour fast or slow."""

from __future__ import annotations

from datetime import UTC, datetime

from webhook_support import begin_due, claim_due
from wrong_clocks_support import MINUTE, age, now, settled, submit, wrong_clock  # noqa: F401 -- a fixture

from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.tables import WebhookAttempt
from app.infra.database.session import Session


def test_a_webhook_is_due_when_its_job_is_finished_and_posted_once(
    session: Session, workspace_id: str
) -> None:
    job_id = submit(session, workspace_id, webhook_url="https://hooks.example/in").job.id
    settled(session, job_id)

    [webhook_id] = claim_due(session, now=now())
    delivery = begin_due(session, webhook_id, now=now())
    second = begin_due(session, webhook_id, now=now())

    assert delivery is not None
    assert abs(delivery.signed_at - datetime.now(UTC)) < MINUTE
    assert second is None


def test_a_failed_webhook_is_due_again_after_its_delay(session: Session, workspace_id: str) -> None:
    settled(session, submit(session, workspace_id, webhook_url="https://hooks.example/in").job.id)
    [webhook_id] = claim_due(session, now=now())
    delivery = begin_due(session, webhook_id, now=now())
    assert delivery is not None
    webhooks.finish(session, delivery, webhooks.AttemptResult(status=500, latency_ms=1), now=now())

    early = begin_due(session, webhook_id, now=now())
    late = begin_due(session, webhook_id, now=now() + MINUTE)

    assert early is None
    assert late is not None


def test_the_log_of_a_webhook_is_stored_for_its_retention(session: Session, workspace_id: str) -> None:
    settled(session, submit(session, workspace_id, webhook_url="https://hooks.example/in").job.id)
    [webhook_id] = claim_due(session, now=now())
    begin_due(session, webhook_id, now=now())
    age(session, WebhookAttempt, "attempted_at", webhook_attempts.RETENTION - MINUTE)

    webhook_attempts.purge_expired(session, now=now())

    assert len(webhook_attempts.list_for_webhook(session, webhook_id)) == 1
