"""What CRM connections hold: pushes, digests of what was written, people read, receipts, and credentials."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from app.engine.accounts.workspaces import Workspace
from app.engine.privacy.holdings import Export, Holdings
from app.features.crm import connections
from app.features.crm.connections import CrmConnection
from app.features.crm.index import personal_data, readings
from app.features.crm.index.crm_index import CrmIndexRecord
from app.features.crm.pushes import PushItem
from app.features.crm.records import CrmWrittenRecord
from app.features.crm.schedules import personal_data as scheduled_data
from app.features.crm.schedules.tables import CrmScheduleRecord
from app.infra.clock import rfc3339
from app.infra.database.session import Session


def count(session: Session, contact_ids: Sequence[str]) -> dict[str, int]:
    """Return how many CRMs have records of the contacts; the rows are deleted with the contact."""
    written = select(func.count()).where(CrmWrittenRecord.contact_id.in_(contact_ids))
    return {"crm_records": session.scalars(written).one()}


def export(session: Session, contact_ids: Sequence[str]) -> Export:
    """Return the pushes of the contacts that are over, by whom and to which CRM."""
    query = (
        select(Workspace.id, Workspace.name, CrmConnection.vendor, PushItem.outcome, PushItem.finished_at)
        .join(CrmConnection, CrmConnection.id == PushItem.connection_id)
        .join(Workspace, Workspace.id == CrmConnection.workspace_id)
        .where(PushItem.contact_id.in_(contact_ids), PushItem.finished_at.is_not(None))
        .order_by(PushItem.id)
    )
    pushed = [
        {
            "workspace_id": row.id,
            "workspace": row.name,
            "crm": row.vendor,
            "outcome": row.outcome,
            "at": rfc3339(row.finished_at),
        }
        for row in session.execute(query)
    ]
    return {"crm_pushes": pushed}


HOLDINGS = Holdings(
    count=count,
    export=export,
    find={
        CrmIndexRecord.__tablename__: personal_data.find,
        CrmScheduleRecord.__tablename__: scheduled_data.find,
    },
    await_writers=readings.await_writers,
    encrypt_again=connections.encrypt_again,
)
