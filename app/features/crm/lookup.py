"""What lookups say of the CRM: the records of a person, before anything is revealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.engine.lookups.lookup_parts import CurrentCompany, Find, LookedUp, LookupPart
from app.engine.own_records.record_certainty import is_namesake
from app.engine.own_records.record_search import RecordSearch
from app.features.crm.connections import CrmConnection
from app.features.crm.index import index_matches
from app.features.crm.index.index_matches import IndexMatch
from app.features.crm.vendors import registry
from app.features.crm.vendors.vendor import Crm
from app.infra.clock import rfc3339
from app.infra.database.session import Session
from app.settings import Settings

MAX_RECORDS = 10
"""The most records of one person; many have the number of their company."""


class CrmRecords:
    """Finds the records of people in CRMs; without a connection in any workspace it costs no statement."""

    def __init__(self, crms: Mapping[str, Crm]) -> None:
        self._crms = crms
        self._search = RecordSearch(CrmConnection.workspace_id, index_matches.find)

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[dict[str, list[dict[str, Any]]]]:
        """Return the field `crm` of each person's result: their records in the workspace's CRMs."""
        return [
            {
                "crm": [
                    _record(self._crms[match.vendor], match, person.current_company)
                    for match in matches
                    if not is_namesake(match, person)
                ][:MAX_RECORDS]
            }
            for person, matches in zip(people, self._search(session, people), strict=True)
        ]


def _load(settings: Settings) -> Find:
    return CrmRecords(registry.load(settings))


LOOKUP = LookupPart(load=_load)


def _record(crm: Crm, match: IndexMatch, current: CurrentCompany | None) -> dict[str, Any]:
    person = match.person
    return {
        "vendor": match.vendor,
        "vendor_title": crm.title,
        "kind": person.kind.value,
        "url": crm.record_url(match.base_url, match.account, person.kind, person.crm_id),
        "owner": person.owner or None,
        "stage": person.stage or None,
        "matched_on": list(match.matched_on),
        "has": [name for name, values in (("email", person.emails), ("phone", person.phones)) if values],
        "emails": list(person.emails),
        "phones": list(person.phones),
        "changed_at": rfc3339(person.changed_at),
        "is_outdated": person.is_outdated(current),
    }
