"""The bearer token with which an identity provider calls: one for each workspace, shown once."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import or_, select, update

from app.domain.audit_actions import Action
from app.domain.ids import new_id
from app.engine.audit_log import entries as audit_log
from app.features.scim.tables import ScimToken
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

PREFIX = "scim_"
_SHOWN = 12
_WRITE_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made."""

    id: str
    text: str = field(repr=False)


def rotate(session: Session, workspace_id: str, *, now: Moment) -> NewToken:
    """Make the workspace's token; the earlier one stops working at once."""
    text, token_id = PREFIX + secrets.token_urlsafe(32), new_id("sct")
    existing = session.get(ScimToken, workspace_id)
    if existing is not None:
        session.delete(existing)
        session.flush()
    session.add(
        ScimToken(
            workspace_id=workspace_id,
            id=token_id,
            prefix=text[:_SHOWN],
            digest=_digest(text),
            created_at=now,
        )
    )
    session.flush()
    audit_log.record(session, Action.SCIM_TOKEN_CREATE, object_id=token_id, workspace_id=workspace_id)
    return NewToken(token_id, text)


def revoke(session: Session, workspace_id: str) -> bool:
    """Delete the workspace's token; return whether there was one."""
    token = session.get(ScimToken, workspace_id)
    if token is None:
        return False
    session.delete(token)
    audit_log.record(session, Action.SCIM_TOKEN_REVOKE, object_id=token.id, workspace_id=workspace_id)
    return True


def find(session: Session, text: str) -> ScimToken | None:
    """Return the stored token with this text."""
    return session.scalar(select(ScimToken).where(ScimToken.digest == _digest(text)))


def record_use(session: Session, token_id: str, *, now: Moment) -> None:
    """Note the time, to the minute."""
    is_old = or_(ScimToken.last_used_at.is_(None), ScimToken.last_used_at <= now - _WRITE_EVERY)
    session.execute(update(ScimToken).where(ScimToken.id == token_id, is_old).values(last_used_at=now))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
