from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import DIGEST_KEYS, NOW, a_question, a_workspace, at_once, claim, submit
from sqlalchemy import delete, func, select
from standardwebhooks import Webhook as Reference
from webhook_support import any_due, begin_due, claim_due, next_at

from app.domain.kinds import Outcome
from app.engine.events import endpoints
from app.engine.events.deliveries import DELIVERING, Webhook
from app.engine.jobs import leases
from app.engine.jobs.jobs import Job
from app.engine.jobs.leases import JobResult
from app.engine.work.items import WorkItem
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery as webhooks
from app.features.webhooks import delivery_log
from app.features.webhooks.attempts import LEASE, AttemptState
from app.features.webhooks.delivery import (
    RETRY_SCHEDULE,
    AttemptResult,
    Delivery,
)
from app.features.webhooks.delivery_log import DeliveryState as HowFar
from app.features.webhooks.tables import WebhookAttempt
from app.infra.database.db import Database
from app.infra.database.session import Session

URL = "https://hooks.acme.example/done"
SECOND = timedelta(seconds=1)
MANY = 10
"""The deliveries of a workspace that workers have or wait in the queue."""
TAKEN = AttemptResult(status=204, latency_ms=7)
FAILED = AttemptResult(status=500, latency_ms=7)


def asked(session: Session, url: str | None = URL, workspace: str | None = None) -> str:
    """Submit a request with a webhook; return the job's id."""
    question = a_question(workspace or a_workspace(session), url or "nobody", webhook_url=url)
    return submit(session, question).job.id


def settle(session: Session, job_id: str) -> None:
    leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)


def over(session: Session, url: str = URL, workspace: str | None = None) -> str:
    """End a job with a webhook; return the webhook's id."""
    job_id = asked(session, url, workspace)
    settle(session, job_id)
    webhooks.wake_finished(session, now=NOW)
    return session.scalars(select(Webhook.id).where(Webhook.job_id == job_id)).one()


def begin(session: Session, webhook_id: str, *, after: timedelta = timedelta()) -> Delivery:
    delivery = begin_due(session, webhook_id, now=NOW + after)
    assert delivery is not None
    return delivery


def row(session: Session, webhook_id: str) -> Webhook:
    return session.get_one(Webhook, webhook_id, populate_existing=True)


def fail(session: Session, webhook_id: str, ending: AttemptResult = FAILED) -> timedelta | None:
    """Record a failed attempt when due; return the delay before the next, or None."""
    now = next_at(session, webhook_id)
    assert now is not None
    delivery = begin_due(session, webhook_id, now=now)
    assert delivery is not None
    webhooks.finish(session, delivery, ending, now=now)
    following = next_at(session, webhook_id)
    return following and following - now


def states(session: Session, webhook_id: str, *, after: timedelta) -> list[AttemptState]:
    attempts = webhook_attempts.list_for_webhook(session, webhook_id)
    return [webhook_attempts.state(attempt, now=NOW + after) for attempt in attempts]


def test_a_webhook_is_not_due_before_the_job_is_finished(session: Session) -> None:
    job_id = asked(session)

    before = any_due(session, now=NOW)
    settle(session, job_id)
    after = any_due(session, now=NOW)

    assert (before, after) == (False, True)


def test_without_a_url_there_is_no_webhook(session: Session) -> None:
    settle(session, asked(session, url=None))

    assert claim_due(session, now=NOW) == []


def test_a_joined_request_can_add_another_url_and_equal_urls_are_notified_once(session: Session) -> None:
    workspace = a_workspace(session)
    for url in (URL, URL, "https://other.example/"):
        job = submit(session, a_question(workspace, webhook_url=url)).job
    settle(session, job.id)

    claimed = claim_due(session, now=NOW)

    assert len(claimed) == 2


def test_a_claimed_webhook_is_claimed_again_only_if_no_worker_began_it(session: Session) -> None:
    webhook_id = over(session)

    claimed = [
        claim_due(session, now=NOW + after)
        for after in (0 * SECOND, DELIVERING.republish_after - SECOND, DELIVERING.republish_after)
    ]

    assert claimed == [[webhook_id], [], [webhook_id]]


