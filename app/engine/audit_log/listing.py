"""Lists entries of the audit log, newest first, for the pages and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select

from app.engine.audit_log.entries import FIELDS, AuditEntry
from app.infra.database.session import Session

COLUMNS = ("position", *FIELDS, "hash")
"""The columns of a file: with them, every hash can be computed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries to list; None and empty texts select all.

    `action` is an action or the first part of several, such as `reveal`. `actor` and `object` are ids.
    `since` is included, `until` is not.
    """

    workspace_id: str | None = None
    action: str = ""
    actor: str = ""
    object: str = ""
    since: datetime | None = None
    until: datetime | None = None


def page(
    session: Session, entry_filter: EntryFilter, *, before: int | None, limit: int
) -> Sequence[AuditEntry]:
    """Return the selected entries whose position is below `before`, newest first."""
    query = select(AuditEntry).order_by(AuditEntry.position.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEntry.position < before)
    if entry_filter.workspace_id is not None:
        query = query.where(AuditEntry.workspace_id == entry_filter.workspace_id)
    if action := entry_filter.action:
        parts = AuditEntry.action.startswith(f"{action}.", autoescape=True)
        query = query.where(or_(AuditEntry.action == action, parts))
    if entry_filter.actor:
        query = query.where(AuditEntry.actor_id == entry_filter.actor)
    if entry_filter.object:
        query = query.where(AuditEntry.object_id == entry_filter.object)
    if entry_filter.since is not None:
        query = query.where(AuditEntry.occurred_at >= entry_filter.since)
    if entry_filter.until is not None:
        query = query.where(AuditEntry.occurred_at < entry_filter.until)
    return session.scalars(query).all()


def row(entry: AuditEntry) -> dict[str, str]:
    """Return an entry as a row of a file; its time has microseconds, as in the hash."""
    texts = {name: getattr(entry, name) or "" for name in FIELDS[1:]}
    moment = entry.occurred_at.isoformat(timespec="microseconds")
    return {"position": str(entry.position), "occurred_at": moment, **texts, "hash": bytes(entry.hash).hex()}
