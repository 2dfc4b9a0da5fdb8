"""What admins do with the CRM connections of their workspace, through the API and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.errors import FieldError, InvalidValue, ValidationFailed
from app.features.crm import connections, mapping
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.schemas import NewConnection, crm_named
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish, is_replay
from app.web.sign_in.admins import admin_caller


def create(new: NewConnection) -> tuple[CrmConnection, bool]:
    """Connect a CRM with a token; return the connection, and whether the request is a replay.

    Raises:
        ValidationFailed: the workspace has too many.

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
    log.info("crm connected", account=admin.account_id, connection=connection.id, crm=connection.vendor)
    return connection, False


def change(connection_id: str, changes: Mapping[str, Any]) -> tuple[CrmConnection, bool]:
    """Change the mapping or the token (see `ConnectionChangeSchema`), and have the credentials checked.

    Returns the connection, and whether the request is a replay.

    Raises:
        ValidationFailed: a property of the mapping is not valid.

    """
    with admission.transaction() as session:
        admin = admin_caller(session)
        connection = connections.get(session, admin.workspace_id, connection_id, lock=True)
        now = database_clock.value(session)
        if is_replay(session, connection_id, now=now):
            return connection, True
        if "mapping" in changes:
            connection.mapping = _mapping(connection.vendor, changes["mapping"])
        if "token" in changes:
            credentials = Credentials(token=changes["token"])
            connections.replace_credentials(session, connection, credentials, now=now)
        else:
            connections.check(session, connection, now=now)
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


def _forget_some(connection_id: str) -> int:
    with admission.transaction() as session:
        return crm_index.forget_some(session, connection_id)


def _mapping(vendor: str, chosen: Mapping[str, str]) -> dict[str, str]:
    try:
        return mapping.validate(crm_named(vendor), chosen)
    except InvalidValue as error:
        raise ValidationFailed(errors=(FieldError("/mapping", str(error)),)) from error
