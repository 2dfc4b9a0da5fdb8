"""The table of exclusions, and what admins change in it.

`exclusion_checks` searches it. A digest is keyed with SUPPRESSION_KEY and contains the workspace, so that the
digests of several workspaces are searched for at once, and equal exclusions of two do not look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Index, String, and_, bindparam, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import exclusions
from app.domain.errors import NotFound
from app.domain.exclusions import Kind, Reason
from app.domain.ids import new_id
from app.domain.messages import Message
from app.engine.accounts.workspaces import foreign_key
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import keyset
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.encrypted_columns import EncryptedText, encrypted
from app.infra.database.session import Session

UNKNOWN = Message("There is no such exclusion. GET /api/exclusions returns those of your workspace.")


class Exclusion(Base):
    """A company, an address or a profile that a workspace excludes, or a source of exclusions that it uses.

    `value` is its normal form, `digest` the 32-byte digest of its form for comparison. `created_by` is the
    account that added it.
    """

    __tablename__ = "exclusions"
    __table_args__ = (Index("ix_exclusions_workspace_id", "workspace_id", "created_at", "id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    kind: Mapped[str]
    digest: Mapped[bytes] = mapped_column(unique=True)
    value: Mapped[str] = mapped_column(EncryptedText("exclusions.value"))
    reason: Mapped[str]
    note: Mapped[str | None] = mapped_column(EncryptedText("exclusions.note"))
    created_by: Mapped[str]
    created_at: Mapped[datetime]


class Entry(NamedTuple):
    """What is to be excluded; `value` is in normal form."""

    kind: Kind
    value: str
    reason: Reason
    note: str | None = None


def latest_of(workspace_id: ColumnElement[str]) -> ColumnElement[datetime]:
    """Return when the workspace last added an exclusion that it still has, or NULL."""
    of_workspace = Exclusion.workspace_id == workspace_id
    return select(func.max(Exclusion.created_at)).where(of_workspace).scalar_subquery()


LATEST = latest_of(bindparam("workspace_id", type_=String()))


def digest(keys: DigestKeys, workspace_id: str, kind: str, value: str) -> bytes:
    """Return the 32-byte digest with which the workspace excludes a value in normal form."""
    _, text = exclusions.form(kind, value)
    return keys.suppression_digest(f"{kind} excluded by {workspace_id}", text)


def source_digest(keys: DigestKeys, workspace_id: str, source: str) -> bytes:
    """Return the 32-byte digest of the row of a workspace that uses a source of exclusions."""
    return keys.suppression_digest(f"{source} used by {workspace_id}", "")


def use_source(session: Session, workspace_id: str, source: str, *, created_by: str, now: Moment) -> None:
    """Insert the row that says that the workspace uses a source of exclusions, unless it has it.

    It is a row of this table, so that the statement that searches for exclusions finds it as well.
    """
    exclusion_id = new_id("exc")
    row = {
        "id": exclusion_id,
        "workspace_id": workspace_id,
        "kind": source,
        "digest": source_digest(session.keys, workspace_id, source),
        "value": encrypted(session, Exclusion.value, exclusion_id, source),
        "reason": source,
        "created_by": created_by,
    }
    session.execute(insert(session, Exclusion).values(created_at=now, **row).on_conflict_do_nothing())


def leave_source(session: Session, workspace_id: str, source: str) -> None:
    """Delete the row that says that the workspace uses a source of exclusions."""
    session.execute(delete(Exclusion).where(Exclusion.workspace_id == workspace_id, Exclusion.kind == source))


def add(
    session: Session, workspace_id: str, entries: Sequence[Entry], *, created_by: str, now: Moment
) -> list[str]:
    """Insert the entries that the workspace does not have yet; return the ids of the new ones.

    What it has stays as it is, with its reason; of equal entries the first counts.
    """
    by_digest = {
        digest(session.keys, workspace_id, entry.kind.value, entry.value): entry for entry in entries[::-1]
    }
    if not by_digest:
        return []
    shared = {"workspace_id": workspace_id, "created_by": created_by}
    # In one order, so that each of two transactions waits for the other at most once.
    rows = [_row(session, by_digest[key]) | shared | {"digest": key} for key in sorted(by_digest)]
    statement = insert(session, Exclusion).values(created_at=now).on_conflict_do_nothing()
    return list(session.scalars(statement.returning(Exclusion.id), rows))


def _row(session: Session, entry: Entry) -> dict[str, Any]:
    """Return the columns of a new exclusion that depend on the entry, but for the digest."""
    exclusion_id = new_id("exc")
    return {
        "id": exclusion_id,
        "kind": entry.kind.value,
        "value": encrypted(session, Exclusion.value, exclusion_id, entry.value),
        "reason": entry.reason.value,
        "note": encrypted(session, Exclusion.note, exclusion_id, entry.note),
    }


def remove(session: Session, workspace_id: str, exclusion_id: str) -> None:
    """Delete an exclusion of the workspace.

    Raises:
        NotFound: the workspace has no such exclusion.

    """
    own = (Exclusion.id == exclusion_id, _is_listed(workspace_id))
    removed = session.scalar(delete(Exclusion).where(*own).returning(Exclusion.id))
    if removed is None:
        raise NotFound(UNKNOWN)


def count(session: Session, workspace_id: str) -> int:
    """Return how many exclusions the workspace has."""
    return session.scalars(select(func.count()).select_from(Exclusion).where(_is_listed(workspace_id))).one()


def page(session: Session, workspace_id: str, *, before: str | None, limit: int) -> Sequence[Exclusion]:
    """Return exclusions of the workspace, newest first; `before` is the last id of the page before."""
    own = _is_listed(workspace_id)
    query = select(Exclusion).where(own)
    if before is not None:
        query = query.where(keyset.is_older(Exclusion, before, own))
    return session.scalars(
        query.order_by(Exclusion.created_at.desc(), Exclusion.id.desc()).limit(limit)
    ).all()


def _is_listed(workspace_id: str) -> ColumnElement[bool]:
    """Return the condition of the workspace's own entries."""
    return and_(Exclusion.workspace_id == workspace_id, Exclusion.kind.in_([kind.value for kind in Kind]))
