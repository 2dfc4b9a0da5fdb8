"""Connections of workspaces to their CRM: encrypted credentials, the mapping of fields, and the status."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import String, func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.exclusions import CRM_STAGE
from app.domain.ids import new_id
from app.domain.kinds import PUSH, READ_CRM
from app.domain.messages import Message
from app.engine.accounts.workspaces import foreign_key
from app.engine.audit_log import entries as audit_log
from app.engine.exclusions import exclusions
from app.engine.work import items, specs
from app.engine.work.items import NewItem
from app.engine.work.specs import WorkSpec
from app.features.crm.index.crm_people import RecordKind
from app.infra.crypto import encryption
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

MAX_CONNECTIONS = 20
"""The connections of a workspace: a CRM that does not answer occupies a worker for seconds."""
PUSHING = specs.register(
    WorkSpec(
        task=PUSH,
        label="crm_connection",
        lease=timedelta(seconds=90),
        republish_after=timedelta(minutes=1),
        max_attempts=10,
        per_key=1,
        failure_lasts=True,
    )
)
"""More attempts than one push has. The lease is renewed before each contact, and before each request that
writes, so a late worker writes nothing.
"""
READING = specs.register(
    WorkSpec(
        task=READ_CRM,
        label="crm_reading",
        lease=timedelta(seconds=90),
        republish_after=timedelta(minutes=1),
        max_attempts=10,
        per_key=1,
        failure_lasts=True,
    )
)
"""A kind of its own, so that pushes and readings do not wait for each other; `reading_id` names its items."""
_PURPOSE = "crm_credentials"
_NOT_FOUND = Message("The workspace has no such CRM connection. List them with GET /api/crm/connections.")


class ConnectionStatus(StrEnum):
    """The status of a connection; `reconnect`: the CRM refused the credentials, and pushes wait."""

    AUTHORIZING = "authorizing"
    CHECKING = "checking"
    CONNECTED = "connected"
    RECONNECT = "reconnect"


ACTIVE = (ConnectionStatus.CHECKING.value, ConnectionStatus.CONNECTED.value)


class CrmConnection(Base):
    """A workspace's access to one CRM.

    `base_url` is null unless every workspace has its own. `mapping` has the property of each field, and
    `constants` the value of each property that is the same for all people; `new_people` is the `RecordKind`
    of those whom pushes create. `account` is the account of the
    CRM to which the credentials belong: null before the CRM was asked, empty if it does not say it.
    `resume_at` is when the CRM's rate limit permits the next request. Whoever has one of the
    `excluded_stages` in the CRM is excluded; it is null without any.
    """

    __tablename__ = "crm_connections"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    vendor: Mapped[str]
    base_url: Mapped[str | None]
    credentials: Mapped[bytes]
    mapping: Mapped[dict[str, Any]]
    constants: Mapped[dict[str, Any]]
    new_people: Mapped[str]
    excluded_stages: Mapped[list[Any] | None]
    status: Mapped[str]
    error: Mapped[str | None]
    created_by: Mapped[str | None]
    created_at: Mapped[datetime]
    checked_at: Mapped[datetime | None]
    account: Mapped[str | None]
    resume_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The secrets of a connection: a token, OAuth tokens, or the secrets of an authorization under way.

    `api_url` is the address of the API if the CRM's token response names it. `expires_at` is a Unix time.
    `code`, `verifier`, `redirect_uri` and `state` belong to an authorization that is not complete.
    """

    token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    api_url: str = ""
    code: str = field(default="", repr=False)
    verifier: str = field(default="", repr=False)
    redirect_uri: str = ""
    state: str = field(default="", repr=False)


def reading_id(connection_id: str) -> str:
    """Return the id of the work of reading the CRM of a connection."""
    return connection_id.replace("crm_", "crd_", 1)


def read_by(reading_id: str) -> str:
    """Return the id of the connection whose CRM is read by this work."""
    return reading_id.replace("crd_", "crm_", 1)


