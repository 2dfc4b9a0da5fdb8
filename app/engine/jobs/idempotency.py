"""Idempotency keys: maps each key of a workspace to the job or record that its first request created."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Insert, delete, select, true, update
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeEngine

from app.domain.errors import IdempotencyKeyReused
from app.engine.accounts.workspaces import foreign_key
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import Base, insert, insert_into
from app.infra.database.session import Session
from app.infra.database.statements import Statement, rows_of

RETENTION = timedelta(days=7)


class IdempotencyKey(Base):
    """A workspace's key, the 32-byte digest of its request, and the id of the job or record it created."""

    __tablename__ = "idempotency_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_hash: Mapped[bytes]
    reference: Mapped[str | None] = mapped_column(index=True)
    created_at: Mapped[datetime] = mapped_column(index=True)


class Claim(NamedTuple):
    """A key of a workspace, the digest of its request, and the id of the job that it creates."""

    workspace_id: str
    key: str
    request_hash: bytes
    reference: str


_CLAIM: dict[str, TypeEngine[Any]] = {name: IdempotencyKey.__table__.c[name].type for name in Claim._fields}


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


def claim_all(session: Session, claims: Sequence[Claim], *, now: Moment) -> frozenset[Claim]:
    """Insert the new ones of these keys, each with its reference, in one statement; return those.

    A key that another transaction inserts at the same time is waited for, as in `begin`.
    """
    if not claims:
        return frozenset()
    by_key = {(claim.workspace_id, claim.key): claim for claim in claims}  # one of each, in one order for all
    rows = [by_key[key]._asdict() for key in sorted(by_key)]
    return frozenset(by_key[key] for key in _claim_all(now).all(session, {"claims": rows}))


def release_all(session: Session, references: Sequence[str]) -> None:
    """Delete the keys that were inserted with these references."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.reference.in_(references)))


@lru_cache(maxsize=8)
def _claim_all(now: Moment) -> Statement[tuple[str, str]]:
    return Statement(tuple, lambda dialect: _insert_claims(dialect, now))


def _insert_claims(dialect: str, now: Moment) -> Insert:
    rows = rows_of(dialect, "claims", _CLAIM).c
    source = select(*rows, column(now)).where(true())  # which SQLite needs before ON CONFLICT
    insertion = insert_into(dialect, IdempotencyKey).from_select([*Claim._fields, "created_at"], source)
    return insertion.on_conflict_do_nothing().returning(IdempotencyKey.workspace_id, IdempotencyKey.key)


def finish(session: Session, workspace_id: str, key: str, reference: str) -> None:
    """Store the id that the key refers to, in the transaction that creates the job or record."""
    session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.workspace_id == workspace_id, IdempotencyKey.key == key)
        .values(reference=reference)
    )


def release(session: Session, workspace_id: str, key: str) -> None:
    """Delete a key, so that the next request with it is made anew."""
    session.execute(
        delete(IdempotencyKey).where(IdempotencyKey.workspace_id == workspace_id, IdempotencyKey.key == key)
    )


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete keys older than RETENTION."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now - RETENTION))
