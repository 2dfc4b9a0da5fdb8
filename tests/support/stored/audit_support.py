"""Helpers for audit tests: a database with typical activity, and the violations that an audit finds in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bounce_support import a_refund
from jobs_support import (
    CRASHED,
    DEADLINE,
    EXPIRED,
    LEASE,
    MAX_CRASHES,
    NOW,
    a_job,
    a_question,
    a_workspace,
    claim,
    submit,
)
from sqlalchemy import text
from stored_support import a_company, a_contact, an_email, disclose

from app.domain.kinds import Kind, Outcome
from app.domain.spending import Period
from app.engine.accounts import accounts
from app.engine.audit import rule_checks
from app.engine.contacts.contacts import Contact
from app.engine.jobs import idempotency, leases, sweeper
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.leases import JobResult
from app.engine.ledger import limit_settings
from app.engine.lookups import profile_snapshots
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra.database.session import Session

STUCK_AFTER = timedelta(minutes=2)
FIELD_REQUEST = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY)


@dataclass(frozen=True)
class Days:
    """The ids of the test data: three workspaces, a contact, and jobs named after their states."""

    workspace: str
    other: str
    contact: str
    found: str
    refunded: str
    missed: str
    canceled: str
    expired: str
    running: str
    queued: str
    enriching: str
    enriched: str
    limited: str
    limit: str


def faults(session: Session, **changes: object) -> list[tuple[str, str]]:
    """Return each violation as the rule's name and the id of the row."""
    values = {"stuck_after": STUCK_AFTER, "now": NOW} | changes
    checked = rule_checks.check(session, **values)  # type: ignore[arg-type]
    return [(fault.rule, fault.id) for result in checked for fault in result.faults]


def busy_days(session: Session) -> Days:
    """Create three workspaces with paid, failed, canceled, expired, refunded, limited and open jobs."""
    workspace, other, limited = (a_workspace(session, grant=grant) for grant in (100, 5, 5))
    company = a_company(session)
    contact, bounced = a_contact(session, company), a_contact(session, company, "Bob Byron")
    an_email(session, contact, "ada@acme.com")
    bobs = an_email(session, bounced, "bob@acme.com")
    refunded = a_reveal(session, workspace, bounced)
    a_refund(session, workspace, bounced, bobs)
    missed = a_job(session, workspace, "missed")
    leases.settle(session, claim(session, missed), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    leases.fail(session, claim(session, a_job(session, workspace, "failed")), CRASHED, now=NOW)
    canceled, expired = a_job(session, workspace, "canceled"), a_job(session, other, "late")
    sweeper.cancel(session, canceled, now=NOW)
    sweeper.finish_orphaned(
        session, max_crashes=MAX_CRASHES, expired=EXPIRED, crashed=CRASHED, now=NOW + DEADLINE
    )
    running = a_job(session, workspace, "running")
    claim(session, running)
    free = a_job(session, other, "acme.com", kind=Kind.COMPANY_BY_HASH, price=0)
    idempotency.begin(session, other, "k", b"h", now=NOW)
    idempotency.finish(session, other, "k", free)
    _save(session, other)
    return Days(
        workspace=workspace,
        other=other,
        contact=contact.id,
        found=a_reveal(session, workspace, contact),
        refunded=refunded,
        missed=missed,
        canceled=canceled,
        expired=expired,
        running=running,
        queued=a_job(session, workspace, "queued"),
        enriching=an_enrichment(session, workspace, "one", over=False),
        enriched=an_enrichment(session, workspace, "two", over=True),
        limited=limited,
        limit=_a_spending_limit(session, limited),
    )


def plant(session: Session, days: Days, statements: Sequence[str]) -> None:
    """Corrupt the tables with SQL statements, whose placeholders are the field names of `Days`."""
    ids = dataclasses.asdict(days)
    for statement in statements:
        session.execute(text(statement.format(**ids).replace(" index", ' "index"')))


def a_reveal(session: Session, workspace_id: str, contact: Contact) -> str:
    """Reveal the e-mails of the contact for two credits, as a worker does; return the job's id."""
    claimed = claim(session, a_job(session, workspace_id, contact.id, price=2))
    disclosed = disclose(
        session,
        workspace_id=workspace_id,
        job_id=claimed.job_id,
        contact=contact,
        field_request=FIELD_REQUEST,
        price=2,
        now=NOW,
    )
    assert disclosed is not None
    outcome = JobResult(outcome=Outcome.FOUND, charge=disclosed.charge, result={"contact_id": contact.id})
    leases.settle(session, claimed, outcome, now=NOW)
    return claimed.job_id


def an_enrichment(session: Session, workspace_id: str, about: str, *, over: bool) -> str:
    """Submit an enrichment of two people and complete the first; return its id. `over` fails the job then."""
    question = a_question(workspace_id, about, kind=Kind.ENRICHMENT_REQUEST, items=({}, {}), price=4)
    claimed = claim(session, submit(session, question).job.id)
    item = JobItem(job_id=claimed.job_id, index=0, request={}, outcome=Outcome.FOUND.value, charged=2)
    contact = a_contact(session, None, about)
    an_email(session, contact, f"{about}@acme.com")
    disclose(
        session,
        workspace_id=workspace_id,
        job_id=claimed.job_id,
        contact=contact,
        field_request=FIELD_REQUEST,
        price=2,
        now=NOW,
    )
    leases.complete_item(session, claimed, item, charge=2, lease_until=NOW + LEASE)
    if over:
        leases.fail(session, claimed, CRASHED, now=NOW)
    return claimed.job_id


def _a_spending_limit(session: Session, workspace_id: str) -> str:
    """Limit a new account, which has a finished and an open job; return the id of the limit."""
    account = accounts.create(
        session, workspace_id, email="limited@acme.com", name="Cyd", password_hash="", now=NOW
    )
    subject = limit_settings.subject(session, workspace_id, account.id)
    limit_settings.put(session, workspace_id, subject, Period.MONTH, 10, now=NOW)
    missed = a_job(session, workspace_id, "limited", account_id=account.id)
    leases.settle(session, claim(session, missed), JobResult(outcome=Outcome.NOT_FOUND), now=NOW)
    a_job(session, workspace_id, "limited and open", account_id=account.id)
    return limit_settings.in_force(session, workspace_id, now=NOW)[0].id


def _save(session: Session, workspace_id: str) -> None:
    snapshot = ProfileSnapshot(linkedin_url="https://www.linkedin.com/in/ada", captured_at=NOW)
    saved = profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_1", snapshot=snapshot, now=NOW
    )
    idempotency.begin(session, workspace_id, "s", b"h", now=NOW)
    idempotency.finish(session, workspace_id, "s", saved.profile.id)
