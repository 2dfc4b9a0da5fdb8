"""Idempotency keys: maps each key of a workspace to the job or record that its first request created."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.errors import IdempotencyKeyReused
from app.engine.accounts.workspaces import foreign_key
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

RETENTION = timedelta(days=7)


class IdempotencyKey(Base):
    """A workspace's key, the 32-byte digest of its request, and the id of the job or record it created."""

    __tablename__ = "idempotency_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_hash: Mapped[bytes]
    reference: Mapped[str | None] = mapped_column(index=True)
    created_at: Mapped[datetime] = mapped_column(index=True)


def digest(keys: DigestKeys, path: str, body: dict[str, Any]) -> bytes:
    """Return a 32-byte digest that two requests share only if path and body are equal.

    Keyed with SECRET_KEY: an attacker holding the table could otherwise brute-force whom a request named.
    """
    return keys.digest("request", f"{path}\n{json.dumps(body, sort_keys=True)}")


def begin(session: Session, workspace_id: str, key: str, request_hash: bytes, *, now: Moment) -> str | None:
    """Insert the key for this request, or return the stored reference if the request is a replay.

    A concurrent request with the same key blocks here until the first transaction ends. If that transaction
    rolled back, the second request continues as the first.
    """
    inserted = session.execute(
        insert(session, IdempotencyKey)
        .values(workspace_id=workspace_id, key=key, request_hash=request_hash, reference=None, created_at=now)
        .on_conflict_do_nothing()
        .returning(IdempotencyKey.key)
    ).first()
    if inserted is not None:
        return None
    existing = session.get_one(IdempotencyKey, (workspace_id, key))
    if existing.request_hash != request_hash:
        raise IdempotencyKeyReused
    return existing.reference


def finish(session: Session, workspace_id: str, key: str, reference: str) -> None:
    """Store the id that the key refers to, in the transaction that creates the job or record."""
    session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.workspace_id == workspace_id, IdempotencyKey.key == key)
        .values(reference=reference)
    )


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete keys older than RETENTION."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - RETENTION))
