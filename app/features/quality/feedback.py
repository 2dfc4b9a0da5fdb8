"""Records feedback of workspaces on addresses that they own.

A bounce is visible to its reporter only, until a verification or a second workspace confirms it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, select

from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus
from app.domain.ids import new_id
from app.domain.normal.places.countries import country_of
from app.engine.accounts import workspaces
from app.engine.contacts import bounce_reports, contact_locks, emails, hidden_values
from app.engine.contacts.bounce_reports import IS_OPEN, Feedback, FeedbackKind
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.ledger import reveals
from app.engine.ledger.reveals import Reveal
from app.features.quality import refunds, reported_contacts
from app.features.quality.refunds import Allowance, RefundDecision
from app.infra.database.db import insert
from app.infra.database.session import Session

_FIELD: Literal["email"] = "email"
_VERDICTS = (EmailStatus.VALID.value, EmailStatus.INVALID.value)
"""Statuses that confirm or refute a bounce; accept_all does neither."""
_ANSWERED = (IS_OPEN, Email.status.in_(_VERDICTS), Email.verified_at > Feedback.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackReport:
    """A workspace's feedback on an address, which is normalised.

    Without a `contact_id` it is about the contact under which the workspace revealed the address.
    """

    workspace_id: str
    account_id: str | None
    contact_id: str | None = None
    email: str
    kind: FeedbackKind


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """The stored feedback, the credits refunded by this request, and the reason for the amount."""

    feedback: Feedback
    refunded: int
    refund: RefundDecision
    is_new: bool = field(default=False, compare=False)


def record(
    session: Session, report: FeedbackReport, *, allowance: Allowance, now: datetime
) -> FeedbackResult:
    """Store the workspace's feedback on the address; repeated feedback changes nothing.

    After a bounce the address is at best risky for this workspace, and due for verification. The price paid
    is refunded when the bounce is confirmed, or at once if the allowance covers it; the workspace then no
    longer owns the contact's addresses.
    """
    contact_id = reported_contacts.paid_for(
        session, report.workspace_id, _FIELD, report.email, report.contact_id
    )
    report = replace(report, contact_id=contact_id)
    address = _owned_address(session, report, contact_id)
    feedback_id = _add(session, report, address, now)
    if feedback_id is None:
        existing = _same(session, report, address)
        refund = refunds.state(session, existing)
        return FeedbackResult(
            existing, 0, RefundDecision.GIVEN_BEFORE if refund is RefundDecision.GIVEN else refund
        )
    feedback = session.get_one(Feedback, feedback_id)
    if report.kind is FeedbackKind.BOUNCE:
        _record_bounce(session, feedback, address, allowance, now)
    return FeedbackResult(feedback, feedback.refunded, refunds.state(session, feedback), is_new=True)


def get(session: Session, workspace_id: str, feedback_id: str) -> FeedbackResult | None:
    """Return the workspace's feedback with its current refund state; None if it or its contact is deleted."""
    query = select(Feedback).where(Feedback.id == feedback_id, Feedback.workspace_id == workspace_id)
    feedback = session.scalar(query)
    if feedback is None:
        return None
    return FeedbackResult(feedback, feedback.refunded, refunds.state(session, feedback))


def verified_since(session: Session, *, limit: int) -> Sequence[str]:
    """Return the ids of contacts with an open bounce of an address that was verified afterwards."""
    query = select(Feedback.contact_id).join(Email, Email.id == Feedback.email_id).where(*_ANSWERED)
    return session.scalars(query.distinct().order_by(Feedback.contact_id).limit(limit)).all()


def decide(session: Session, contact_id: str, *, now: datetime) -> int:
    """Confirm or refute the contact's open bounces by later verdicts; return how many.

    Raises:
        ContactNotFound: the contact was deleted.

    """
    contact_locks.lock_contact(session, contact_id)
    query = (
        select(Feedback, Email.status)
        .join(Email, Email.id == Feedback.email_id)
        .where(Feedback.contact_id == contact_id, *_ANSWERED)
        .order_by(Feedback.id)
    )
    rows = session.execute(query).all()
    _lock(session, contact_id, {feedback.workspace_id for feedback, _status in rows})
    for feedback, status in rows:
        if status == EmailStatus.INVALID:
            _confirm(session, feedback, now)
        else:
            feedback.refuted_at = now
    session.flush()
    return len(rows)


