from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from jobs_support import DIGEST_KEYS, NOW, a_job, a_workspace, read

from app.domain.kinds import Status, TraceOutcome
from app.domain.records.subjects import Subject
from app.engine.jobs import provider_calls
from app.engine.jobs.provider_calls import CallKey, ProviderCall, subject_digest
from app.infra.database.session import Session

ADA = Subject(full_name="Ada Lovelace", company_domain="acme.com")
QUESTION = CallKey(
    job_id="job_1",
    item=None,
    field="email",
    provider="hunter",
    subject=subject_digest(DIGEST_KEYS, "email", ("work",), ADA),
    country="GB",
)
HIT, MISS = TraceOutcome.HIT, TraceOutcome.MISS


def is_conclusive(session: Session, question: CallKey, *, days: int, fresh_days: int = 90) -> bool:
    """Return whether the provider has answered in these days, for values in the fresh ones of them."""
    since, fresh_since = NOW - timedelta(days=days), NOW - timedelta(days=fresh_days)
    return provider_calls.has_conclusive_answer(session, question, since=since, fresh_since=fresh_since)


def job(session: Session, status: Status) -> str:
    """Insert a job in this state; return its id."""
    job_id = a_job(session, a_workspace(session), f"somebody {status}")
    row = read(session, job_id)
    row.status = status.value
    row.lease_token = "t" if status is Status.RUNNING else None
    session.flush()
    return job_id


def call(
    session: Session,
    question: CallKey = QUESTION,
    outcome: TraceOutcome | None = None,
    *,
    status: str | None = "valid",
    **more: float,
) -> str:
    """Insert a call made `days` ago; with an outcome, record its reply and `cost`."""
    now = NOW - timedelta(days=more.get("days", 0))
    call_id = provider_calls.start(session, question, cost=more.get("cost", 1.0), now=now)
    if outcome is not None:
        provider_calls.record_reply(
            session,
            call_id,
            outcome=outcome,
            status=status,
            cost=more.get("cost", 1.0),
            latency_ms=12,
            reply={"outcome": outcome.value},
            now=now,
        )
    session.expire_all()
    return call_id


@pytest.mark.parametrize(
    "other",
    [
        Subject(full_name="Ada LOVELACE", company_domain="acme.com"),
        Subject(contact_id="con_1", full_name="Ada Lovelace", company_domain="acme.com"),
    ],
)
def test_the_digest_ignores_case_and_the_contact_id(other: Subject) -> None:
    assert subject_digest(DIGEST_KEYS, "email", ("work",), other) == QUESTION.subject


@pytest.mark.parametrize(
    ("field", "types", "subject"),
    [
        ("phone", ("work",), ADA),
        ("email", ("personal",), ADA),
        ("email", ("work",), replace(ADA, company_domain="other.com")),
        ("email", ("work",), replace(ADA, company_domain=None, company_name="Acme Ltd")),
        ("email", ("work",), replace(ADA, linkedin_url="https://www.linkedin.com/in/ada")),
        ("email", ("work",), replace(ADA, company_name="Acme")),
        ("email", ("work",), replace(ADA, first_name="Zed", last_name="Zulu")),
        ("email", ("work",), replace(ADA, full_name="Ada - Lovelace")),
        ("email", ("work",), Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com")),
        ("email", ("work",), Subject(email="ada@acme.com")),
        ("email", ("work",), Subject(phone="+12025550143")),
    ],
)
def test_the_digest_depends_on_field_types_and_values(
    field: str, types: tuple[str, ...], subject: Subject
) -> None:
    assert subject_digest(DIGEST_KEYS, field, types, subject) != QUESTION.subject


def test_the_digest_contains_no_value_of_the_person() -> None:
    assert b"ada" not in QUESTION.subject.lower()
    assert len(QUESTION.subject) == 32


@pytest.mark.parametrize("outcome", [HIT, MISS, TraceOutcome.SUPPRESSED])
def test_a_reply_is_reused_by_the_job_that_made_the_call(session: Session, outcome: TraceOutcome) -> None:
    call_id = call(session, outcome=outcome)

    found = provider_calls.find_reusable(session, QUESTION)

    assert found is not None
    assert (found.id, found.reply, found.latency_ms) == (call_id, {"outcome": outcome.value}, 12)


@pytest.mark.parametrize("outcome", [None, TraceOutcome.ERROR, TraceOutcome.RATE_LIMITED])
def test_a_call_without_a_reply_is_made_again(session: Session, outcome: TraceOutcome | None) -> None:
    call(session, outcome=outcome)

    assert provider_calls.find_reusable(session, replace(QUESTION, attempt=2)) is None


def test_a_pending_call_is_reused(session: Session) -> None:
    call_id = call(session)

    provider_calls.mark_pending(session, call_id, ticket="t-1")

    found = provider_calls.find_reusable(session, QUESTION)
    assert found is not None
    assert (found.outcome, found.ticket) == ("pending", "t-1")


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, job_id="job_2"),
        replace(QUESTION, item=0),
        replace(QUESTION, field="phone"),
        replace(QUESTION, provider="prospeo"),
        replace(QUESTION, subject=bytes(32)),
    ],
)
def test_a_reply_is_not_reused_for_another_request(session: Session, other: CallKey) -> None:
    call(session, outcome=HIT)

    assert provider_calls.find_reusable(session, other) is None


