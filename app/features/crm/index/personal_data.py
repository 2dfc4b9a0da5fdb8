"""What the index of CRMs says about a person: found in all workspaces, shown to the person, and erased.

The record in the CRM itself is the workspace's to erase. The person is suppressed, so it is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select

from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.mentions import mention_sources
from app.engine.mentions.mention_sources import Source
from app.engine.own_records import own_verifications, record_matches
from app.engine.privacy.holdings import Export
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.index.crm_index import CrmIndexKey, CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson
from app.infra.clock import rfc3339
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class IndexedData:
    """The records of a person in the index, by id."""

    record_ids: Sequence[str]

    @property
    def rows(self) -> int:
        """Return how many records are about the person."""
        return len(self.record_ids)

    @property
    def notes(self) -> int:
        """Return 0: a record is about one person only."""
        return 0

    def export(self, session: Session) -> Export:
        """Return the records, with the workspace and its CRM, without the owner, who is somebody else."""
        query = (
            select(CrmIndexRecord, Workspace.id, Workspace.name, CrmConnection.vendor)
            .join(CrmConnection, CrmConnection.id == CrmIndexRecord.connection_id)
            .join(Workspace, Workspace.id == CrmIndexRecord.workspace_id)
            .where(CrmIndexRecord.id.in_(self.record_ids))
            .order_by(CrmIndexRecord.id)
        )
        found = [
            {
                "workspace_id": workspace_id,
                "workspace": workspace,
                "crm": vendor,
                "kind": record.kind,
                "read_at": rfc3339(record.read_at),
                "values": {name: value for name, value in record.person.items() if name != "owner"},
            }
            for record, workspace_id, workspace, vendor in session.execute(query)
        ]
        return {"crm_people": found}

    def erase(self, session: Session) -> Iterable[tuple[Source, Sequence[mention_sources.Key]]]:
        """Delete the records, and the verdicts on their addresses; their digests are deleted with them."""
        records = session.scalars(select(CrmIndexRecord).where(CrmIndexRecord.id.in_(self.record_ids)))
        own_verifications.forget_of(session, ((record.workspace_id, record.person) for record in records))
        session.execute(delete(CrmIndexRecord).where(CrmIndexRecord.id.in_(self.record_ids)))
        return ()


def find(session: Session, matcher: PersonMatcher) -> IndexedData:
    """Return what the index says about the person, in the CRMs of all workspaces."""
    workspaces = session.scalars(select(CrmConnection.workspace_id).distinct()).all()
    sought = record_matches.find_sought(session, CrmIndexKey.__table__, workspaces, matcher)
    records = session.scalars(select(CrmIndexRecord).where(CrmIndexRecord.id.in_(sought.named)))
    named = [record.id for record in records if _person_of(record).is_sought(matcher)]
    return IndexedData(sorted([*sought.certain, *named]))


def _person_of(record: CrmIndexRecord) -> CrmPerson:
    return crm_index.person_of(record.kind, record.crm_id, record.changed_at, record.person)