def _owned_address(session: Session, report: FeedbackReport, contact_id: str) -> Email:
    """Return the address, and lock the contact against concurrent changes of its addresses.

    A workspace that was refunded no longer owns the address, but may repeat its feedback to read the result.
    """
    query = (
        select(Email)
        .join(Reveal, Reveal.contact_id == Email.contact_id)
        .outerjoin(Feedback, _is_same(report))
        .where(
            Reveal.workspace_id == report.workspace_id,
            Reveal.field == _FIELD,
            Reveal.refunded_at.is_(None) | Feedback.id.is_not(None),
            Email.contact_id == contact_id,
            emails.has_address(session, [report.email]),
            hidden_values.is_shown(session.settings.regional_rules, Email),
        )
        .execution_options(populate_existing=True)
    )
    contact_locks.lock_contact(session, contact_id)
    address = session.scalar(query)
    if address is None:
        raise ContactNotFound
    return address


def _add(session: Session, report: FeedbackReport, address: Email, now: datetime) -> str | None:
    """Insert the feedback and return its id; None if it is stored already."""
    values: dict[str, Any] = {
        "id": new_id("fdb"),
        "workspace_id": report.workspace_id,
        "account_id": report.account_id,
        "contact_id": address.contact_id,
        "email_id": address.id,
        "kind": report.kind.value,
        "providers": reported_contacts.source_providers(address.sources),
        "country": _country(session, address),
        "refunded": 0,
        "created_at": now,
    }
    added = insert(session, Feedback).values(**values).on_conflict_do_nothing().returning(Feedback.id)
    return session.scalar(added)


def _same(session: Session, report: FeedbackReport, address: Email) -> Feedback:
    query = select(Feedback).join(Email, Email.id == address.id).where(_is_same(report))
    return session.scalars(query).one()


def _is_same(report: FeedbackReport) -> ColumnElement[bool]:
    return and_(
        Feedback.email_id == Email.id,
        Feedback.workspace_id == report.workspace_id,
        Feedback.kind == report.kind.value,
    )


def _country(session: Session, address: Email) -> str | None:
    """Return the likely country of the person, as used for provider calls."""
    contact = session.get_one(Contact, address.contact_id)
    company = session.get(Company, contact.company_id) if contact.company_id else None
    domain = company.domain if company else address.domain
    return contact.country or (company.country if company else None) or country_of(domain)


def _record_bounce(
    session: Session, feedback: Feedback, address: Email, allowance: Allowance, now: datetime
) -> None:
    """Confirm earlier reports of other workspaces by this bounce, and refund it if possible now."""
    others = [
        report for report in bounce_reports.open_bounces(session, address.id) if report.id != feedback.id
    ]
    parties = {feedback.workspace_id, *(report.workspace_id for report in others)}
    payers = _lock(session, address.contact_id, parties)
    reveals.verify_at_once(session, feedback.workspace_id, address.contact_id)
    if address.status == EmailStatus.INVALID:
        _confirm(session, feedback, now)
    elif feedback.workspace_id in payers:
        _confirm_reports(
            session, [report for report in others if report.workspace_id in payers], address, now
        )
    if feedback.confirmed_at is None:
        refunds.refund_unconfirmed(session, feedback, allowance, now=now)
    session.flush()


def _confirm_reports(session: Session, others: Sequence[Feedback], address: Email, now: datetime) -> None:
    """Confirm the bounces that other workspaces reported before, and mark the address as risky for everyone.

    The last report stays unconfirmed: one of the reporting workspaces remains charged, so that two
    workspaces cannot confirm each other's reports to get everything refunded.
    """
    for other in others:
        _confirm(session, other, now)
    if others:
        address.reported_at = now
        address.status = emails.at_most_risky(address.status)
        address.status_reasons = bounce_reports.reasons_with_bounce(address.status_reasons)
        contact_locks.touch(session, [address.contact_id], now)


def _confirm(session: Session, feedback: Feedback, now: datetime) -> None:
    feedback.confirmed_at = now
    session.flush()
    refunds.refund_confirmed(session, feedback, now=now)


def _lock(session: Session, contact_id: str, workspace_ids: Collection[str]) -> frozenset[str]:
    """Lock the rows that these refunds change; return the workspaces that paid for the contact's e-mails.

    Reveals are locked before workspaces, each in the order of their ids, as when a job is settled.
    """
    paid = reveals.lock(session, contact_id, _FIELD, workspace_ids)
    workspaces.lock(session, workspace_ids)
    return paid
