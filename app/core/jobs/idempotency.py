"""Idempotency keys: what a workspace's key stood for the first time, so that a replay gets the same thing."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import foreign_key
from app.domain.errors import IdempotencyKeyReused
from app.infra.database_clock import Moment
from app.infra.db import Base, insert
from app.settings import load

RETENTION = timedelta(days=7)


class IdempotencyKey(Base):
    """A key of a workspace, the 32-byte digest of its request, and the id of the job or record it made."""

    __tablename__ = "idempotency_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_hash: Mapped[bytes]
    reference: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(index=True)


def digest(path: str, body: dict[str, Any]) -> bytes:
    """Give the 32 bytes that two requests share only if they ask the same of the same endpoint.

    They are keyed: a request names people, and who has the rows could otherwise try whom.
    """
    message = f"request\0{path}\n{json.dumps(body, sort_keys=True)}".encode()
    return hmac.digest(load().secret_key.encode(), message, hashlib.sha256)


def begin(session: Session, workspace_id: str, key: str, request_hash: bytes, *, now: Moment) -> str | None:
    """Take the key for this request; give the reference it already stands for, if it is a replay.

    A second request with the same key waits here until the first one's transaction is over. If that one
    was refused, it left nothing behind and this one goes on as the first.

    Raises:
        IdempotencyKeyReused: the key came before with another request.

    """
    taken = session.execute(
        insert(session, IdempotencyKey)
        .values(workspace_id=workspace_id, key=key, request_hash=request_hash, reference=None, created_at=now)
        .on_conflict_do_nothing()
        .returning(IdempotencyKey.key)
    ).first()
    if taken is not None:
        return None
    known = session.get_one(IdempotencyKey, (workspace_id, key))
    if known.request_hash != request_hash:
        raise IdempotencyKeyReused
    return known.reference


def finish(session: Session, workspace_id: str, key: str, reference: str) -> None:
    """Write down what the key stands for, in the transaction that made it."""
    session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.workspace_id == workspace_id, IdempotencyKey.key == key)
        .values(reference=reference)
    )


def purge_expired(session: Session, *, now: Moment) -> None:
    """Drop keys that are older than they need be kept."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - RETENTION))
