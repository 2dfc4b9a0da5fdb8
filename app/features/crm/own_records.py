"""The records of people in the CRM of their workspace, which are its own and cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.domain.normal.emails import email_reasons
from app.domain.records.profile_links import are_two_people
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import record_keys
from app.engine.own_records.own_records import Find, OwnRecord, OwnRecordSource
from app.engine.own_records.record_keys import PROFILE
from app.features.crm.index.index_matches import IndexMatch
from app.features.crm.index.index_search import IndexSearch, is_namesake
from app.features.crm.vendors import registry
from app.features.crm.vendors.vendor import Crm
from app.infra.database.session import Session
from app.settings import Settings

SOURCE = "crm"


class OwnCrmRecords:
    """Finds the records of people in CRMs."""

    def __init__(self, crms: Mapping[str, Crm]) -> None:
        self._crms = crms
        self._search = IndexSearch()

    def __call__(self, session: Session, people: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        """Return the records of each person, the most certain first."""
        return [
            [
                _record(self._crms[match.vendor], match, is_certain=_is_certain(match, person, len(matches)))
                for match in matches
                if not is_namesake(match, person)
            ]
            for person, matches in zip(people, self._search(session, people), strict=True)
        ]


def _load(settings: Settings) -> Find:
    return OwnCrmRecords(registry.load(settings))


OWN_RECORDS = OwnRecordSource(name=SOURCE, load=_load)


def _is_certain(match: IndexMatch, person: LookedUp, matches: int) -> bool:
    """Return whether the record is about the person beyond doubt.

    A profile says so, and an address that is not a team's. Colleagues may share a number, a team's address or
    a name: these say so if no other record is found by them and the names are not two.
    """
    if PROFILE in match.matched_on:
        return True
    if are_two_people(person.profiles, match.person.profiles):
        return False
    own = {email for email in person.emails if "role" not in email_reasons(email)}
    names = {record_keys.name_key(person.name), record_keys.name_key(match.person.name)} - {""}
    return not own.isdisjoint(match.person.emails) or (matches == 1 and len(names) <= 1)


def _record(crm: Crm, match: IndexMatch, *, is_certain: bool) -> OwnRecord:
    person = match.person
    return OwnRecord(
        source=SOURCE,
        system=match.vendor,
        title=crm.title,
        url=crm.record_url(match.base_url, match.account, person.kind, person.crm_id),
        emails=person.emails,
        phones=person.phones,
        changed_at=person.changed_at,
        is_certain=is_certain,
    )
