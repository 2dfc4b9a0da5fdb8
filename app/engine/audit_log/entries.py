"""The entries of the audit log: recorded in the transaction of the action, and sealed within seconds.

An entry is first a `PendingEntry`, so that actions do not wait for each other. `app.engine.audit_log.sealing`
moves it to the log, where it gets its position and its hash and is never changed. Entries name people and
accounts by their ids only.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, cast

from sqlalchemy import BigInteger, Index, Integer, String, Table, column, select, table, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action, Actor, Outcome
from app.engine.audit_log import triggers
from app.infra.database import database_clock
from app.infra.database.db import Base
from app.infra.database.session import Session

BACKUP_CREATED = text("action = 'command.backup.create' AND outcome = 'succeeded'")
"""The condition of the entries about created backups, as their index has it."""
_COUNTER = BigInteger().with_variant(Integer(), "sqlite")


class _Fields:
    """What both tables hold of an entry. `network` is a keyed digest of a sign-in's network, in hexadecimal.

    `object_id` is the id of what the action was about. `reason` is a code, such as why a sign-in was refused,
    or the purpose of a reveal, and `request_id` the id of the HTTP request, or of the job that revealed
    something.
    """

    occurred_at: Mapped[datetime]
    actor_kind: Mapped[str]
    actor_id: Mapped[str | None]
    action: Mapped[str]
    object_id: Mapped[str | None]
    workspace_id: Mapped[str | None] = mapped_column(String(28))
    reason: Mapped[str | None]
    request_id: Mapped[str | None]
    network: Mapped[str | None]
    outcome: Mapped[str]


class PendingEntry(_Fields, Base):
    """An entry that has no position yet. The database refuses to delete it before it is in the log."""

    __tablename__ = "audit_log_pending"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 -- SQLAlchemy reads it so

    id: Mapped[int] = mapped_column(_COUNTER, primary_key=True)


class AuditEntry(_Fields, Base):
    """An entry of the log. `hash` is the SHA-256 of the previous entry's hash and of this entry's values.

    `pending_id` is the id that the entry had before it had a position. The database refuses changes and
    deletions.
    """

    __tablename__ = "audit_log"
    __table_args__ = (
        Index("ix_audit_log_workspace_id", "workspace_id", "position"),
        Index("ix_audit_log_occurred_at", "occurred_at"),
        Index(
            "ix_audit_log_backups",
            "occurred_at",
            sqlite_where=BACKUP_CREATED,
            postgresql_where=BACKUP_CREATED,
        ),
    )

    position: Mapped[int] = mapped_column(_COUNTER, primary_key=True, autoincrement=False)
    pending_id: Mapped[int] = mapped_column(BigInteger, unique=True)
    hash: Mapped[bytes]


class PrunedSegment(Base):
    """The oldest entries that were deleted after their retention: the last one's position and hash."""

    __tablename__ = "audit_log_pruned"

    position: Mapped[int] = mapped_column(_COUNTER, primary_key=True, autoincrement=False)
    hash: Mapped[bytes]
    pruned_at: Mapped[datetime]


FIELDS = (
    "occurred_at",
    "actor_kind",
    "actor_id",
    "action",
    "object_id",
    "workspace_id",
    "reason",
    "request_id",
    "network",
    "outcome",
)
"""The columns that both tables share, in the order in which they are hashed."""
_PENDING = cast("Table", PendingEntry.__table__)
# A partial definition: accounts import this module, not the other way round.
_ACCOUNTS = table("accounts", column("id", String), column("workspace_id", String))

triggers.register(Base.metadata)


def record(
    session: Session,
    action: Action | str,
    *,
    object_id: str | None = None,
    workspace_id: str | None = None,
    reason: str | None = None,
    network: str | None = None,
    outcome: Outcome = Outcome.SUCCEEDED,
    actor: Actor | None = None,
) -> None:
    """Insert an entry in this transaction, by default for the actor of the session."""
    values = _values(session, action, actor) | {"workspace_id": workspace_id, "reason": reason}
    values |= {"object_id": object_id, "network": network, "outcome": outcome.value}
    session.execute(_PENDING.insert().values(values))


def record_each(
    session: Session, action: Action, object_ids: Collection[str], *, account_id: str | None = None
) -> None:
    """Insert an entry for each object, in the workspace of the account; without objects none."""
    values = _values(session, action, None) | {"outcome": Outcome.SUCCEEDED.value}
    if account_id is not None:
        mine = select(_ACCOUNTS.c.workspace_id).where(_ACCOUNTS.c.id == account_id)
        values["workspace_id"] = mine.scalar_subquery()
    rows = [{"object_id": object_id} for object_id in sorted(object_ids)]
    if rows:  # not in one statement, which has at most 65,535 parameters on PostgreSQL
        session.execute(_PENDING.insert().values(values), rows)


def _values(session: Session, action: Action | str, actor: Actor | None) -> dict[str, Any]:
    known = actor or session.actor
    return {
        "occurred_at": database_clock.now(),
        "actor_kind": known.kind.value,
        "actor_id": known.id,
        "action": str(action),
        "request_id": known.request_id,
    }
