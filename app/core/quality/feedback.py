"""Feedback: what callers say became of an address they own.

A bounce changes only what its reporter sees, until a verification or a second workspace confirms it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from app.core.accounts import workspaces
from app.core.contacts import bounce_reports, contact_locks
from app.core.contacts.bounce_reports import IS_OPEN, Feedback, FeedbackKind
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.ledger import reveals
from app.core.ledger.reveals import Reveal
from app.core.quality import refunds
from app.core.quality.refunds import Allowance, RefundDecision
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, SourceKind
from app.domain.ids import is_id, new_id
from app.domain.normal.countries import country_of
from app.infra.db import insert

_FIELD = "email"
_VERDICTS = (EmailStatus.VALID.value, EmailStatus.INVALID.value)
"""Statuses that answer a bounce; that a host takes every address does not."""
_ANSWERED = (IS_OPEN, Email.status.in_(_VERDICTS), Email.verified_at > Feedback.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackReport:
    """What a workspace says of an address, which is in normal form."""

    workspace_id: str
    account_id: str | None
    contact_id: str
    email: str
    kind: FeedbackKind


@dataclass(frozen=True, slots=True)
class FeedbackResult:
    """Feedback as it is kept, the credits that this request gave back, and why so many."""

    feedback: Feedback
    refunded: int
    refund: RefundDecision


def record(session: Session, said: FeedbackReport, *, allowance: Allowance, now: datetime) -> FeedbackResult:
    """Write down what the workspace says of the address; the second time changes nothing.

    After a bounce the address is at best risky for this workspace, and wants verifying again. What the
    workspace paid comes back when the bounce is confirmed, or at once if the allowance covers it; then it no
    longer owns the contact's addresses.

    Raises:
        ContactNotFound: the workspace does not own the e-mails of such a contact, or this is none of them.

    """
    if not is_id(said.contact_id, "con"):
        raise ContactNotFound
    said = _where_paid(session, said)
    address = _owned_address(session, said)
    feedback_id = _add(session, said, address, now)
    if feedback_id is None:
        known = _same(session, said, address)
        refund = refunds.state(session, known)
        return FeedbackResult(
            known, 0, RefundDecision.GIVEN_BEFORE if refund is RefundDecision.GIVEN else refund
        )
    feedback = session.get_one(Feedback, feedback_id)
    if said.kind is FeedbackKind.BOUNCE:
        _record_bounce(session, feedback, address, allowance, now)
    return FeedbackResult(feedback, feedback.refunded, refunds.state(session, feedback))


def get(session: Session, workspace_id: str, feedback_id: str) -> FeedbackResult | None:
    """Return the workspace's feedback as it is now; None if it is gone with its contact."""
    query = select(Feedback).where(Feedback.id == feedback_id, Feedback.workspace_id == workspace_id)
    feedback = session.scalar(query)
    if feedback is None:
        return None
    return FeedbackResult(feedback, feedback.refunded, refunds.state(session, feedback))


def verified_since(session: Session, *, limit: int) -> Sequence[str]:
    """Return contacts with an open bounce of an address that was verified since."""
    query = select(Feedback.contact_id).join(Email, Email.id == Feedback.email_id).where(*_ANSWERED)
    return session.scalars(query.distinct().order_by(Feedback.contact_id).limit(limit)).all()


def decide(session: Session, contact_id: str, *, now: datetime) -> int:
    """Confirm or refute the contact's open bounces by the verdicts from after them; return how many.

    Raises:
        ContactNotFound: the contact is gone.

    """
    contact_locks.lock_contact(session, contact_id)
    query = (
        select(Feedback, Email.status)
        .join(Email, Email.id == Feedback.email_id)
        .where(Feedback.contact_id == contact_id, *_ANSWERED)
        .order_by(Feedback.id)
    )
    answered = session.execute(query).all()
    _lock(session, contact_id, {feedback.workspace_id for feedback, _status in answered})
    for feedback, status in answered:
        if status == EmailStatus.INVALID:
            _confirm(session, feedback, now)
        else:
            feedback.refuted_at = now
    session.flush()
    return len(answered)


def _where_paid(session: Session, said: FeedbackReport) -> FeedbackReport:
    """Return the same of the contact under which the workspace was given the address, if it owns it there."""
    owned = reveals.owned(session, said.workspace_id, [said.contact_id])
    if (said.contact_id, _FIELD) in owned.fields or (_FIELD, said.email) not in owned.values:
        return said
    contact_id = reveals.first_contact_id(session, said.workspace_id, _FIELD, said.email)
    return replace(said, contact_id=contact_id or said.contact_id)


