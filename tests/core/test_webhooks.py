from __future__ import annotations

from datetime import timedelta

from jobs_support import NOW, a_question, a_workspace, claim, submit
from sqlalchemy.orm import Session
from standardwebhooks import Webhook as Reference

from app.core import leases, webhooks
from app.core.leases import Answer
from app.domain.kinds import Outcome

URL = "https://hooks.acme.example/done"


def asked(session: Session, url: str | None = URL) -> str:
    """Ask a question with a webhook; give the job's id."""
    return submit(session, a_question(a_workspace(session), webhook_url=url)).job.id


def settle(session: Session, job_id: str) -> None:
    leases.settle(session, claim(session, job_id), Answer(outcome=Outcome.NOT_FOUND), now=NOW)


def test_nobody_is_told_before_the_job_is_over(session: Session) -> None:
    job_id = asked(session)

    before = webhooks.any_due(session, now=NOW)
    settle(session, job_id)
    after = webhooks.any_due(session, now=NOW)

    assert (before, after) == (False, True)


def test_without_an_address_nobody_is_told(session: Session) -> None:
    settle(session, asked(session, url=None))

    assert webhooks.take_due(session, now=NOW) == []


def test_a_joined_question_may_bring_another_address_and_the_same_one_is_told_once(session: Session) -> None:
    workspace = a_workspace(session)
    for url in (URL, URL, "https://other.example/"):
        job = submit(session, a_question(workspace, webhook_url=url)).job
    settle(session, job.id)

    taken = webhooks.take_due(session, now=NOW)

    assert len(taken) == 2


def test_what_is_taken_waits_longer_and_longer_and_is_given_up_after_more_than_a_day(
    session: Session,
) -> None:
    settle(session, asked(session))
    now, tries = NOW, []

    for pause in (*webhooks.PAUSES, timedelta(days=9)):
        tries += webhooks.take_due(session, now=now)
        assert webhooks.take_due(session, now=now + pause - timedelta(seconds=1)) == []
        now += pause

    assert len(tries) == len(webhooks.PAUSES) + 1
    assert len(set(tries)) == 1
    assert now - NOW > timedelta(days=1)
    assert not webhooks.any_due(session, now=now)


def test_a_delivery_says_what_is_over_and_names_nobody(session: Session) -> None:
    job_id = asked(session)
    settle(session, job_id)
    (webhook_id,) = webhooks.take_due(session, now=NOW)

    delivery = webhooks.delivery(session, webhook_id)

    assert delivery is not None
    assert (delivery.url, delivery.payload["type"]) == (URL, "job.finished")
    assert delivery.payload["data"]["job"]["id"] == job_id
    assert "request" not in delivery.payload["data"]["job"]
    assert Reference(delivery.secret)


def test_what_was_delivered_is_not_delivered_again(session: Session) -> None:
    settle(session, asked(session))
    (webhook_id,) = webhooks.take_due(session, now=NOW)

    webhooks.delivered(session, webhook_id, now=NOW)

    assert webhooks.delivery(session, webhook_id) is None
    assert not webhooks.any_due(session, now=NOW + timedelta(days=1))


def test_each_workspace_has_a_secret_of_its_own(session: Session) -> None:
    assert webhooks.secret("wks_1") == webhooks.secret("wks_1") != webhooks.secret("wks_2")
    assert webhooks.secret("wks_1").startswith("whsec_")