def create(
    session: Session,
    workspace_id: str,
    *,
    vendor: str,
    base_url: str | None,
    credentials: Credentials,
    mapping: Mapping[str, str],
    account_id: str,
    now: Moment,
) -> CrmConnection:
    """Insert a connection; a worker then checks its credentials, unless the authorization is not complete.

    Raises:
        ValidationFailed: the workspace has too many.

    """
    mine = select(func.count()).where(CrmConnection.workspace_id == workspace_id)
    if session.scalars(mine).one() >= MAX_CONNECTIONS:
        detail = Message(
            "The workspace has {max} CRM connections. Disconnect one first.", max=MAX_CONNECTIONS
        )
        raise ValidationFailed(detail, errors=(FieldError("/vendor", detail),))
    connection_id = new_id("crm")
    is_pending = bool(credentials.state)
    connection = CrmConnection(
        id=connection_id,
        workspace_id=workspace_id,
        vendor=vendor,
        base_url=base_url,
        credentials=_encrypted(session, workspace_id, connection_id, credentials),
        mapping=dict(mapping),
        constants={},
        new_people=RecordKind.CONTACT.value,
        status=(ConnectionStatus.AUTHORIZING if is_pending else ConnectionStatus.CHECKING).value,
        created_by=account_id,
        created_at=now,
    )
    session.add(connection)
    session.flush()
    if not is_pending:
        items.add(session, PUSHING, NewItem(connection.id, workspace_id, now))
    _record(session, Action.CRM_CONNECT, connection)
    return connection


def of_workspace(session: Session, workspace_id: str) -> list[CrmConnection]:
    """Return the workspace's connections, oldest first."""
    query = select(CrmConnection).where(CrmConnection.workspace_id == workspace_id)
    return list(session.scalars(query.order_by(CrmConnection.id)))


def get(session: Session, workspace_id: str, connection_id: str, *, lock: bool = False) -> CrmConnection:
    """Return the workspace's connection, optionally locked until the transaction ends."""
    query = select(CrmConnection).where(
        CrmConnection.id == connection_id, CrmConnection.workspace_id == workspace_id
    )
    if lock:
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    connection = session.scalar(query)
    if connection is None:
        raise NotFound(_NOT_FOUND)
    return connection


