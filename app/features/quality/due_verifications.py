"""Claims the owned addresses that are due for verification.

Only contacts whose `Reveal.verify_at` has come are read, so that the time does not grow with the number of
owned addresses. It is at most the shortest lifetime of a verdict ahead: a new verdict that another job stores
meanwhile cannot expire before. An imported address may be claimed late by the age of its verdict at import.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Row, Table, bindparam, func, select, update

from app.domain.findings import EmailStatus
from app.domain.records.verdict_ttl import lifetime
from app.engine.contacts import emails, hidden_values, phones, switchboards
from app.engine.contacts.bounce_reports import IS_OPEN, Feedback
from app.engine.contacts.bulk import rows_in
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.ledger.reveals import AT_ONCE, OF_EMAILS, Reveal
from app.engine.lookups import contact_data
from app.features.quality import verifications
from app.features.quality.tables import Verification
from app.features.quality.verifications import UNKNOWN_RETRY_INTERVAL
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

LEASE = timedelta(hours=1)
"""How long a claimed address is reserved for the worker that claimed it."""
MAX_REVEALS = 5_000
"""Reveals read by one claim."""


@dataclass(frozen=True, slots=True)
class DueVerification:
    """An address to verify; `ticket` is set if this provider is to be polled."""

    email_id: str
    contact_id: str
    email: str
    provider: str | None
    ticket: str | None


@dataclass(frozen=True, slots=True)
class _Address:
    """An owned address: is a bounce unanswered, when was its verdict given, and when is it due."""

    verification: DueVerification
    has_bounced: bool
    since: datetime
    due_at: datetime


_LAST_REPORT = (
    select(func.max(Feedback.created_at))
    .where(Feedback.email_id == Email.id, IS_OPEN)
    .correlate(Email)
    .scalar_subquery()
)
"""The time of the latest bounce report that is neither confirmed nor refuted."""
_ADDRESSES = select(
    Email.id,
    Email.contact_id,
    Email.email.label("email"),
    Email.status,
    Email.verified_at,
    Email.last_seen_at,
    Email.reported_at,
    _LAST_REPORT.label("last_report_at"),
    Verification.next_at,
    Verification.planned_at,
    Verification.provider,
    Verification.ticket,
).outerjoin(Verification, Verification.email_id == Email.id)
_REVEALS = Reveal.__table__.c
_SET_VERIFY_AT = (
    update(cast("Table", Reveal.__table__))
    .where(
        _REVEALS.workspace_id == bindparam("_workspace_id"),
        _REVEALS.contact_id == bindparam("_contact_id"),
        OF_EMAILS,
    )
    .values(verify_at=bindparam("_verify_at"))
)


def claim(
    session: Session, *, default_max_age: timedelta, now: Moment, limit: int
) -> Sequence[DueVerification]:
    """Claim owned addresses that are due: those with an unanswered bounce, then expired ones, oldest first.

    Workspaces take turns, so that the bounces that one reports do not delay the addresses of the others. The
    age of an address never verified counts from `last_seen_at`. Suppressed people are skipped.
    """
    owners = _lock_owners(session, now)
    current = database_clock.value(session, now)
    addresses = _addresses(session, {owner.contact_id for owner in owners}, default_max_age)
    due = [address for address in addresses if address.due_at <= current]
    due.sort(key=lambda address: (not address.has_bounced, address.since, address.verification.email_id))
    chosen = [address.verification for address in _in_turns(due, owners)[:limit]]
    suppressed_ids = _suppressed(session, {verification.contact_id for verification in chosen})
    skipped = [verification for verification in chosen if verification.contact_id in suppressed_ids]
    claimed = [verification for verification in chosen if verification.contact_id not in suppressed_ids]
    planned: dict[str, datetime] = {}
    for part, pause in ((claimed, LEASE), (skipped, UNKNOWN_RETRY_INTERVAL)):
        email_ids = [verification.email_id for verification in part]
        verifications.plan(session, email_ids, now, next_at=now + pause)
        planned |= dict.fromkeys(email_ids, current + pause)
    shortest = min(lifetime(status, default_max_age) for status in EmailStatus)
    _reschedule(session, owners, _next_times(addresses, planned), latest=current + shortest)
    return claimed


def _in_turns(due: Sequence[_Address], owners: Sequence[Row[str, str, datetime]]) -> Sequence[_Address]:
    """Return the first address of each workspace, then the second of each, and so on.

    An address that several workspaces own counts for the one with the fewest before it.
    """
    owner_ids: defaultdict[str, list[str]] = defaultdict(list)
    for owner in owners:
        owner_ids[owner.contact_id].append(owner.workspace_id)
    counts: Counter[str] = Counter()
    turns: dict[str, int] = {}
    for address in due:
        workspace_id = min(owner_ids[address.verification.contact_id], key=counts.__getitem__)
        counts[workspace_id] += 1
        turns[address.verification.email_id] = counts[workspace_id]
    return sorted(due, key=lambda address: turns[address.verification.email_id])


def _lock_owners(session: Session, now: Moment) -> Sequence[Row[str, str, datetime]]:
    """Lock and return the reveals whose time has come, earliest first, but not those that others lock.

    A bounce reported meanwhile waits for the lock, so that its time is set after ours.
    """
    query = (
        select(Reveal.workspace_id, Reveal.contact_id, Reveal.verify_at)
        .where(OF_EMAILS, Reveal.verify_at <= now)
        .order_by(Reveal.verify_at)
        .limit(MAX_REVEALS)
        .with_for_update(skip_locked=True)
    )
    return session.execute(query).all()


def _addresses(
    session: Session, contact_ids: Collection[str], default_max_age: timedelta
) -> Sequence[_Address]:
    shown = _ADDRESSES.where(hidden_values.is_shown(session.settings.regional_rules, Email))
    return [
        _address(row, default_max_age)
        for row in rows_in(session, shown, Email.__table__.c.contact_id, contact_ids)
    ]


def _address(row: Row[*tuple[Any, ...]], default_max_age: timedelta) -> _Address:
    since = row.verified_at or row.last_seen_at
    reports = [
        reported_at
        for reported_at in (row.reported_at, row.last_report_at)
        if reported_at is not None and (row.verified_at is None or row.verified_at <= reported_at)
    ]
    due_at = AT_ONCE if reports else since + lifetime(EmailStatus(row.status), default_max_age)
    if row.next_at is not None and not any(row.planned_at < reported_at for reported_at in reports):
        due_at = max(due_at, row.next_at)
    verification = DueVerification(row.id, row.contact_id, row.email, row.provider, row.ticket)
    return _Address(verification, bool(reports), since, due_at)


def _next_times(addresses: Sequence[_Address], planned: Mapping[str, datetime]) -> Mapping[str, datetime]:
    """Return by contact when the first of its addresses is due; `planned` are those just claimed, by id."""
    times: dict[str, datetime] = {}
    for address in addresses:
        verification = address.verification
        due_at = planned.get(verification.email_id, address.due_at)
        times[verification.contact_id] = min(due_at, times.get(verification.contact_id, due_at))
    return times


def _reschedule(
    session: Session,
    owners: Sequence[Row[str, str, datetime]],
    times: Mapping[str, datetime],
    *,
    latest: datetime,
) -> None:
    """Store when each contact is read again: when its first address is due, at most `latest`."""
    changes = [
        {"_workspace_id": owner.workspace_id, "_contact_id": owner.contact_id, "_verify_at": verify_at}
        for owner in owners
        if (verify_at := min(times.get(owner.contact_id, latest), latest)) != owner.verify_at
    ]
    if changes:
        session.execute(_SET_VERIFY_AT, changes)


def _suppressed(session: Session, contact_ids: Collection[str]) -> frozenset[str]:
    """Return the contacts with an identifier on the suppression list."""
    people = session.scalars(select(Contact).where(Contact.id.in_(contact_ids)))
    contact_points = emails.by_contact(session, contact_ids), phones.by_contact(session, contact_ids)
    identifiers = {person.id: contact_data.stored_identifiers(person, *contact_points) for person in people}
    listed = switchboards.suppressed_people(
        session, (identifier for values in identifiers.values() for identifier in values)
    )
    return frozenset(
        contact_id for contact_id, values in identifiers.items() if not listed.isdisjoint(values)
    )
