"""Job changes: events for the workspaces that own a contact whom newer data shows at another company.

Companies that the rules of `companies` or an equal name make the same are no change. No provider is called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.event_types import EventType
from app.domain.records.merging import sortable
from app.engine.contacts.bulk import rows_in
from app.engine.contacts.companies import Company
from app.engine.contacts.stored_rows import StoredCompany
from app.engine.events import events
from app.engine.events.events import Event, NewEvent
from app.engine.ledger.reveals import Reveal
from app.infra.clock import rfc3339
from app.infra.database.session import Session

SAVED_PROFILE = "saved_profile"
"""The source kind of a profile that the workspace itself saved; `SourceKind` has the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Employer:
    """A company, stored or not; `name_key` is its normalised name."""

    company_id: str | None = None
    name_key: str | None = None
    domain: str | None = None
    linkedin_url: str | None = None

    def is_same(self, other: Employer) -> bool:
        """Return whether any identifier or the name is the same as the other company's."""
        pairs = (
            (self.company_id, other.company_id),
            (self.domain, other.domain),
            (self.linkedin_url, other.linkedin_url),
            (self.name_key, other.name_key),
        )
        return any(mine is not None and mine == theirs for mine, theirs in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A contact's change of company: the data's kind of source, and the time (`as_of`) it describes."""

    contact_id: str
    previous: Employer
    current: Employer
    source: str
    as_of: datetime


def record(session: Session, moves: Sequence[Move], *, now: datetime) -> None:
    """Record an event for each workspace that owns one of the contacts, unless it knows of the change.

    The employers of the moves need only their ids: what else is compared is read here.
    """
    if not moves:
        return
    reveals = select(Reveal.workspace_id, Reveal.contact_id).where(Reveal.refunded_at.is_(None)).distinct()
    ids = [move.contact_id for move in moves]
    owners = {tuple(row) for row in rows_in(session, reveals, Reveal.__table__.c.contact_id, ids)}
    if not owners:
        return
    owned = {contact_id for _, contact_id in owners}
    complete = with_companies(session, [move for move in moves if move.contact_id in owned])
    changes = {move.contact_id: move for move in complete if not move.current.is_same(move.previous)}
    record_for(
        session,
        [
            (workspace_id, changes[contact_id])
            for workspace_id, contact_id in sorted(owners)
            if contact_id in changes
        ],
        now=now,
    )


def record_for(session: Session, changes: Sequence[tuple[str, Move]], *, now: datetime) -> None:
    """Record an event for each pair of workspace and move, unless one told of it or of newer data."""
    known = _latest(session, {move.contact_id for _, move in changes})
    new_events = [
        _event(session, workspace_id, move, now)
        for workspace_id, move in changes
        if not _is_known(session, known.get((workspace_id, move.contact_id)), move)
    ]
    events.record_many(session, new_events, now=now)


def latest_of(session: Session, workspace_id: str, contact_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the data of the workspace's latest job change of each of these contacts, by contact id."""
    known = _latest(session, contact_ids, workspace_id=workspace_id)
    return {contact_id: event.data for (_, contact_id), event in known.items()}


def employer_of(company: StoredCompany) -> Employer:
    """Return the stored company as an employer."""
    return Employer(
        company_id=company.id,
        name_key=company.name_key,
        domain=company.domain,
        linkedin_url=company.linkedin_url,
    )


def with_companies(session: Session, moves: Sequence[Move]) -> list[Move]:
    """Return the moves with the names, domains and pages of their companies."""
    ids = [company.company_id for move in moves for company in (move.previous, move.current)]
    columns = (Company.id.label("company_id"), Company.name_key, Company.domain, Company.linkedin_url)
    rows = rows_in(session, select(*columns), Company.__table__.c.id, ids)
    employers = {row.company_id: Employer(**row._asdict()) for row in rows}
    return [
        replace(
            move,
            previous=employers.get(move.previous.company_id or "", move.previous),
            current=employers.get(move.current.company_id or "", move.current),
        )
        for move in moves
    ]


def _latest(
    session: Session, contact_ids: Iterable[str], *, workspace_id: str | None = None
) -> Mapping[tuple[str, str], Event]:
    """Return the latest job change of each workspace and contact."""
    query = select(Event).where(Event.type == EventType.CONTACT_JOB_CHANGED.value)
    if workspace_id is not None:
        query = query.where(Event.workspace_id == workspace_id)
    rows = [row for (row,) in rows_in(session, query, Event.__table__.c.contact_id, contact_ids)]
    rows.sort(key=lambda event: (event.created_at, event.id))
    return {(event.workspace_id, event.data["contact_id"]): event for event in rows}


def _event(session: Session, workspace_id: str, move: Move, now: datetime) -> NewEvent:
    return NewEvent(
        workspace_id=workspace_id,
        type_=EventType.CONTACT_JOB_CHANGED,
        data={
            "contact_id": move.contact_id,
            "from": {"company_id": move.previous.company_id, "domain": move.previous.domain},
            "to": {"company_id": move.current.company_id, "domain": move.current.domain},
            "source": move.source,
            "as_of": sortable(move.as_of),
            "detected_at": rfc3339(now),
        },
        dedup_key=f"{_prefix(move)}{sortable(move.as_of)}:{_name_digest(session, move.current)}",
        contact_id=move.contact_id,
    )


def _is_known(session: Session, event: Event | None, move: Move) -> bool:
    """Return whether the latest event reported the same company, or data newer than the move's."""
    if event is None:
        return False
    if event.data["as_of"] > sortable(move.as_of):
        return True
    reported = event.data["to"]
    named_alike = move.current.name_key is not None and event.dedup_key.endswith(
        f":{_name_digest(session, move.current)}"
    )
    return named_alike or Employer(**reported).is_same(move.current)


def _prefix(move: Move) -> str:
    return f"{EventType.CONTACT_JOB_CHANGED}:{move.contact_id}:"


def _name_digest(session: Session, employer: Employer) -> str:
    """Return a digest of the company's name, by which a later event about the same company is recognised."""
    return session.keys.digest("employer", employer.name_key or "").hex()[:16]
