"""Schedules the re-verification of addresses and records the verdicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, and_, delete, func, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts import contact_locks, emails, phones, suppressions
from app.core.contacts.bounce_reports import BOUNCED, IS_OPEN, Feedback
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.ledger.reveals import Reveal
from app.core.lookups import contact_data
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.emails import email_reasons
from app.domain.records.verdict_ttl import lifetime
from app.infra.database_clock import Moment
from app.infra.db import Base, insert

LEASE = timedelta(hours=1)
"""How long a claimed address is reserved for the worker that claimed it."""
UNKNOWN_RETRY_INTERVAL = timedelta(days=7)
"""The delay before an address without a definitive verdict is tried again."""


class Verification(Base):
    """The earliest time of an address's next verification, once one was attempted.

    `provider` and its `ticket` are set if the provider is to be polled then. `planned_at` is when this was
    decided: a bounce reported later does not wait for `next_at`.
    """

    __tablename__ = "verifications"

    email_id: Mapped[str] = mapped_column(ForeignKey("emails.id", ondelete="CASCADE"), primary_key=True)
    next_at: Mapped[datetime]
    planned_at: Mapped[datetime]
    provider: Mapped[str | None]
    ticket: Mapped[str | None]


@dataclass(frozen=True, slots=True)
class DueVerification:
    """An address to verify; `ticket` is set if this provider is to be polled."""

    email_id: str
    contact_id: str
    email: str
    provider: str | None
    ticket: str | None


def claim_due(
    session: Session, *, default_max_age: timedelta, now: Moment, limit: int
) -> Sequence[DueVerification]:
    """Claim owned addresses that are due: those with an unanswered bounce, then expired ones, oldest first.

    The age of an address never verified counts from `last_seen_at`. Suppressed people are skipped.
    """
    since = func.coalesce(Email.verified_at, Email.last_seen_at)
    reports = (Email.reported_at, _LAST_REPORT)
    bounced = or_(*(_is_unanswered(reported_at) for reported_at in reports))
    owned = select(Reveal.contact_id).where(Reveal.field == "email")
    query = (
        select(Email.id, Email.contact_id, Email.email, Verification.provider, Verification.ticket)
        .outerjoin(Verification, Verification.email_id == Email.id)
        .where(
            Email.contact_id.in_(owned),
            or_(bounced, _expired(since, default_max_age, now)),
            or_(
                Verification.next_at.is_(None),
                Verification.next_at <= now,
                *(
                    and_(_is_unanswered(reported_at), Verification.planned_at < reported_at)
                    for reported_at in reports
                ),
            ),
        )
        .order_by(bounced.desc(), since, Email.id)
        .limit(limit)
    )
    due = [DueVerification(*row) for row in session.execute(query)]
    suppressed_ids = _suppressed(session, {verification.contact_id for verification in due})
    claimed = [verification for verification in due if verification.contact_id not in suppressed_ids]
    _plan(session, [verification.email_id for verification in claimed], now, next_at=now + LEASE)
    _plan(
        session,
        [verification.email_id for verification in due if verification.contact_id in suppressed_ids],
        now,
        next_at=now + UNKNOWN_RETRY_INTERVAL,
    )
    return claimed


def record(session: Session, email_id: str, verdict: FoundEmail) -> bool:
    """Store status, reasons and time of the verdict; return False if the address is gone or has a newer one.

    Its `form` does not change: an address guessed from a pattern never counts as evidence for a pattern, and
    of the others only valid ones count.
    """
    contact_id = session.scalar(select(Email.contact_id).where(Email.id == email_id))
    if contact_id is None or verdict.verified_at is None:
        return False
    contact_locks.lock_contact(session, contact_id)
    session.execute(delete(Verification).where(Verification.email_id == email_id))
    row = session.get_one(Email, email_id, populate_existing=True)
    if any(
        previous is not None and previous >= verdict.verified_at
        for previous in (row.verified_at, row.reported_at)
    ):
        return False
    row.status_reasons = _reasons(row, verdict)
    row.status = _status(row, verdict).value
    row.verified_at = verdict.verified_at
    session.flush()
    contact_locks.touch(session, [contact_id], verdict.verified_at)
    return True


def schedule_poll(
    session: Session, email_id: str, *, provider: str, ticket: str, poll_at: Moment, now: Moment
) -> None:
    """Schedule a poll of the provider with its ticket."""
    _plan(session, [email_id], now, next_at=poll_at, provider=provider, ticket=ticket)


def give_up(session: Session, email_id: str, *, now: Moment) -> None:
    """Postpone the address without a verdict; its stored status does not change."""
    _plan(session, [email_id], now, next_at=now + UNKNOWN_RETRY_INTERVAL, provider=None, ticket=None)


def _plan(session: Session, email_ids: Sequence[str], now: Moment, **changes: Any) -> None:
    """Upsert the schedules. Existing rows change in these columns only; deleted addresses are skipped."""
    existing_ids = session.scalars(select(Email.id).where(Email.id.in_(email_ids))).all()
    if existing_ids:
        changes["planned_at"] = now
        new_row = {"provider": None, "ticket": None} | changes
        session.execute(
            insert(session, Verification)
            .values([{"email_id": email_id} | new_row for email_id in existing_ids])
            .on_conflict_do_update(index_elements=["email_id"], set_=changes)
        )


_LAST_REPORT = (
    select(func.max(Feedback.created_at))
    .where(Feedback.email_id == Email.id, IS_OPEN)
    .correlate(Email)
    .scalar_subquery()
)
"""The time of the latest bounce report that is neither confirmed nor refuted."""


def _is_unanswered(reported_at: ColumnElement[datetime] | Any) -> ColumnElement[bool]:  # noqa: ANN401 -- a mapped column
    """Return the condition that a bounce was reported then and the address was not verified since."""
    return and_(reported_at.is_not(None), or_(Email.verified_at.is_(None), Email.verified_at <= reported_at))


def _expired(since: ColumnElement[datetime], default_max_age: timedelta, now: Moment) -> ColumnElement[bool]:
    return or_(
        *(
            and_(Email.status == status.value, since <= now - lifetime(status, default_max_age))
            for status in EmailStatus
        )
    )


def _suppressed(session: Session, contact_ids: Collection[str]) -> frozenset[str]:
    """Return the contacts with an identifier on the suppression list."""
    people = session.scalars(select(Contact).where(Contact.id.in_(contact_ids)))
    contact_points = emails.by_contact(session, contact_ids), phones.by_contact(session, contact_ids)
    identifiers = {person.id: contact_data.stored_identifiers(person, *contact_points) for person in people}
    suppressed_identifiers = suppressions.suppressed(
        session, [identifier for values in identifiers.values() for identifier in values]
    )
    return frozenset(
        contact_id
        for contact_id, values in identifiers.items()
        if not suppressed_identifiers.isdisjoint(values)
    )


def _status(row: Email, verdict: FoundEmail) -> EmailStatus:
    """Return the verdict's status, but risky for accept_all after a bounce, which it does not refute."""
    is_answer = verdict.status is not EmailStatus.ACCEPT_ALL or BOUNCED not in row.status_reasons
    return verdict.status if is_answer else EmailStatus.RISKY


def _reasons(row: Email, verdict: FoundEmail) -> list[str]:
    """Return the verdict's reasons, those derived from the address, and those that only `valid` clears."""
    lasting = () if verdict.status is EmailStatus.VALID else ("guessed", BOUNCED)
    kept_reasons = [reason for reason in row.status_reasons if reason in lasting]
    return list(dict.fromkeys((*kept_reasons, *verdict.reasons, *email_reasons(row.email))))
