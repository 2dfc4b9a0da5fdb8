"""What admins do with the CRM connections of their workspace, through the API and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.features.crm import connections, credential_checks, mapping
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.schemas import NewConnection, crm_named
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish, is_replay, release
from app.web.sign_in.admins import admin_caller


def create(new: NewConnection) -> tuple[CrmConnection, bool]:
    """Connect a CRM with a token; return the connection, and whether the request is a replay.

    If a worker finds out in time that the token or the host is wrong, nothing is stored.

    Raises:
        ValidationFailed: the workspace has too many, or the CRM does not accept the token.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            return connections.get(session, admin.workspace_id, reference), True
        connection = connections.create(
            session,
            admin.workspace_id,
            vendor=new.vendor,
            base_url=new.base_url,
            credentials=Credentials(token=new.token),
            mapping=new.mapping,
            account_id=admin.account_id,
            now=now,
        )
        finish(session, connection.id)
    connection = credential_checks.awaited(connection)
    _require_accepted(connection)
    log.info("crm connected", account=admin.account_id, connection=connection.id, crm=connection.vendor)
    return connection, False


def change(connection_id: str, changes: Mapping[str, Any]) -> tuple[CrmConnection, bool]:
    """Change the mapping or the token (see `ConnectionChangeSchema`), and have the credentials checked.

    Returns the connection, and whether the request is a replay.

    A new token that a worker finds out in time to be wrong is not kept.

    Raises:
        ValidationFailed: a property of the mapping is not valid, or the CRM does not accept the token.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        now = database_clock.value(session)
        if is_replay(session, connection_id, now=now):
            return connection, True
        former = connection.credentials
        if "mapping" in changes:
            connection.mapping = _mapping(connection.vendor, changes["mapping"])
        if "token" in changes:
            credentials = Credentials(token=changes["token"])
            connections.replace_credentials(session, connection, credentials, now=now)
        else:
            connections.check(session, connection, now=now)
    if "token" in changes:
        connection = credential_checks.awaited(connection)
        if connection.status == ConnectionStatus.RECONNECT:
            _require_accepted(connection, former)
    log.info("crm connection changed", account=admin.account_id, connection=connection_id)
    return connection, False


def delete(connection_id: str) -> None:
    """Disconnect the CRM; what was pushed to it stays there.

    Its people may be a million, whose deletion takes longer than a transaction may.
    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connections.stop_reading(
            session, connections.get(session, admin.workspace_id, connection_id, lock=True)
        )
    while _forget_some(connection_id):
        pass
    with admission.transaction() as session:
        admin = admin_caller(session)
        connections.delete(session, admin.workspace_id, connection_id)
    log.info("crm disconnected", account=admin.account_id, connection=connection_id)


def _require_accepted(checked: CrmConnection, former: bytes | None = None) -> None:
    """Return if nothing is known to be wrong with the credentials, or they were replaced meanwhile.

    Raises:
        ValidationFailed: what is wrong; the connection is deleted, or has its former credentials again.

    """
    error = credential_checks.refusal(crm_named(checked.vendor), checked)
    if error is None:
        return
    with admission.transaction() as session:
        connection = connections.get(session, checked.workspace_id, checked.id, lock=True)
        if connection.credentials != checked.credentials:
            return
        if former is None:
            connections.delete(session, connection.workspace_id, connection.id)
        else:
            now = database_clock.value(session)
            connections.restore_credentials(session, connection, former, now=now)
        release(session)
    raise ValidationFailed(errors=(error,))


def _forget_some(connection_id: str) -> int:
    with admission.transaction() as session:
        return crm_index.forget_some(session, connection_id)


def _mapping(vendor: str, chosen: Mapping[str, str]) -> dict[str, str]:
    try:
        return mapping.validate(crm_named(vendor), chosen)
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError("/mapping", str(error)),)) from error
