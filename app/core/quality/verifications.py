"""Verifying again: which addresses are due, what came of it, and when to try the others once more."""

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
"""For how long an address that was taken is left to who took it."""
UNKNOWN_RETRY_INTERVAL = timedelta(days=7)
"""What nobody could tell this week is asked again next week."""


class Verification(Base):
    """When an address may be verified next, if somebody tried; `provider` wants to see its ticket then.

    `planned_at` is when that was decided: a bounce from after it does not wait.
    """

    __tablename__ = "verifications"

    email_id: Mapped[str] = mapped_column(ForeignKey("emails.id", ondelete="CASCADE"), primary_key=True)
    next_at: Mapped[datetime]
    planned_at: Mapped[datetime]
    provider: Mapped[str | None]
    ticket: Mapped[str | None]


@dataclass(frozen=True, slots=True)
class DueVerification:
    """An address to verify; `ticket` is for this provider, if that asked for another try."""

    email_id: str
    contact_id: str
    email: str
    provider: str | None
    ticket: str | None


def claim_due(
    session: Session, *, usual_age: timedelta, now: Moment, limit: int
) -> Sequence[DueVerification]:
    """Take addresses that somebody owns: those that bounced since, then those expired, the oldest first.

    What nobody verified counts from when it was last seen. Suppressed people are left alone.
    """
    since = func.coalesce(Email.verified_at, Email.last_seen_at)
    reports = (Email.reported_at, _LAST_REPORT)
    bounced = or_(*(_is_unanswered(at) for at in reports))
    owned = select(Reveal.contact_id).where(Reveal.field == "email")
    query = (
        select(Email.id, Email.contact_id, Email.email, Verification.provider, Verification.ticket)
        .outerjoin(Verification, Verification.email_id == Email.id)
        .where(
            Email.contact_id.in_(owned),
            or_(bounced, _expired(since, usual_age, now)),
            or_(
                Verification.next_at.is_(None),
                Verification.next_at <= now,
                *(and_(_is_unanswered(at), Verification.planned_at < at) for at in reports),
            ),
        )
        .order_by(bounced.desc(), since, Email.id)
        .limit(limit)
    )
    found = [DueVerification(*row) for row in session.execute(query)]
    hidden = _suppressed(session, {one.contact_id for one in found})
    taken = [one for one in found if one.contact_id not in hidden]
    _plan(session, [one.email_id for one in taken], now, next_at=now + LEASE)
    _plan(
        session,
        [one.email_id for one in found if one.contact_id in hidden],
        now,
        next_at=now + UNKNOWN_RETRY_INTERVAL,
    )
    return taken


def record(session: Session, email_id: str, verdict: FoundEmail) -> bool:
    """Write status, reasons and time of the verdict; False if it is gone or known better since.

    Its form stays as it is: what was guessed from a pattern teaches no pattern, however it turns out, and of
    the others only the valid ones count.
    """
    contact_id = session.scalar(select(Email.contact_id).where(Email.id == email_id))
    if contact_id is None or verdict.verified_at is None:
        return False
    contact_locks.lock_contact(session, contact_id)
    session.execute(delete(Verification).where(Verification.email_id == email_id))
    row = session.get_one(Email, email_id, populate_existing=True)
    if any(at is not None and at >= verdict.verified_at for at in (row.verified_at, row.reported_at)):
        return False
    row.status_reasons = _reasons(row, verdict)
    row.status = _status(row, verdict).value
    row.verified_at = verdict.verified_at
    session.flush()
    contact_locks.touch(session, [contact_id], verdict.verified_at)
    return True


def schedule_poll(
    session: Session, email_id: str, *, provider: str, ticket: str, until: Moment, now: Moment
) -> None:
    """Write down that the provider is to be asked again with its ticket."""
    _plan(session, [email_id], now, next_at=until, provider=provider, ticket=ticket)


def give_up(session: Session, email_id: str, *, now: Moment) -> None:
    """Write down that nobody can tell; what is known stays as it is."""
    _plan(session, [email_id], now, next_at=now + UNKNOWN_RETRY_INTERVAL, provider=None, ticket=None)


def _plan(session: Session, email_ids: Sequence[str], now: Moment, **changes: Any) -> None:
    """Write these values, and only these where there are some; nothing for addresses that are gone."""
    there = session.scalars(select(Email.id).where(Email.id.in_(email_ids))).all()
    if there:
        changes["planned_at"] = now
        first = {"provider": None, "ticket": None} | changes
        session.execute(
            insert(session, Verification)
            .values([{"email_id": one} | first for one in there])
            .on_conflict_do_update(index_elements=["email_id"], set_=changes)
        )


_LAST_REPORT = (
    select(func.max(Feedback.created_at))
    .where(Feedback.email_id == Email.id, IS_OPEN)
    .correlate(Email)
    .scalar_subquery()
)
"""When a workspace last reported a bounce that is neither confirmed nor refuted."""


def _is_unanswered(reported_at: ColumnElement[datetime] | Any) -> ColumnElement[bool]:  # noqa: ANN401 -- a mapped column
    """Return the condition that a bounce was reported then, and nobody has verified the address since."""
    return and_(reported_at.is_not(None), or_(Email.verified_at.is_(None), Email.verified_at <= reported_at))


def _expired(since: ColumnElement[datetime], usual_age: timedelta, now: Moment) -> ColumnElement[bool]:
    return or_(
        *(
            and_(Email.status == status.value, since <= now - lifetime(status, usual_age))
            for status in EmailStatus
        )
    )


def _suppressed(session: Session, contact_ids: Collection[str]) -> frozenset[str]:
    """Give those of the contacts of whom anything is on the suppression list."""
    people = session.scalars(select(Contact).where(Contact.id.in_(contact_ids)))
    known = emails.of(session, contact_ids), phones.of(session, contact_ids)
    names = {person.id: contact_data.stored_identifiers(person, *known) for person in people}
    listed = suppressions.suppressed(session, [one for several in names.values() for one in several])
    return frozenset(contact_id for contact_id, said in names.items() if not listed.isdisjoint(said))


def _status(row: Email, verdict: FoundEmail) -> EmailStatus:
    """Give the verdict's status; that a domain takes everything is no answer to a bounce."""
    is_answer = verdict.status is not EmailStatus.ACCEPT_ALL or BOUNCED not in row.status_reasons
    return verdict.status if is_answer else EmailStatus.RISKY


def _reasons(row: Email, verdict: FoundEmail) -> list[str]:
    """Give the verdict's reasons, those that the text shows, and those that only a valid mailbox answers."""
    lasting = () if verdict.status is EmailStatus.VALID else ("guessed", BOUNCED)
    known = [reason for reason in row.status_reasons if reason in lasting]
    return list(dict.fromkeys((*known, *verdict.reasons, *email_reasons(row.email))))