def test_a_workspace_with_many_due_deliveries_leaves_the_queue_to_others(session: Session) -> None:
    workspace = a_workspace(session)
    many = {over(session, f"https://slow.example/{n}", workspace) for n in range(MANY + 2)}
    other = over(session)

    first, second = (claim_due(session, now=NOW) for _ in range(2))
    begin(session, next(webhook_id for webhook_id in first if webhook_id in many))
    third = claim_due(session, now=NOW)

    assert other in first
    assert [len(claimed) for claimed in (first, second, third)] == [MANY + 1, 0, 0]


def test_an_attempt_is_logged_before_it_is_complete(session: Session) -> None:
    webhook_id = over(session)

    begin(session, webhook_id)

    assert states(session, webhook_id, after=LEASE - SECOND) == [AttemptState.RUNNING]


def test_a_duplicate_message_is_one_attempt(session: Session) -> None:
    webhook_id = over(session)
    begin(session, webhook_id)

    assert begin_due(session, webhook_id, now=NOW + LEASE - SECOND) is None


def test_of_concurrent_workers_one_begins_the_attempt(database: Database) -> None:
    with database.transaction() as session:
        webhook_id = over(session)

    def work(_number: int) -> Delivery | None:
        with database.transaction() as session:
            return begin_due(session, webhook_id, now=NOW)

    assert sum(delivery is not None for delivery in at_once(8, work)) == 1


def test_a_lost_attempt_is_logged_and_another_worker_delivers_under_the_same_id(session: Session) -> None:
    webhook_id = over(session)
    begin(session, webhook_id)

    claimed = claim_due(session, now=NOW + LEASE)
    delivery = begin(session, webhook_id, after=LEASE)
    webhooks.finish(session, delivery, TAKEN, now=NOW + LEASE)

    assert claimed == [delivery.id] == [webhook_id]
    assert states(session, webhook_id, after=LEASE) == [AttemptState.LOST, AttemptState.DELIVERED]


def test_a_worker_slower_than_its_lease_does_not_schedule_the_retry(session: Session) -> None:
    webhook_id = over(session)
    slow = begin(session, webhook_id)
    begin(session, webhook_id, after=LEASE)

    webhooks.finish(session, slow, FAILED, now=NOW + LEASE)

    item = session.get_one(WorkItem, webhook_id, populate_existing=True)
    assert (item.due_at, item.lease_until) == (NOW, NOW + 2 * LEASE)


def test_a_worker_slower_than_its_lease_still_records_success(session: Session) -> None:
    webhook_id = over(session)
    slow, fast = begin(session, webhook_id), begin(session, webhook_id, after=LEASE)

    webhooks.finish(session, slow, TAKEN, now=NOW + LEASE)
    webhooks.finish(session, fast, FAILED, now=NOW + LEASE)

    assert row(session, webhook_id).delivered_at == NOW + LEASE
    assert next_at(session, webhook_id) is None


def test_retries_follow_the_schedule_with_jitter_until_the_webhook_is_given_up(
    session: Session,
) -> None:
    webhook_id = over(session)

    pauses = [fail(session, webhook_id) for _ in RETRY_SCHEDULE]
    last = fail(session, webhook_id)

    assert all(
        0.8 * usual <= delay <= 1.2 * usual for delay, usual in zip(pauses, RETRY_SCHEDULE, strict=True)
    )
    assert pauses != list(RETRY_SCHEDULE)
    assert sum(pauses, timedelta()) > timedelta(days=1)
    assert last is None
    assert not any_due(session, now=NOW + timedelta(days=9))


def test_two_webhooks_that_fail_together_are_retried_at_different_times(session: Session) -> None:
    workspace = a_workspace(session)
    first, second = over(session, workspace=workspace), over(session, "https://other.example/", workspace)

    assert fail(session, first) != fail(session, second)