def test_a_reply_is_reused_by_its_own_item_only(session: Session) -> None:
    item = replace(QUESTION, item=3)
    call(session, item, HIT)

    assert provider_calls.find_reusable(session, item) is not None


def test_a_recent_miss_counts_for_other_jobs_too(session: Session) -> None:
    call(session, outcome=MISS, days=10)
    other = replace(QUESTION, job_id="job_2")

    assert is_conclusive(session, other, days=11)
    assert not is_conclusive(session, other, days=9)


def test_a_later_hit_supersedes_a_miss(session: Session) -> None:
    call(session, outcome=MISS, days=2)
    call(session, outcome=HIT, days=1)

    assert not is_conclusive(session, QUESTION, days=11)


@pytest.mark.parametrize(
    ("field", "status", "may_expire"),
    [
        ("email", "valid", True),
        ("email", "accept_all", False),
        ("email", "unknown", False),
        ("phone", None, True),
        ("person", None, False),
        ("company", None, False),
    ],
)
def test_a_stored_reply_is_not_bought_again_unless_a_fresher_one_is_needed(
    session: Session, field: str, status: str | None, *, may_expire: bool
) -> None:
    question = replace(QUESTION, field=field, job_id=job(session, Status.SUCCEEDED))
    call(session, question, HIT, status=status, days=2)

    assert is_conclusive(session, question, days=3)
    assert is_conclusive(session, question, days=3, fresh_days=1) is not may_expire
    assert not is_conclusive(session, question, days=1)


@pytest.mark.parametrize("status", [Status.CANCELED, Status.FAILED, Status.RUNNING])
def test_the_reply_of_a_failed_job_does_not_count_as_stored(session: Session, status: Status) -> None:
    question = replace(QUESTION, field="person", job_id=job(session, status))
    call(session, question, HIT, status=None)

    assert not is_conclusive(session, question, days=3)


@pytest.mark.parametrize(
    ("outcome", "age", "status", "expected"),
    [
        ("started", 10, Status.RUNNING, True),
        ("started", 40, Status.RUNNING, False),
        ("pending", 40, Status.QUEUED, True),
        ("pending", 700, Status.QUEUED, False),
        ("pending", 40, Status.CANCELED, False),
        ("hit", 10, Status.RUNNING, False),
    ],
)
def test_a_call_of_another_open_job_is_in_flight(
    session: Session, outcome: str, age: int, status: Status, *, expected: bool
) -> None:
    call_id = call(session, replace(QUESTION, job_id=job(session, status)))
    row = session.get_one(ProviderCall, call_id)
    row.outcome, row.asked_at = outcome, NOW - timedelta(seconds=age)
    session.flush()

    since = NOW - timedelta(seconds=600)
    assert provider_calls.is_in_flight(session, QUESTION, since=since, now=NOW) is expected


def test_a_call_of_the_job_itself_is_not_in_flight_elsewhere(session: Session) -> None:
    mine = replace(QUESTION, job_id=job(session, Status.QUEUED), item=2)
    call(session, mine)

    def on_its_way(question: CallKey) -> bool:
        return provider_calls.is_in_flight(session, question, since=NOW, now=NOW)

    assert not on_its_way(mine)
    assert on_its_way(replace(mine, item=3))


def test_a_failure_is_reused_within_its_attempt_only(session: Session) -> None:
    call_id = call(session, replace(QUESTION, attempt=2), TraceOutcome.TIMEOUT)

    again = provider_calls.find_reusable(session, replace(QUESTION, attempt=2))

    assert again is not None
    assert again.id == call_id
    assert provider_calls.find_reusable(session, replace(QUESTION, attempt=3)) is None


def test_an_opt_out_does_not_count_as_a_miss(session: Session) -> None:
    call(session, outcome=TraceOutcome.SUPPRESSED, days=2)

    assert not is_conclusive(session, QUESTION, days=3)


def test_a_failure_after_a_miss_does_not_supersede_it(session: Session) -> None:
    call(session, outcome=MISS, days=2)
    call(session, outcome=TraceOutcome.ERROR, days=1)

    assert is_conclusive(session, QUESTION, days=11)


def test_an_open_call_counts_with_its_maximum_cost(session: Session) -> None:
    call(session, outcome=HIT, cost=0.25)
    call(session, cost=10)
    call(session, outcome=HIT, cost=5, days=2)

    assert provider_calls.credits_since(session, "hunter", NOW - timedelta(days=1)) == 10.25
    assert provider_calls.credits_since(session, "prospeo", NOW - timedelta(days=1)) == 0


