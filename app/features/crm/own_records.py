"""The records of people in the CRM of their workspace, which are its own and cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.own_records import Find, OwnRecord, OwnRecordSource
from app.engine.own_records.record_certainty import is_certain, is_namesake
from app.engine.own_records.record_search import RecordSearch
from app.features.crm.connections import CrmConnection
from app.features.crm.index import index_matches
from app.features.crm.index.index_matches import IndexMatch
from app.features.crm.vendors import registry
from app.features.crm.vendors.vendor import Crm
from app.infra.database.session import Session
from app.settings import Settings

SOURCE = "crm"


class OwnCrmRecords:
    """Finds the records of people in CRMs."""

    def __init__(self, crms: Mapping[str, Crm]) -> None:
        self._crms = crms
        self._search = RecordSearch(CrmConnection.workspace_id, index_matches.find)

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        """Return the records of each person, the most certain first."""
        return [
            [
                _record(
                    self._crms[match.vendor], match, person, certain=is_certain(match, person, len(matches))
                )
                for match in matches
                if not is_namesake(match, person)
            ]
            for person, matches in zip(people, self._search(session, people), strict=True)
        ]


def _load(settings: Settings) -> Find:
    return OwnCrmRecords(registry.load(settings))


OWN_RECORDS = OwnRecordSource(name=SOURCE, load=_load)


def _record(crm: Crm, match: IndexMatch, looked_up: LookedUp, *, certain: bool) -> OwnRecord:
    person = match.person
    return OwnRecord(
        source=SOURCE,
        system=match.vendor,
        title=crm.title,
        url=crm.record_url(match.base_url, match.account, person.kind, person.crm_id),
        name=person.name,
        profiles=person.profiles,
        emails=person.emails,
        phones=person.phones,
        changed_at=person.changed_at,
        is_outdated=person.is_outdated(looked_up.current_company),
        is_certain=certain,
    )
