"""The properties that a CRM has for people, as a worker read them when it checked the credentials."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.features.crm.connections import CrmConnection
from app.features.crm.vendors.properties import Property
from app.infra.database.db import Base
from app.infra.database.session import Session

MAX_PROPERTIES = 2000


class CrmProperties(Base):
    """The properties of a CRM; there is no row if the credentials may not read them."""

    __tablename__ = "crm_properties"

    connection_id: Mapped[str] = mapped_column(
        ForeignKey("crm_connections.id", ondelete="CASCADE"), primary_key=True
    )
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    properties: Mapped[list[Any]]
    read_at: Mapped[datetime]


def store(
    session: Session, connection: CrmConnection, properties: Iterable[Property], *, now: datetime
) -> None:
    """Store the properties in place of those that were read before; the connection must be locked."""
    listed = [one.as_json() for one in properties][:MAX_PROPERTIES]
    row = CrmProperties(connection_id=connection.id, workspace_id=connection.workspace_id)
    row.properties, row.read_at = listed, now
    session.merge(row)
    session.flush()


def of_connection(session: Session, connection: CrmConnection) -> dict[str, Property]:
    """Return the properties of the CRM by name; none if they were not read."""
    row = session.get(CrmProperties, connection.id)
    found = map(Property.from_json, row.properties if row else ())
    return {one.name: one for one in found}