def test_costs_are_summed_by_job_and_item(session: Session) -> None:
    call(session, outcome=HIT, cost=2)
    call(session, replace(QUESTION, provider="prospeo"), HIT, cost=3)
    call(session, replace(QUESTION, item=1), HIT, cost=7)

    assert provider_calls.credits_for(session, "job_1", None, ["email"]) == {"hunter": 2, "prospeo": 3}
    assert provider_calls.credits_for(session, "job_1", 1, ["email", "phone"]) == {"hunter": 7}
    assert provider_calls.credits_for(session, "job_1", 1, ["phone"]) == {}


def test_the_outcome_after_verification_is_stored(session: Session) -> None:
    call_id = call(session, outcome=HIT)

    provider_calls.record_verdict(session, call_id, outcome=MISS, status=None)

    row = session.get_one(ProviderCall, call_id, populate_existing=True)
    assert (row.outcome, row.status) == ("miss", None)


def test_the_reply_is_deleted_and_the_call_stays(session: Session) -> None:
    call_id = call(session, outcome=HIT)

    provider_calls.purge_replies(session, "job_1")

    row = session.get_one(ProviderCall, call_id, populate_existing=True)
    assert (row.reply, row.ticket, row.outcome) == (None, None, "hit")


def test_old_calls_are_deleted(session: Session) -> None:
    call(session, outcome=HIT, days=200)
    call_id = call(session, outcome=HIT)

    provider_calls.purge_expired(
        session, before=NOW - timedelta(days=180), replies_before=NOW - timedelta(days=1)
    )

    assert [row.id for row in session.query(ProviderCall)] == [call_id]


def test_a_reply_left_by_a_canceled_job_is_deleted_later(session: Session) -> None:
    old, new = call(session, outcome=HIT, days=2), call(session, outcome=HIT)

    provider_calls.purge_expired(
        session, before=NOW - timedelta(days=180), replies_before=NOW - timedelta(days=1)
    )

    rows = {row.id: row.reply for row in session.query(ProviderCall)}
    assert (rows[old], rows[new]) == (None, {"outcome": "hit"})


def test_a_poll_token_left_without_a_reply_is_deleted_too(session: Session) -> None:
    old, new = call(session, days=2), call(session)
    for call_id in (old, new):
        provider_calls.mark_pending(session, call_id, ticket="t-1")

    provider_calls.purge_expired(
        session, before=NOW - timedelta(days=180), replies_before=NOW - timedelta(days=1)
    )

    session.expire_all()
    rows = {row.id: row.ticket for row in session.query(ProviderCall)}
    assert (rows[old], rows[new]) == (None, "t-1")


def test_a_call_that_was_open_when_the_job_ended_is_in_the_trace(session: Session) -> None:
    item = replace(QUESTION, item=3, provider="dropcontact")
    answered, waiting = call(session, outcome=HIT), call(session, item, cost=1.0)
    provider_calls.mark_pending(session, waiting, ticket="t-1")
    session.expire_all()

    lines = provider_calls.time_out_open(session, "job_1", now=NOW + timedelta(seconds=2))

    rows = {row.id: row.outcome for row in session.query(ProviderCall)}
    assert rows == {answered: "hit", waiting: "timeout"}
    assert lines == [
        {
            "item": 3,
            "provider": "dropcontact",
            "field": "email",
            "outcome": "timeout",
            "latency_ms": 2000,
            "cost": 1.0,
            "at": "2026-11-20T09:30:00.000Z",
        }
    ]


def test_the_trace_of_a_reveal_has_no_item(session: Session) -> None:
    call(session)

    assert ["item" in line for line in provider_calls.time_out_open(session, "job_1", now=NOW)] == [False]


def test_the_progress_of_an_open_job_has_ended_calls_and_those_in_flight(session: Session) -> None:
    call(session, replace(QUESTION, provider="hunter"), MISS, status=None, cost=0.0)
    call(session, replace(QUESTION, provider="prospeo", item=2), HIT, cost=0.5)
    waited_for = call(session, replace(QUESTION, provider="dropcontact"))
    provider_calls.mark_pending(session, waited_for, ticket="t1")
    call(session, replace(QUESTION, provider="pdl"))
    call(session, replace(QUESTION, provider="pdl", item=2))

    lines, asking = provider_calls.progress(session, "job_1", now=NOW)

    assert [(call["provider"], call["outcome"], call["cost"]) for call in lines] == [
        ("hunter", "miss", 0),
        ("prospeo", "hit", 0.5),
    ]
    assert [call.get("status") for call in lines] == [None, "valid"]
    assert [call.get("item") for call in lines] == [None, 2]
    assert asking == ["dropcontact", "pdl"]


def test_a_call_of_a_lost_worker_is_not_in_flight(session: Session) -> None:
    call(session)

    lines, asking = provider_calls.progress(session, "job_1", now=NOW + timedelta(seconds=31))

    assert (lines, asking) == ([], [])
