"""The record that a CRM has of a person who is pushed, as the private index knows it.

CRMs are asked by address, so they do not find who has none there, or another one: pushed by address alone,
the person would be there twice.
"""

from __future__ import annotations

from typing import NamedTuple

from app.engine.lookups.lookup_parts import LookedUp, distinct
from app.engine.own_records.record_certainty import is_certain, is_namesake
from app.engine.own_records.record_keys import NAME
from app.features.crm.index import index_matches
from app.features.crm.vendors import registry
from app.features.crm.vendors.person import CrmField, Person
from app.infra.database.session import Session


class IndexedRecord(NamedTuple):
    """The id of a record for requests, and whether only the name and the company say whose it is."""

    id: str
    is_by_name: bool


def find(session: Session, workspace_id: str, connection_id: str, person: Person) -> IndexedRecord | None:
    """Return the record that is the person's beyond doubt, as it was read last; None if there is none."""
    sought = _looked_up(workspace_id, person)
    [matches] = index_matches.find(session, [sought])
    own = [one for one in matches if one.connection_id == connection_id and not is_namesake(one, sought)]
    certain = next((one for one in own if is_certain(one, sought, len(own))), None)
    if certain is None:
        return None
    crm = registry.NAMED[certain.vendor]
    record_id = crm.record_id(certain.person.kind, certain.person.crm_id)
    return IndexedRecord(record_id, is_by_name=list(certain.matched_on) == [NAME])


def _looked_up(workspace_id: str, person: Person) -> LookedUp:
    value = person.values.get
    return LookedUp(
        workspace_id=workspace_id,
        profiles=distinct(value(CrmField.LINKEDIN_URL)),
        emails=person.emails,
        phones=distinct(value(CrmField.PHONE)),
        name=" ".join(distinct(value(CrmField.FIRST_NAME), value(CrmField.LAST_NAME))),
        companies=distinct(person.employer.name),
        domains=distinct(person.employer.domain),
    )
