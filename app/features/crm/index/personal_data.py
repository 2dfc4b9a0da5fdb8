"""What the index of CRMs says about a person: found in all workspaces, shown to the person, and erased.

The record in the CRM itself is the workspace's to erase. The person is suppressed, so it is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select

from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.mentions import mention_sources
from app.engine.mentions.mention_sources import Source
from app.engine.privacy.holdings import Export
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index, index_keys
from app.features.crm.index.crm_index import CrmIndexKey, CrmIndexRecord
from app.features.crm.index.index_keys import NAME, Key
from app.infra.clock import rfc3339
from app.infra.database.bulk_statements import is_among
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
        """Delete the records; their digests are deleted with them."""
        session.execute(delete(CrmIndexRecord).where(CrmIndexRecord.id.in_(self.record_ids)))
        return ()


def find(session: Session, matcher: PersonMatcher) -> IndexedData:
    """Return what the index says about the person, in the CRMs of all workspaces."""
    found: dict[str, bool] = {}
    for workspace_id in session.scalars(select(CrmConnection.workspace_id).distinct()).all():
        digests = index_keys.digests(session.keys, workspace_id, _keys(workspace_id, matcher))
        key = CrmIndexKey.__table__.c
        query = select(key.record_id, key.matched_on).where(
            key.workspace_id == workspace_id, is_among(session, key.digest, list(digests))
        )
        for row in session.execute(query):
            found[row.record_id] = found.get(row.record_id, False) or row.matched_on != NAME
    certain = [record_id for record_id, is_certain in found.items() if is_certain]
    named = CrmIndexRecord.id.in_([record_id for record_id in found if record_id not in certain])
    records = session.scalars(select(CrmIndexRecord).where(named))
    return IndexedData(sorted([*certain, *(record.id for record in records if _is_same(matcher, record))]))


def _keys(workspace_id: str, matcher: PersonMatcher) -> list[Key]:
    sought = LookedUp(
        workspace_id=workspace_id,
        profiles=sorted(matcher.linkedin_urls),
        emails=sorted(matcher.emails),
        phones=sorted(matcher.phones),
    )
    return [*index_keys.keys_of(sought), *(index_keys.key_of_name(*pair) for pair in matcher.names)]


def _is_same(matcher: PersonMatcher, record: CrmIndexRecord) -> bool:
    """Return whether a record with the name of the person is about nobody else: it has no other profile."""
    person = crm_index.person_of(record.kind, record.crm_id, record.changed_at, record.person)
    fields = {
        "full_name": person.name,
        "company_name": person.company,
        "linkedin_url": next(iter(person.profiles), None),
    }
    return any(matcher.matches(fields | {"company_domain": domain}) for domain in (*person.domains, ""))
