"""What the receipts of schedules say about a person: the id of their record in a CRM, by which it is found.

Receipts of a contact are deleted with it; these are the others, of people of whom nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, tuple_

from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.bulk import batched
from app.engine.mentions.mention_sources import Key, Source
from app.engine.privacy.holdings import Export
from app.features.crm.connections import CrmConnection
from app.features.crm.index import personal_data
from app.features.crm.index.crm_index import CrmIndexRecord
from app.features.crm.schedules.tables import CrmSchedule, CrmScheduleRecord
from app.infra.clock import rfc3339
from app.infra.database.session import Session

_KEY = (CrmScheduleRecord.run_id, CrmScheduleRecord.number)


@dataclass(frozen=True, slots=True)
class ScheduledData:
    """The receipts of a person, each by its run and number."""

    keys: Sequence[tuple[str, int]]

    @property
    def rows(self) -> int:
        """Return how many receipts are about the person."""
        return len(self.keys)

    @property
    def notes(self) -> int:
        """Return 0: a receipt is about one person only."""
        return 0

    def export(self, session: Session) -> Export:
        """Return when which workspace asked for the person, and what became of it."""
        query = (
            select(Workspace.id, Workspace.name, CrmConnection.vendor, CrmScheduleRecord)
            .join(CrmSchedule, CrmSchedule.id == CrmScheduleRecord.schedule_id)
            .join(CrmConnection, CrmConnection.id == CrmSchedule.connection_id)
            .join(Workspace, Workspace.id == CrmSchedule.workspace_id)
            .order_by(*_KEY)
        )
        found = [
            {
                "workspace_id": workspace_id,
                "workspace": workspace,
                "crm": vendor,
                "record": record.crm_id,
                "asked": record.asked,
                "outcome": record.outcome,
                "at": rfc3339(record.at),
            }
            for part in batched(self.keys)
            for workspace_id, workspace, vendor, record in session.execute(
                query.where(tuple_(*_KEY).in_(part))
            )
        ]
        return {"crm_schedule_records": found}

    def erase(self, session: Session) -> Iterable[tuple[Source, Sequence[Key]]]:
        """Delete the receipts."""
        for part in batched(self.keys):
            session.execute(delete(CrmScheduleRecord).where(tuple_(*_KEY).in_(part)))
        return ()


def find(session: Session, matcher: PersonMatcher) -> ScheduledData:
    """Return the receipts of the person's records in the CRMs of all workspaces."""
    indexed = personal_data.find(session, matcher).record_ids
    query = (
        select(*_KEY)
        .join(CrmSchedule, CrmSchedule.id == CrmScheduleRecord.schedule_id)
        .join(
            CrmIndexRecord,
            (CrmIndexRecord.connection_id == CrmSchedule.connection_id)
            & (CrmIndexRecord.kind == CrmSchedule.kind)
            & (CrmIndexRecord.crm_id == CrmScheduleRecord.crm_id),
        )
        .where(CrmIndexRecord.id.in_(indexed))
        .order_by(*_KEY)
    )
    return ScheduledData([(row.run_id, row.number) for row in session.execute(query)])
