from __future__ import annotations

from datetime import timedelta

from apiflask import APIFlask
from jobs_support import NOW, a_question, a_workspace, claim, submit
from sqlalchemy import select
from webhook_support import begin_due

from app.domain.kinds import Outcome
from app.engine.events.deliveries import Webhook
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.features.webhooks import delivery as webhooks
from app.features.webhooks import stats as webhook_stats
from app.features.webhooks.attempts import LEASE, AttemptState
from app.features.webhooks.delivery import AttemptResult
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)
NOTHING = timedelta(0)


def a_finished_job(session: Session, about: str, *, now_finished: timedelta = NOTHING) -> str:
    """Submit a job with a webhook, and end it; return the webhook's id."""
    question = a_question(a_workspace(session), about, webhook_url="https://hooks.acme.example/done")
    job_id = submit(session, question).job.id
    at = NOW + now_finished
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=at)
    return session.scalars(select(Webhook.id).where(Webhook.job_id == job_id)).one()


def post(session: Session, webhook_id: str, *, status: int | None) -> None:
    delivery = begin_due(session, webhook_id, now=NOW)
    assert delivery is not None
    if status is not None:
        webhooks.finish(session, delivery, AttemptResult(status=status, latency_ms=7), now=NOW)
    session.flush()
    session.expire_all()


def test_without_webhooks_all_figures_are_zero(session: Session) -> None:
    found = webhook_stats.read(session, now=NOW)

    assert (found.due, found.wait, found.retrying) == (0, NOTHING, 0)
    assert found.attempts == dict.fromkeys(AttemptState, 0)


def test_a_webhook_is_due_from_the_end_of_its_job(session: Session) -> None:
    question = a_question(a_workspace(session), "open", webhook_url="https://hooks.acme.example/open")
    submit(session, question)
    a_finished_job(session, "ada", now_finished=10 * SECOND)

    found = webhook_stats.read(session, now=NOW + 30 * SECOND)

    assert (found.due, found.wait, found.retrying) == (1, 20 * SECOND, 0)


def test_failed_webhooks_are_retrying_and_delivered_ones_are_not_counted(session: Session) -> None:
    post(session, a_finished_job(session, "ada"), status=500)
    post(session, a_finished_job(session, "bob"), status=204)

    found = webhook_stats.read(session, now=NOW + SECOND)

    assert (found.due, found.wait, found.retrying) == (0, NOTHING, 1)


def test_the_attempts_of_the_last_minute_are_counted_by_state(session: Session) -> None:
    post(session, a_finished_job(session, "ada"), status=500)
    post(session, a_finished_job(session, "bob"), status=204)
    post(session, a_finished_job(session, "eve"), status=None)

    soon = webhook_stats.read(session, now=NOW + SECOND).attempts
    later = webhook_stats.read(session, now=NOW + LEASE + SECOND).attempts
    over = webhook_stats.read(session, now=NOW + 61 * SECOND).attempts

    assert soon == {"running": 1, "lost": 0, "delivered": 1, "failed": 1}
    assert later == {"running": 0, "lost": 1, "delivered": 1, "failed": 1}
    assert set(over.values()) == {0}


def test_the_gauges_of_webhooks_are_among_the_metrics(app: APIFlask) -> None:
    found = app.test_client().get("/metrics").text.splitlines()

    for gauge in (
        'ext_webhooks{state="due"} 0.0',
        'ext_webhooks{state="retrying"} 0.0',
        'ext_webhook_attempts{outcome="failed"} 0.0',
        "ext_oldest_webhook_seconds 0.0",
    ):
        assert gauge in found
