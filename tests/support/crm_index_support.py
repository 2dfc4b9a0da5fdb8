"""People in the CRM of a workspace, as it was read last."""

from __future__ import annotations

from typing import Any

from jobs_support import NOW

from app.engine.work import items
from app.features.crm import connections
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.infra.database.session import Session

PORTAL = "4242"


def a_crm(session: Session, workspace_id: str, vendor: str = "hubspot", **changes: Any) -> CrmConnection:
    """Insert a connection of the workspace to a CRM, which no worker checks."""
    connection = connections.create(
        session,
        workspace_id,
        vendor=vendor,
        base_url=None,
        credentials=Credentials(token="token-1"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    )
    for name, value in ({"account": PORTAL, "status": ConnectionStatus.CONNECTED.value} | changes).items():
        setattr(connection, name, value)
    session.flush()
    items.remove(session, [connection.id])
    return connection


def in_crm(session: Session, connection: CrmConnection, *people: dict[str, Any]) -> None:
    """Store people of the CRM, each with the fields of a `CrmPerson`."""
    plain: dict[str, Any] = {"kind": RecordKind.CONTACT, "changed_at": NOW}
    read = [
        CrmPerson(**{"crm_id": str(number)} | plain | fields).normal()
        for number, fields in enumerate(people, 1)
    ]
    crm_index.store(session, connection, read, now=NOW)