def test_lost_workers_use_up_the_attempts(session: Session) -> None:
    webhook_id = over(session)

    for number in range(len(RETRY_SCHEDULE) + 1):
        begin(session, webhook_id, after=number * LEASE)

    assert begin_due(session, webhook_id, now=NOW + timedelta(days=9)) is None


def test_a_410_response_is_not_retried(session: Session) -> None:
    webhook_id = over(session)

    delay = fail(session, webhook_id, AttemptResult(status=410, latency_ms=7))

    assert delay is None
    assert not any_due(session, now=NOW + timedelta(days=9))


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "delay"), [(600.0, timedelta(minutes=10)), (float("inf"), timedelta(days=1))]
)
def test_retry_after_is_respected_up_to_a_day(
    session: Session, status: int, retry_after: float, delay: timedelta
) -> None:
    webhook_id = over(session)

    assert (
        fail(session, webhook_id, AttemptResult(status=status, retry_after=retry_after, latency_ms=7))
        == delay
    )


@pytest.mark.parametrize(("status", "retry_after"), [(429, 0.0), (500, 600.0), (429, None)])
def test_retry_after_does_not_shorten_the_delay_and_counts_for_429_and_503_only(
    session: Session, status: int, retry_after: float | None
) -> None:
    webhook_id = over(session)

    delay = fail(session, webhook_id, AttemptResult(status=status, retry_after=retry_after, latency_ms=7))

    assert delay is not None
    assert 4 * SECOND <= delay <= 6 * SECOND


def test_a_delivery_contains_the_job_and_no_personal_data(session: Session) -> None:
    job_id = asked(session)
    settle(session, job_id)
    (webhook_id,) = claim_due(session, now=NOW)

    delivery = begin(session, webhook_id)

    assert (delivery.url, delivery.payload["type"]) == (URL, "job.finished")
    assert delivery.payload["data"]["job"]["id"] == job_id
    assert "request" not in delivery.payload["data"]["job"]
    assert Reference(delivery.secret)


def test_a_delivered_webhook_is_not_delivered_again(session: Session) -> None:
    webhook_id = over(session)

    webhooks.finish(session, begin(session, webhook_id), TAKEN, now=NOW)

    assert begin_due(session, webhook_id, now=NOW + timedelta(days=1)) is None
    assert not any_due(session, now=NOW + timedelta(days=1))


@pytest.mark.parametrize(
    ("ending", "error"),
    [(TAKEN, None), (FAILED, "http_status"), (AttemptResult(error="timeout", latency_ms=15_000), "timeout")],
)
def test_the_log_has_the_result_of_each_attempt(
    session: Session, ending: AttemptResult, error: str | None
) -> None:
    webhook_id = over(session)

    webhooks.finish(session, begin(session, webhook_id), ending, now=NOW)

    (attempt,) = webhook_attempts.list_for_webhook(session, webhook_id)
    session.refresh(attempt)
    assert (attempt.attempted_at, attempt.status, attempt.error) == (NOW, ending.status, error)
    assert attempt.latency_ms == ending.latency_ms


def test_attempts_are_deleted_after_thirty_days(session: Session) -> None:
    webhook_id = over(session)
    begin(session, webhook_id)
    begin(session, webhook_id, after=LEASE)

    webhook_attempts.purge_expired(session, now=NOW + timedelta(days=30) + SECOND)

    assert [attempt.attempted_at for attempt in webhook_attempts.list_for_webhook(session, webhook_id)] == [
        NOW + LEASE
    ]


def test_the_log_is_deleted_with_its_job(session: Session) -> None:
    begin(session, over(session))

    session.execute(delete(Job))

    assert session.scalar(select(func.count()).select_from(WebhookAttempt)) == 0


def test_finishing_a_deleted_webhook_changes_nothing(session: Session) -> None:
    delivery = begin(session, over(session))
    session.execute(delete(Job))

    webhooks.finish(session, delivery, TAKEN, now=NOW)

    assert session.scalar(select(func.count()).select_from(Webhook)) == 0


