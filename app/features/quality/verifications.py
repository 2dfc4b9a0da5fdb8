"""Records the verdicts of verified addresses, and when an address without one is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.normal.emails import email_reasons
from app.engine.contacts import contact_locks
from app.engine.contacts.bounce_reports import BOUNCED
from app.engine.contacts.emails import FORMER, Email, at_most_risky
from app.engine.ledger import reveals
from app.features.quality.tables import Verification
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert
from app.infra.database.session import Session

UNKNOWN_RETRY_INTERVAL = timedelta(days=7)
"""The delay before an address without a definitive verdict is tried again."""


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
    plan(session, [email_id], now, next_at=poll_at, provider=provider, ticket=ticket)
    contact_id = select(Email.contact_id).where(Email.id == email_id).scalar_subquery()
    reveals.verify_by(session, contact_id, poll_at)


def give_up(session: Session, email_id: str, *, now: Moment) -> None:
    """Postpone the address without a verdict; its stored status does not change."""
    plan(session, [email_id], now, next_at=now + UNKNOWN_RETRY_INTERVAL, provider=None, ticket=None)


def plan(session: Session, email_ids: Sequence[str], now: Moment, **changes: Any) -> None:
    """Upsert the schedules. Existing rows change in these columns only; deleted addresses are skipped."""
    if not email_ids:
        return
    existing_ids = session.scalars(select(Email.id).where(Email.id.in_(email_ids))).all()
    if existing_ids:
        changes["planned_at"] = now
        new_row = {"provider": None, "ticket": None} | changes
        session.execute(
            insert(session, Verification)
            .values([{"email_id": email_id} | new_row for email_id in existing_ids])
            .on_conflict_do_update(index_elements=["email_id"], set_=changes)
        )


def _status(row: Email, verdict: FoundEmail) -> EmailStatus:
    """Return the verdict's status, but risky for accept_all after a bounce, which it does not refute.

    The address of a former employer is risky, too: that its mailbox exists does not show whose it is now.
    """
    if FORMER in row.status_reasons:
        return EmailStatus(at_most_risky(verdict.status.value))
    is_answer = verdict.status is not EmailStatus.ACCEPT_ALL or BOUNCED not in row.status_reasons
    return verdict.status if is_answer else EmailStatus.RISKY


def _reasons(row: Email, verdict: FoundEmail) -> list[str]:
    """Return the verdict's reasons, `former`, those derived from the address, and those `valid` clears."""
    lasting = (FORMER,) if verdict.status is EmailStatus.VALID else ("guessed", BOUNCED, FORMER)
    kept_reasons = [reason for reason in row.status_reasons if reason in lasting]
    return list(dict.fromkeys((*kept_reasons, *verdict.reasons, *email_reasons(row.email))))
