"""Tests of the reverification of expired addresses by free verifiers."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from fake_providers import FakeProvider
from jobs_support import a_workspace, set_clock
from sqlalchemy import select
from stored_support import NOW, a_contact, an_email, own
from structlog.testing import capture_logs

from app.domain.errors import Unavailable
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import Queue, TraceOutcome
from app.engine.accounts import workspaces
from app.engine.contacts import emails
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.ledger import credits
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import contact_data
from app.features.quality import feedback, verifications
from app.features.quality import work as reverification
from app.features.quality.due_verifications import LEASE
from app.features.quality.feedback import FeedbackReport
from app.features.quality.refunds import Allowance
from app.features.quality.schedule import REVERIFY
from app.features.quality.tables import Verification
from app.features.quality.verifications import UNKNOWN_RETRY_INTERVAL
from app.features.quality.work import decide_bounces, free, verify_due
from app.infra.broker import celery_app
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import worker_services
from workers.execution.worker_services import WorkerServices
from workers.providers.base import (
    Pending,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
)
from workers.resolve import provider_order

LATER = NOW + timedelta(days=400)


@pytest.fixture
def services(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    """A worker's service objects, long after ada's address, which a workspace owns, was verified."""
    set_clock(monkeypatch, lambda: LATER)
    store(database, "ada@acme.com")
    return WorkerServices(settings, database, None, None)  # type: ignore[arg-type]


def store(database: Database, email: str, **changes: Any) -> None:
    with database.transaction() as session:
        contact = a_contact(session)
        own(session, a_workspace(session), contact, "email")
        an_email(session, contact, email, **changes)


def hit(status: EmailStatus = EmailStatus.INVALID) -> ProviderResponse:
    source = Source("one", SourceKind.PROVIDER, LATER)
    found = FoundEmail(email="x@acme.com", type="work", status=status, source=source, verified_at=LATER)
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,))


MISS = ProviderResponse(outcome=TraceOutcome.MISS)


def stored(database: Database) -> tuple[str, datetime | None]:
    with database.reading() as session:
        row = session.scalars(select(Email).where(emails.has_address(session, ["ada@acme.com"]))).one()
        return row.status, row.verified_at


def plan(database: Database) -> Verification | None:
    with database.reading() as session:
        return session.scalars(select(Verification)).one_or_none()


def test_an_expired_verdict_is_renewed(services: WorkerServices) -> None:
    verifier = FakeProvider(hit())

    verify_due(services, [verifier])

    assert [(request.field, request.subject.email) for request in verifier.requests] == [
        (ProviderField.VERIFICATION, "ada@acme.com")
    ]
    assert stored(services.database) == ("invalid", LATER)
    assert plan(services.database) is None


@pytest.mark.parametrize(
    "first",
    [
        FakeProvider(MISS),
        FakeProvider(hit(EmailStatus.UNKNOWN)),
        FakeProvider(ProviderTimeout()),
        FakeProvider(LookupError()),
        FakeProvider(hit(), unavailable=TraceOutcome.UNCONFIGURED),
    ],
)
def test_the_next_verifier_is_called_after_one_without_a_verdict(
    services: WorkerServices, first: FakeProvider
) -> None:
    verify_due(services, [first, FakeProvider(hit(EmailStatus.RISKY))])

    assert stored(services.database) == ("risky", LATER)


@pytest.mark.parametrize("says", [MISS, hit(EmailStatus.UNKNOWN)])
def test_an_address_without_a_new_verdict_keeps_the_last_one_and_is_not_due_again_soon(
    services: WorkerServices, says: ProviderResponse
) -> None:
    verify_due(services, [FakeProvider(says)])

    rests = plan(services.database)
    assert stored(services.database) == ("valid", NOW)
    assert rests is not None
    assert rests.next_at == LATER + UNKNOWN_RETRY_INTERVAL


@pytest.mark.parametrize(
    "says", [ProviderTimeout(), LookupError(), ProviderResponse(outcome=TraceOutcome.RATE_LIMITED)]
)
def test_an_address_is_due_again_soon_if_no_verifier_could_be_called(
    services: WorkerServices, says: ProviderResponse | Exception
) -> None:
    verify_due(services, [FakeProvider(says)])

    rests = plan(services.database)
    assert rests is not None
    assert rests.next_at == LATER + LEASE


def test_a_pending_verification_is_polled_with_its_token(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_due(services, [FakeProvider(Pending("1.abc", after=300))])
    set_clock(monkeypatch, lambda: LATER + timedelta(seconds=300))
    other, verifier = FakeProvider(MISS, name="other"), FakeProvider(hit())

    verify_due(services, [other, verifier])

    assert [request.poll_token for request in (*other.requests, *verifier.requests)] == [None, "1.abc"]
    assert stored(services.database) == ("invalid", LATER)


def test_a_pending_verification_is_not_polled_early(services: WorkerServices) -> None:
    verifier = FakeProvider(Pending("1.abc", after=300))

    verify_due(services, [verifier])
    verify_due(services, [verifier])

    assert len(verifier.requests) == 1


def test_no_transaction_is_open_during_a_verification(services: WorkerServices) -> None:
    class Writing(FakeProvider):
        def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
            store(services.database, "meanwhile@acme.com")
            return super().call(request, seconds=seconds)

    verify_due(services, [Writing(hit())])

    assert stored(services.database) == ("invalid", LATER)


def test_an_address_that_cannot_be_verified_is_postponed_and_the_others_are_verified(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(services.database, "bob@acme.com")
    record = verifications.record

    def record_bob(session: Session, email_id: str, verdict: FoundEmail) -> bool:
        if session.get_one(Email, email_id).email == "ada@acme.com":
            raise LookupError
        return record(session, email_id, verdict)

    monkeypatch.setattr(verifications, "record", record_bob)

    verify_due(services, [FakeProvider(hit(), hit())])

    with services.database.reading() as session:
        assert set(session.scalars(select(Email.status))) == {"valid", "invalid"}
    postponed = plan(services.database)
    assert postponed is not None
    assert postponed.next_at == LATER + UNKNOWN_RETRY_INTERVAL


def test_a_run_ends_after_its_time_limit(services: WorkerServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverification, "TOTAL_SECONDS", -1.0)
    verifier = FakeProvider(hit())

    verify_due(services, [verifier])

    assert verifier.requests == []


def test_a_run_verifies_a_limited_number_of_addresses(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reverification, "MAX_ADDRESSES", 1)
    store(services.database, "bob@acme.com")
    verifier = FakeProvider(hit())

    verify_due(services, [verifier])

    assert len(verifier.requests) == 1


def test_no_address_is_leased_without_a_verifier(services: WorkerServices) -> None:
    verify_due(services, [])

    assert plan(services.database) is None


def test_an_address_is_never_logged(services: WorkerServices) -> None:
    with capture_logs() as events:
        verify_due(services, [FakeProvider(LookupError("ada@acme.com"))])

    assert {event["event"] for event in events} == {"provider failed", "addresses reverified"}
    assert not re.search(r"\bada\b", str(events))


def test_only_free_verifiers_are_called() -> None:
    paid = FakeProvider(MISS, terms=Terms(prices=MappingProxyType({ProviderField.VERIFICATION: 0.5})))
    unpriced = FakeProvider(MISS, terms=Terms(prices=MappingProxyType({ProviderField.EMAIL: 1.0})))
    verifiers: list[Provider] = [paid, unpriced]

    assert free(verifiers) == [unpriced]


def test_beat_starts_a_reverification(services: WorkerServices, monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = FakeProvider(hit())
    monkeypatch.setattr(worker_services, "_current", [services])
    monkeypatch.setattr(provider_order, "configured_order", lambda _settings, _field: (verifier,))

    celery_app.celery.tasks[REVERIFY]()

    entry = celery_app.configure(services.settings).conf.beat_schedule[REVERIFY]
    assert stored(services.database) == ("invalid", LATER)
    assert (entry["task"], entry["schedule"], entry["options"]["queue"]) == (REVERIFY, 600, Queue.UPKEEP)


@pytest.mark.parametrize(
    ("status", "refunded", "seen_as"),
    [
        (EmailStatus.INVALID, 1, "invalid"),
        (EmailStatus.VALID, 0, "valid"),
        (EmailStatus.ACCEPT_ALL, 0, "risky"),
    ],
)
def test_a_verification_after_a_bounce_decides_the_refund(
    services: WorkerServices, status: EmailStatus, refunded: int, seen_as: str
) -> None:
    workspace_id, contact = report_a_bounce(services.database, at=LATER - timedelta(minutes=1))

    verify_due(services, [FakeProvider(hit(status))])
    decide_bounces(services)
    decide_bounces(services)

    with services.database.reading() as session:
        held = contact_data.load(session, workspace_id, [contact])
        assert held.emails[contact.id][0].status == seen_as
        assert workspaces.balance(session, workspace_id).available == refunded
        assert held.owned.fields == (frozenset() if refunded else {(contact.id, "email")})


def test_a_contact_that_cannot_be_decided_delays_no_other(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided: list[str] = []

    def decide(_session: object, contact_id: str, **_now: object) -> int:
        decided.append(contact_id)
        if contact_id == "con_1":
            raise Unavailable
        return 1

    monkeypatch.setattr(feedback, "verified_since", lambda _session, **_limit: ["con_1", "con_2"])
    monkeypatch.setattr(feedback, "decide", decide)
    with capture_logs() as events:
        decide_bounces(services)

    assert decided == ["con_1", "con_2"]
    assert [event["event"] for event in events] == [
        "database unavailable, bounces of a contact are decided later",
        "bounces decided",
    ]


def report_a_bounce(database: Database, at: datetime) -> tuple[str, Contact]:
    """Charge the owner of ada's e-mails a credit, and report a bounce that is not refunded yet."""
    with database.transaction() as session:
        contact = session.scalars(select(Contact)).one()
        paid = session.scalars(select(Reveal)).one()
        paid.created_at = at
        credits.grant(session, paid.workspace_id, 1, reason="test", now=at)
        credits.hold(session, paid.workspace_id, paid.job_id, 1, now=at)
        credits.close(session, paid.workspace_id, paid.job_id, held=1, charged=1, now=at)
        before = workspaces.balance(session, paid.workspace_id).available
        credits.hold(session, paid.workspace_id, "job_rest", before, now=at)
        report = FeedbackReport(
            workspace_id=paid.workspace_id,
            account_id=None,
            contact_id=contact.id,
            email="ada@acme.com",
            kind=FeedbackKind.BOUNCE,
        )
        feedback.record(session, report, allowance=Allowance(0), now=at)
    return paid.workspace_id, contact