def test_the_work_about_a_deleted_delivery_ends(session: Session) -> None:
    webhook_id = over(session)
    session.execute(delete(Webhook).where(Webhook.id == webhook_id))

    assert webhooks.begin(session, webhook_id, now=NOW) is None
    assert claim_due(session, now=NOW) == []


def test_a_replay_restarts_the_schedule_under_the_same_id(session: Session) -> None:
    webhook_id = over(session)
    for _ in (*RETRY_SCHEDULE, "the last"):
        fail(session, webhook_id)

    replayed = delivery_log.replay(session, [webhook_id, "whk_unknown"], now=NOW)
    claimed = claim_due(session, now=NOW)
    pauses = [fail(session, webhook_id) for _ in RETRY_SCHEDULE]

    assert replayed == claimed == [webhook_id]
    assert None not in pauses


def test_a_replay_does_not_wait_for_a_message_that_was_lost_a_moment_ago(session: Session) -> None:
    webhook_id = over(session)
    claim_due(session, now=NOW)

    delivery_log.replay(session, [webhook_id], now=NOW)

    assert claim_due(session, now=NOW) == [webhook_id]


def test_a_delivered_webhook_can_be_replayed(session: Session) -> None:
    webhook_id = over(session)
    webhooks.finish(session, begin(session, webhook_id), TAKEN, now=NOW)

    delivery_log.replay(session, [webhook_id], now=NOW)

    assert begin(session, webhook_id).id == webhook_id


def test_replaying_failures_includes_given_up_and_failing_webhooks_of_the_period(
    session: Session,
) -> None:
    workspace = a_workspace(session)
    delivered, given_up, in_vain, untried = (
        over(session, f"https://{name}.example/", workspace) for name in "abcd"
    )
    elsewhere = over(session)
    webhooks.finish(session, begin(session, delivered), TAKEN, now=NOW)
    fail(session, given_up, AttemptResult(status=410, latency_ms=7))
    fail(session, in_vain)
    fail(session, elsewhere)

    def replayed(since: timedelta) -> list[str]:
        return delivery_log.replay_failed(session, workspace_id=workspace, since=NOW + since, now=NOW)

    assert replayed(SECOND) == []
    assert replayed(0 * SECOND) == sorted([given_up, in_vain])
    assert untried not in replayed(0 * SECOND)
    assert elsewhere in delivery_log.replay_failed(session, workspace_id=None, since=NOW, now=NOW)


def test_the_latest_webhooks_are_listed_with_their_state(session: Session) -> None:
    workspace = a_workspace(session)
    delivered, given_up = over(session, "https://a.example/", workspace), over(session, URL, workspace)
    asked(session, "https://later.example/", workspace)
    webhooks.finish(session, begin(session, delivered), TAKEN, now=NOW)
    fail(session, given_up, AttemptResult(status=410, latency_ms=7))
    over(session, "https://elsewhere.example/")

    listed = delivery_log.latest(session, workspace_id=workspace, failed=False, limit=9)
    failed = delivery_log.latest(session, workspace_id=None, failed=True, limit=9)

    assert {(sight.webhook.url, sight.state) for sight in listed} == {
        ("https://later.example/", HowFar.WAITING),
        (URL, HowFar.GIVEN_UP),
        ("https://a.example/", HowFar.DELIVERED),
    }
    assert {sight.next_at for sight in listed} == {None}
    assert [sight.webhook.id for sight in failed] == [given_up]
    assert len(delivery_log.latest(session, workspace_id=None, failed=False, limit=2)) == 2


def test_each_workspace_has_a_secret_of_its_own(session: Session) -> None:
    assert (
        endpoints.workspace_secret(DIGEST_KEYS, "wks_1")
        == endpoints.workspace_secret(DIGEST_KEYS, "wks_1")
        != endpoints.workspace_secret(DIGEST_KEYS, "wks_2")
    )
    assert endpoints.workspace_secret(DIGEST_KEYS, "wks_1").startswith("whsec_")
