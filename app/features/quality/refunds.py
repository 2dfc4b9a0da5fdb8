"""Refunds the credits of a reveal whose addresses bounced, and revokes the ownership of the addresses.

A confirmed bounce is always refunded. An unconfirmed bounce is refunded at once only within the workspace's
allowance: a share of the reveals that it paid for in the last 30 days. Without this limit, a workspace could
report every address as bounced and pay for none.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, select

from app.domain import kinds
from app.domain.findings import EmailStatus
from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts import hidden_values
from app.engine.contacts.bounce_reports import BOUNCED, Feedback, FeedbackKind
from app.engine.contacts.bulk import batched
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import WITHDRAWN, Job, JobItem
from app.engine.ledger import credits, reveals
from app.engine.ledger.reveals import REFUND_WITHIN, Reveal
from app.engine.mentions import mentions
from app.engine.mentions.mention_sources import JOBS
from app.infra.database.session import Session

MIN_REFUNDS = 3
"""Unconfirmed refunds in 30 days that every workspace gets, regardless of its reveals."""
_FIELD = "email"
_READ_AT_ONCE = 500
"""The number of results in memory at the same time while addresses are removed."""
_CONFIRMED = Feedback.confirmed_at.is_not(None)
_REPORTED = Feedback.refuted_at.is_(None)


class RefundDecision(StrEnum):
    """The decision on refunding the credits of a reveal after feedback."""

    GIVEN = "given"
    PENDING = "pending"
    GIVEN_BEFORE = "given_before"
    TOO_LATE = "too_late"
    NOTHING_PAID = "nothing_paid"
    NOT_DUE = "not_due"


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limit of unconfirmed refunds, as a share of the reveals paid in 30 days; 0 disables them."""

    share: float

    def covers(self, session: Session, workspace_id: str, *, now: datetime) -> bool:
        """Return whether one more unconfirmed refund is allowed; the caller has locked the workspace."""
        if not self.share:
            return False
        refunds = _count_unconfirmed(session, workspace_id, since=now - REFUND_WITHIN)
        if refunds < MIN_REFUNDS:
            return True
        return refunds < math.floor(
            self.share * _count_paid(session, workspace_id, since=now - REFUND_WITHIN)
        )


def refund_confirmed(session: Session, feedback: Feedback, *, now: datetime) -> None:
    """Refund the reveal of a confirmed bounce, unless the contact has another address that may work."""
    if _is_refundable(session, feedback) and not _has_another(session, feedback, _CONFIRMED):
        _refund(session, feedback, now)


def refund_unconfirmed(session: Session, feedback: Feedback, allowance: Allowance, *, now: datetime) -> None:
    """Refund the reveal of an unconfirmed bounce if the allowance covers it."""
    is_due = _is_refundable(session, feedback) and not _has_another(session, feedback, _REPORTED)
    if is_due and allowance.covers(session, feedback.workspace_id, now=now):
        _refund(session, feedback, now)


def state(session: Session, feedback: Feedback) -> RefundDecision:
    """Return the current refund decision for this feedback."""
    reveal = session.get(Reveal, (feedback.workspace_id, feedback.contact_id, _FIELD))
    if feedback.kind != FeedbackKind.BOUNCE or reveal is None:
        return RefundDecision.NOT_DUE
    if feedback.refunded:
        return RefundDecision.GIVEN
    if not reveal.credits:
        return RefundDecision.NOTHING_PAID
    return _state_of_paid(session, feedback, reveal)


def _state_of_paid(session: Session, feedback: Feedback, reveal: Reveal) -> RefundDecision:
    if feedback.created_at - reveal.created_at > REFUND_WITHIN:
        return RefundDecision.TOO_LATE
    if not _is_refundable(session, feedback):
        return RefundDecision.GIVEN_BEFORE
    if feedback.refuted_at or _has_another(session, feedback, _REPORTED):
        return RefundDecision.NOT_DUE
    return RefundDecision.PENDING


def _is_refundable(session: Session, feedback: Feedback) -> bool:
    """Return whether the reveal was paid, at most 30 days before the bounce, and is not refunded yet."""
    reveal = session.get(Reveal, (feedback.workspace_id, feedback.contact_id, _FIELD), populate_existing=True)
    if reveal is None or not reveal.credits or reveal.refunded_at is not None or feedback.refunded:
        return False
    return timedelta(0) <= feedback.created_at - reveal.created_at <= REFUND_WITHIN


