"""The bearer token with which an identity provider calls: one for each workspace, shown once.

It is the workspace's, and stays when the admin who made it leaves: with it would end the provisioning that
disables leavers. The page, the API and `flask doctor` name such a maker.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Row, or_, select, update

from app.domain.audit_actions import Action
from app.domain.ids import new_id
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
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


@dataclass(frozen=True, slots=True)
class Maker:
    """The account that made a token, and whether it still is an admin who may sign in."""

    id: str
    name: str
    is_admin: bool


def rotate(session: Session, workspace_id: str, *, by: str | None = None, now: Moment) -> NewToken:
    """Make the workspace's token, by this account or a command; the earlier one stops working at once."""
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
            created_by=by,
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


def maker(session: Session, token: ScimToken) -> Maker | None:
    """Return who made the token; None if it was an operator's command."""
    account = session.get(Account, token.created_by) if token.created_by else None
    if account is None:
        return None
    return Maker(account.id, account.name, account.role == Role.ADMIN and account.disabled_at is None)


def of_former_admins(session: Session) -> Sequence[Row[str, str, str]]:
    """Return the workspaces (id, name) whose tokens an account (name) made that is no longer an admin."""
    is_former = or_(Account.role != Role.ADMIN.value, Account.disabled_at.is_not(None))
    query = (
        select(Workspace.id, Workspace.name, Account.name)
        .join(ScimToken, ScimToken.workspace_id == Workspace.id)
        .join(Account, Account.id == ScimToken.created_by)
    )
    return session.execute(query.where(is_former).order_by(Workspace.name, Workspace.id)).all()


def find(session: Session, text: str) -> ScimToken | None:
    """Return the stored token with this text."""
    return session.scalar(select(ScimToken).where(ScimToken.digest == _digest(text)))


def record_use(session: Session, token_id: str, *, now: Moment) -> None:
    """Note the time, to the minute."""
    is_old = or_(ScimToken.last_used_at.is_(None), ScimToken.last_used_at <= now - _WRITE_EVERY)
    session.execute(update(ScimToken).where(ScimToken.id == token_id, is_old).values(last_used_at=now))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