def locked(session: Session, connection_id: str) -> CrmConnection | None:
    """Return the connection, locked before its items of work; other rows may refer to it meanwhile."""
    query = select(CrmConnection).where(CrmConnection.id == connection_id).with_for_update(key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def kept(session: Session, connection_id: str) -> CrmConnection | None:
    """Return the connection, which is not deleted until the transaction ends; others may change it."""
    kept_row = select(CrmConnection).where(CrmConnection.id == connection_id)
    query = kept_row.with_for_update(read=True, key_share=True)
    return session.scalar(query.execution_options(populate_existing=True))


def change_mapping(
    session: Session, connection: CrmConnection, mapping: Mapping[str, str], constants: Mapping[str, str]
) -> None:
    """Store what pushes write from now on."""
    if (mapping, constants) == (connection.mapping, connection.constants):
        return
    connection.mapping, connection.constants = dict(mapping), dict(constants)
    _record(session, Action.CRM_MAPPING, connection)


def create_as(session: Session, connection: CrmConnection, new_people: RecordKind) -> None:
    """Have pushes create records of this kind of people whom the CRM does not have."""
    connection.new_people = new_people.value
    _record(session, Action.CRM_MAPPING, connection)


def exclude_stages(
    session: Session, connection: CrmConnection, stages: Sequence[str], *, account_id: str, now: Moment
) -> None:
    """Exclude from now on whoever has one of these stages in the CRM."""
    if list(stages) == (connection.excluded_stages or []):
        return
    connection.excluded_stages = list(stages) or None
    session.flush()
    if stages:
        exclusions.use_source(session, connection.workspace_id, CRM_STAGE, created_by=account_id, now=now)
    else:
        _leave_stages(session, connection.workspace_id)
    _record(session, Action.CRM_EXCLUDED_STAGES, connection)


def have_checked(session: Session, connection: CrmConnection, *, now: datetime) -> None:
    """Ask a worker to check credentials that the CRM refused; a turn of pushes that is under way goes on."""
    connection.status = ConnectionStatus.CHECKING.value
    session.flush()
    wake(session, connection, now=now)


def wake(session: Session, connection: CrmConnection, *, now: datetime) -> None:
    """Make the pushes of the connection due, but not before the CRM's rate limit permits the next request."""
    due_at = max(now, connection.resume_at or now)
    items.wake(session, PUSHING, NewItem(connection.id, connection.workspace_id, due_at))


def replace_credentials(
    session: Session, connection: CrmConnection, credentials: Credentials, *, now: Moment
) -> None:
    """Store new credentials, which a worker then checks; a worker that uses the old ones loses its lease.

    The CRM has not accepted them yet: if it refuses them, who entered them sees it, and nobody else is told.
    """
    connection.credentials = _encrypted(session, connection.workspace_id, connection.id, credentials)
    connection.checked_at = None
    _record(session, Action.CRM_CREDENTIALS, connection)
    check(session, connection, now=now)


def restore_credentials(
    session: Session,
    connection: CrmConnection,
    credentials: bytes,
    *,
    checked_at: datetime | None,
    now: Moment,
) -> None:
    """Store the encrypted credentials that were there, last accepted then, before the CRM refused others."""
    connection.credentials, connection.checked_at = credentials, checked_at
    _record(session, Action.CRM_CREDENTIALS, connection)
    check(session, connection, now=now)


def check(session: Session, connection: CrmConnection, *, now: Moment) -> None:
    """Ask a worker to check the credentials."""
    connection.status = ConnectionStatus.CHECKING.value
    connection.error = None
    connection.resume_at = None
    session.flush()
    stop_reading(session, connection)  # until the credentials are accepted
    items.add(session, PUSHING, NewItem(connection.id, connection.workspace_id, now))


def stop_reading(session: Session, connection: CrmConnection) -> None:
    """End the reading of the CRM, and the turn of a worker at it."""
    items.remove(session, [reading_id(connection.id)])


def begin_authorization(session: Session, connection: CrmConnection, credentials: Credentials) -> None:
    """Store the secrets of an authorization that a browser is about to make, beside those in use."""
    connection.credentials = _encrypted(session, connection.workspace_id, connection.id, credentials)
    session.flush()
    items.revoke(session, connection.id)


def delete(session: Session, workspace_id: str, connection_id: str) -> None:
    """Delete the connection with its credentials, its pushes, what they wrote, and the index of people."""
    connection = get(session, workspace_id, connection_id, lock=True)
    session.delete(connection)
    session.flush()
    _leave_stages(session, workspace_id)
    items.remove(session, [connection.id, reading_id(connection.id)])
    _record(session, Action.CRM_DISCONNECT, connection)


def _leave_stages(session: Session, workspace_id: str) -> None:
    """Note that the workspace excludes no stages, unless another connection does."""
    uses = (CrmConnection.workspace_id == workspace_id, CrmConnection.excluded_stages.is_not(None))
    if session.scalar(select(CrmConnection.id).where(*uses).limit(1)) is None:
        exclusions.leave_source(session, workspace_id, CRM_STAGE)


def decrypted(session: Session, connection: CrmConnection) -> Credentials:
    """Return the credentials.

    Raises:
        encryption.Undecryptable: the key that encrypted them is lost.

    """
    context = _context(connection.workspace_id, connection.id)
    secret = encryption.decrypt(session.keys, _PURPOSE, context, connection.credentials)
    return Credentials(**json.loads(secret))


def store_credentials(session: Session, connection: CrmConnection, credentials: Credentials) -> None:
    """Store the credentials that the CRM issued, in place of the earlier ones."""
    stored = _encrypted(session, connection.workspace_id, connection.id, credentials)
    session.execute(update(CrmConnection).where(CrmConnection.id == connection.id).values(credentials=stored))


def _record(session: Session, action: Action, connection: CrmConnection) -> None:
    audit_log.record(session, action, object_id=connection.id, workspace_id=connection.workspace_id)


def encrypt_again(session: Session) -> int:
    """Encrypt all readable credentials under the current key; return how many."""
    count = 0
    for connection in session.scalars(select(CrmConnection).order_by(CrmConnection.id).with_for_update()):
        try:
            store_credentials(session, connection, decrypted(session, connection))
        except encryption.Undecryptable:
            continue  # the connection shows that it has to be authorized again
        count += 1
    return count


def _encrypted(session: Session, workspace_id: str, connection_id: str, credentials: Credentials) -> bytes:
    secret = json.dumps({name: value for name, value in asdict(credentials).items() if value})
    context = _context(workspace_id, connection_id)
    return encryption.encrypt(session.keys, _PURPOSE, context, secret.encode())


def _context(workspace_id: str, connection_id: str) -> str:
    return f"{workspace_id}/{connection_id}"