def _has_another(session: Session, feedback: Feedback, counts: ColumnElement[bool]) -> bool:
    """Return whether the contact has another address that may work.

    Such an address is not invalid, and has no bounce reported by the workspace that satisfies `counts`.
    """
    reported = select(Feedback.email_id).where(
        Feedback.workspace_id == feedback.workspace_id,
        Feedback.contact_id == feedback.contact_id,
        Feedback.kind == FeedbackKind.BOUNCE.value,
        counts,
    )
    query = select(Email.id).where(
        Email.contact_id == feedback.contact_id,
        Email.id != feedback.email_id,
        Email.status != EmailStatus.INVALID.value,
        Email.id.not_in(reported),
        hidden_values.is_shown(session.settings.regional_rules, Email),
    )
    return session.scalar(query.limit(1)) is not None


def _refund(session: Session, feedback: Feedback, now: datetime) -> None:
    since = feedback.created_at - REFUND_WITHIN
    paid = reveals.mark_refunded(
        session,
        workspace_id=feedback.workspace_id,
        contact_id=feedback.contact_id,
        field=_FIELD,
        since=since,
        now=now,
    )
    feedback.refunded = paid.credits
    credits.refund(session, feedback.workspace_id, paid.job_id, paid.credits, reason=BOUNCED, now=now)
    addresses = set(session.scalars(select(Email.email).where(Email.contact_id == feedback.contact_id)))
    _revoke_ownership(session, feedback.workspace_id, addresses, since=since)


def _revoke_ownership(
    session: Session, workspace_id: str, addresses: Collection[str], *, since: datetime
) -> None:
    """Remove the addresses from the results of the workspace's jobs, and exclude these from deduplication.

    `since` is the earliest time of the reveal that is refunded: jobs before it did not return its addresses.
    Only jobs that may mention the addresses are read: the locks that the caller holds do not wait for others.
    """
    are_recent = and_(Job.workspace_id == workspace_id, Job.created_at >= since)
    matcher = PersonMatcher(emails=frozenset(addresses))
    for part in batched(mentions.keys_of(session, JOBS, matcher, are_recent)):
        job_ids = [job_id for (job_id,) in part]
        _revoke_in_reveals(session, job_ids, addresses)
        _revoke_in_items(session, job_ids, addresses)
    session.flush()


def _revoke_in_reveals(session: Session, job_ids: Sequence[str], addresses: Collection[str]) -> None:
    is_reveal = (Job.id.in_(job_ids), Job.kind == kinds.revealing("email").name, Job.result.is_not(None))
    for row in _returning(session, select(Job.id, Job.result).where(*is_reveal), addresses):
        job = session.get_one(Job, row.id)
        job.result, job.request_digest = _without(job.result, addresses), secrets.token_bytes(32)


def _revoke_in_items(session: Session, job_ids: Sequence[str], addresses: Collection[str]) -> None:
    query = select(JobItem.job_id, JobItem.index, JobItem.result)
    query = query.where(JobItem.job_id.in_(job_ids), JobItem.result.is_not(None))
    for row in _returning(session, query, addresses):
        item = session.get_one(JobItem, (row.job_id, row.index))
        item.result, item.request = _without(item.result, addresses), item.request | {WITHDRAWN: True}


def _returning(
    session: Session, query: Select[*tuple[Any, ...]], addresses: Collection[str]
) -> list[Row[*tuple[Any, ...]]]:
    """Return the rows whose result has one of the addresses; the others are dropped as they are read."""
    rows = session.execute(query, execution_options={"yield_per": _READ_AT_ONCE})
    return [row for row in rows if _without(row.result, addresses) != row.result]


def _without(result: dict[str, Any] | None, addresses: Collection[str]) -> dict[str, Any] | None:
    if not result or "emails" not in result:
        return result
    return result | {"emails": [email for email in result["emails"] if email["email"] not in addresses]}


def _count_unconfirmed(session: Session, workspace_id: str, *, since: datetime) -> int:
    counted = and_(
        Feedback.workspace_id == workspace_id,
        Feedback.created_at >= since,
        Feedback.refunded > 0,
        Feedback.confirmed_at.is_(None),
    )
    return session.scalar(select(func.count()).select_from(Feedback).where(counted)) or 0


def _count_paid(session: Session, workspace_id: str, *, since: datetime) -> int:
    counted = and_(
        Reveal.workspace_id == workspace_id,
        Reveal.field == _FIELD,
        Reveal.credits > 0,
        Reveal.created_at >= since,
    )
    return session.scalar(select(func.count()).select_from(Reveal).where(counted)) or 0