def _owned_address(session: Session, said: FeedbackReport) -> Email:
    """Find the address, and let nobody else write the contact's addresses meanwhile.

    Who was refunded owns it no more, but may say the same again and is told what came of it.
    """
    query = (
        select(Email)
        .join(Reveal, Reveal.contact_id == Email.contact_id)
        .outerjoin(Feedback, _is_same(said))
        .where(
            Reveal.workspace_id == said.workspace_id,
            Reveal.field == _FIELD,
            Reveal.refunded_at.is_(None) | Feedback.id.is_not(None),
            Email.contact_id == said.contact_id,
            Email.email == said.email,
        )
        .execution_options(populate_existing=True)
    )
    contact_locks.lock_contact(session, said.contact_id)
    address = session.scalar(query)
    if address is None:
        raise ContactNotFound
    return address


def _add(session: Session, said: FeedbackReport, address: Email, now: datetime) -> str | None:
    """Insert the row; None if it is there already."""
    values: dict[str, Any] = {
        "id": new_id("fdb"),
        "workspace_id": said.workspace_id,
        "account_id": said.account_id,
        "contact_id": said.contact_id,
        "email_id": address.id,
        "kind": said.kind.value,
        "providers": _source_providers(address),
        "country": _country(session, address),
        "refunded": 0,
        "created_at": now,
    }
    added = insert(session, Feedback).values(**values).on_conflict_do_nothing().returning(Feedback.id)
    return session.scalar(added)


def _same(session: Session, said: FeedbackReport, address: Email) -> Feedback:
    query = select(Feedback).join(Email, Email.id == address.id).where(_is_same(said))
    return session.scalars(query).one()


def _is_same(said: FeedbackReport) -> ColumnElement[bool]:
    return and_(
        Feedback.email_id == Email.id,
        Feedback.workspace_id == said.workspace_id,
        Feedback.kind == said.kind.value,
    )


def _source_providers(address: Email) -> list[str]:
    """Give the providers that gave the address, the first first; a list somebody imported is none."""
    outside = (sight for sight in address.sources if sight["kind"] != SourceKind.IMPORT)
    return list(dict.fromkeys(sight["provider"] for sight in outside))


def _country(session: Session, address: Email) -> str | None:
    """Give where the person likely is, as the calls to providers have it."""
    contact = session.get_one(Contact, address.contact_id)
    company = session.get(Company, contact.company_id) if contact.company_id else None
    domain = company.domain if company else address.domain
    return contact.country or (company.country if company else None) or country_of(domain)


def _record_bounce(
    session: Session, feedback: Feedback, address: Email, allowance: Allowance, now: datetime
) -> None:
    """Confirm by this bounce those that others reported, and refund it as far as that can be done now."""
    others = [one for one in bounce_reports.open_bounces(session, address.id) if one.id != feedback.id]
    parties = {feedback.workspace_id, *(one.workspace_id for one in others)}
    payers = _lock(session, address.contact_id, parties)
    if address.status == EmailStatus.INVALID:
        _confirm(session, feedback, now)
    elif feedback.workspace_id in payers:
        _confirm_reports(session, [one for one in others if one.workspace_id in payers], address, now)
    if feedback.confirmed_at is None:
        refunds.refund_unconfirmed(session, feedback, allowance, now=now)
    session.flush()


def _confirm_reports(session: Session, others: Sequence[Feedback], address: Email, now: datetime) -> None:
    """Confirm the bounces that others reported before, and let everybody see the address as risky.

    The last report stays unconfirmed: of all workspaces that say so, one has paid, and no two can refund
    each other everything.
    """
    for other in others:
        _confirm(session, other, now)
    if others:
        address.reported_at = now
        address.status = bounce_reports.status_after_bounce(address.status)
        address.status_reasons = bounce_reports.reasons_with_bounce(address.status_reasons)
        contact_locks.touch(session, [address.contact_id], now)


def _confirm(session: Session, feedback: Feedback, now: datetime) -> None:
    feedback.confirmed_at = now
    session.flush()
    refunds.refund_confirmed(session, feedback, now=now)


def _lock(session: Session, contact_id: str, workspace_ids: Collection[str]) -> frozenset[str]:
    """Lock what refunds to these workspaces change; return those that paid for the contact's e-mails.

    Always reveals before workspaces, each in the order of their ids, as settling a job does.
    """
    paid = reveals.lock(session, contact_id, _FIELD, workspace_ids)
    workspaces.lock(session, workspace_ids)
    return paid
