"""Pushes: a request to write contacts to a CRM, with one item per contact, which is also its receipt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, delete, func, select, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import ContactNotFound, FieldError, NotFound, ValidationFailed
from app.domain.ids import new_id
from app.engine.accounts.workspaces import foreign_key
from app.engine.audit_log import entries as audit_log
from app.features.crm import connections, people
from app.features.crm.connections import ACTIVE, CrmConnection
from app.features.crm.vendors import registry
from app.infra.database import database_clock
from app.infra.database.bulk_statements import insert_all
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

MAX_LIST = 10_000
_COMPANY_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_OPEN = text("outcome IS NULL")


class PushOutcome(StrEnum):
    """The outcome of an item; outcomes of a preview begin with `would_`."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    WOULD_CREATE = "would_create"
    WOULD_UPDATE = "would_update"
    SKIPPED = "skipped"
    FAILED = "failed"


class CrmPush(Base):
    """A request of an account; `origin` is the address of this service, for links in the CRM.

    `company_id` is the company's record in the CRM if the request names one. With `updates_only`, only
    records whose ids are known are written, also of people without an address.
    """

    __tablename__ = "crm_pushes"
    __table_args__ = (Index("ix_crm_pushes_workspace_id_id", "workspace_id", "id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    connection_id: Mapped[str] = mapped_column(
        ForeignKey("crm_connections.id", ondelete="CASCADE"), index=True
    )
    account_id: Mapped[str]
    origin: Mapped[str]
    dry_run: Mapped[bool]
    company_id: Mapped[str | None]
    updates_only: Mapped[bool]
    created_at: Mapped[datetime]


class PushItem(Base):
    """The push of one contact; `next_at` is the time of the next attempt while `outcome` is null.

    `error` is a code. `actions` has the action by property, `notes` what was done otherwise than asked; both
    without values. `companies` are the records of companies in the CRM among which there is a choice.
    `marks` are codes of what is outdated in the record; null if the push does not say it. `marks_only` states
    that nothing else is written.
    """

    __tablename__ = "crm_push_items"
    __table_args__ = (
        UniqueConstraint("push_id", "contact_id"),
        Index(
            "ix_crm_push_items_connection_id_next_at",
            "connection_id",
            "next_at",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    push_id: Mapped[str] = mapped_column(ForeignKey("crm_pushes.id", ondelete="CASCADE"))
    connection_id: Mapped[str] = mapped_column(ForeignKey("crm_connections.id", ondelete="CASCADE"))
    contact_id: Mapped[str] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"), index=True)
    next_at: Mapped[datetime]
    attempts: Mapped[int]
    outcome: Mapped[str | None]
    error: Mapped[str | None]
    actions: Mapped[dict[str, Any]]
    notes: Mapped[list[Any] | None]
    companies: Mapped[list[Any] | None]
    marks: Mapped[list[Any] | None]
    marks_only: Mapped[bool]
    finished_at: Mapped[datetime | None]
    latency_ms: Mapped[int | None]


@dataclass(frozen=True, slots=True)
class PushSummary:
    """A push with the name of its vendor, and the number of its items by outcome, None for open ones."""

    push: CrmPush
    vendor: str
    counts: Mapping[str | None, int]

    @property
    def total(self) -> int:
        """Return the number of items; items of erased people are gone."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Return the number of items that have an outcome."""
        return self.total - self.counts.get(None, 0)

    @property
    def status(self) -> str:
        """Return `waiting`, `running` or `finished`."""
        if self.done == self.total:
            return "finished"
        return "running" if self.done else "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    """How contacts are pushed; see `CrmPush`."""

    dry_run: bool = False
    company_id: str | None = None
    updates_only: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """Codes of what is outdated in the records of contacts; nothing else is written of those in `alone`."""

    of: Mapping[str, Sequence[str]]
    alone: Collection[str]


NO_MARKS = Marks({}, ())


def submit(
    session: Session,
    connection: CrmConnection,
    contact_ids: Iterable[str],
    *,
    account_id: str,
    origin: str,
    options: PushOptions,
    marks: Marks = NO_MARKS,
    now: Moment,
) -> CrmPush:
    """Insert a push of these contacts and make the connection due; the connection must be locked.

    Raises:
        ContactNotFound: a contact may not be pushed, though more than its marks is to be written.
        ValidationFailed: a company is named for several contacts, or the CRM has none.

    """
    ids = list(dict.fromkeys(contact_ids))
    if options.company_id is not None:
        _check_company(connection, options.company_id, ids)
    whole = [contact_id for contact_id in ids if contact_id not in marks.alone]
    if not people.pushable(session, connection.workspace_id, whole).issuperset(whole):
        raise ContactNotFound(
            "A contact does not exist, or the workspace has neither revealed nor saved it. Reveal it first."
        )
    at = database_clock.value(session, now)
    push = CrmPush(
        id=new_id("psh"),
        workspace_id=connection.workspace_id,
        connection_id=connection.id,
        account_id=account_id,
        origin=origin,
        **asdict(options),
        created_at=at,
    )
    session.add(push)
    session.flush()
    if connection.status in ACTIVE:
        connections.wake(session, connection, now=at)
    item = {"push_id": push.id, "connection_id": connection.id, "next_at": at, "attempts": 0, "actions": {}}
    insert_all(
        session,
        PushItem,
        [
            {
                **item,
                "id": new_id("psi"),
                "contact_id": contact_id,
                "marks": marks.of.get(contact_id),
                "marks_only": contact_id in marks.alone,
            }
            for contact_id in ids
        ],
    )
    if not options.dry_run:
        audit_log.record(session, Action.CRM_PUSH, object_id=push.id, workspace_id=push.workspace_id)
    return push


def _check_company(connection: CrmConnection, company_id: str, contact_ids: Sequence[str]) -> None:
    if len(contact_ids) != 1:
        detail = "A company can be named for one contact at a time."
    elif registry.NAMED[connection.vendor].company_property is None:
        detail = "This CRM has the company as a text, without a record that could be named."
    elif not _COMPANY_ID.fullmatch(company_id):
        detail = "Must be the id of a company in the CRM, as the preview shows it."
    else:
        return
    raise ValidationFailed(errors=(FieldError("/company_id", detail),))


def get(session: Session, workspace_id: str, push_id: str) -> PushSummary:
    """Return the workspace's push."""
    push = session.get(CrmPush, push_id)
    if push is None or push.workspace_id != workspace_id:
        raise NotFound("The workspace has no such push. List them with GET /api/crm/pushes.")
    return _summaries(session, [push])[0]


def latest(
    session: Session,
    workspace_id: str,
    *,
    contact_id: str | None = None,
    before: str | None = None,
    limit: int,
) -> list[PushSummary]:
    """Return the workspace's pushes, newest first, optionally only the pushes of one contact."""
    query = select(CrmPush).where(CrmPush.workspace_id == workspace_id).order_by(CrmPush.id.desc())
    if before is not None:
        query = query.where(CrmPush.id < before)
    if contact_id is not None:
        query = query.where(CrmPush.id.in_(select(PushItem.push_id).where(PushItem.contact_id == contact_id)))
    return _summaries(session, session.scalars(query.limit(limit)).all())


def items(session: Session, push_id: str, *, after: str | None = None, limit: int) -> list[PushItem]:
    """Return the items of a push in their order."""
    query = select(PushItem).where(PushItem.push_id == push_id).order_by(PushItem.id).limit(limit)
    return list(session.scalars(query if after is None else query.where(PushItem.id > after)))


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete pushes that were made before this time; what recognizes the values in the CRM is kept."""
    is_open = select(PushItem.push_id).where(PushItem.outcome.is_(None))
    session.execute(delete(CrmPush).where(CrmPush.created_at < before, CrmPush.id.not_in(is_open)))


def _summaries(session: Session, found: Sequence[CrmPush]) -> list[PushSummary]:
    ids = [push.id for push in found]
    counts: dict[str, Counter[str | None]] = {push_id: Counter() for push_id in ids}
    grouped = select(PushItem.push_id, PushItem.outcome, func.count()).where(PushItem.push_id.in_(ids))
    for push_id, outcome, count in session.execute(grouped.group_by(PushItem.push_id, PushItem.outcome)):
        counts[push_id][outcome] = count
    connections = select(CrmConnection.id, CrmConnection.vendor).where(
        CrmConnection.id.in_({push.connection_id for push in found})
    )
    vendors = {row.id: row.vendor for row in session.execute(connections)}
    return [PushSummary(push, vendors[push.connection_id], counts[push.id]) for push in found]
