"""Finds people in the CRMs of their workspaces, by the keys of the index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from app.engine.lookups.lookup_parts import LookedUp
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index, index_keys
from app.features.crm.index.crm_index import CrmIndexKey, CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson
from app.features.crm.index.index_keys import CERTAINTY
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMatch:
    """A record of a person in a CRM, and what it was recognized by, the most certain first."""

    vendor: str
    base_url: str | None
    account: str | None
    person: CrmPerson = field(repr=False)
    matched_on: Sequence[str]


class _Found(NamedTuple):
    workspace_id: str
    digest: bytes
    matched_on: str
    id: str
    kind: str
    crm_id: str
    changed_at: datetime | None
    person: dict[str, Any]
    vendor: str
    base_url: str | None
    account: str | None


def find(session: Session, people: Sequence[LookedUp]) -> list[list[IndexMatch]]:
    """Return for each person their records in the CRMs of the workspace, the most certain first.

    One statement for any number of people and workspaces, and one more if anybody is found: records of people
    who were suppressed since they were read are left out.
    """
    wanted = [
        index_keys.digests(session.keys, person.workspace_id, index_keys.keys_of(person)) for person in people
    ]
    digests = list({digest for found in wanted for digest in found})
    if not digests:
        return [[] for _ in people]
    workspaces = list({person.workspace_id for person in people})
    rows: dict[tuple[str, bytes], list[_Found]] = defaultdict(list)
    for row in _FOUND.all(session, {"workspace_ids": workspaces, "digests": digests}):
        rows[row.workspace_id, bytes(row.digest)].append(row)
    matches = [
        list(_matches(person.workspace_id, found, rows)) for person, found in zip(people, wanted, strict=True)
    ]
    shown = [match for found in matches for match in found]
    if not shown:
        return matches
    allowed = set(map(id, crm_index.without_suppressed(session, shown, lambda match: match.person)))
    return [[match for match in found if id(match) in allowed] for found in matches]


def _find(dialect: str) -> Select[Any]:
    key, record, connection = CrmIndexKey.__table__.c, CrmIndexRecord.__table__.c, CrmConnection.__table__.c
    return (
        select(
            key.workspace_id,
            key.digest,
            key.matched_on,
            *(record[name] for name in ("id", "kind", "crm_id", "changed_at", "person")),
            *(connection[name] for name in ("vendor", "base_url", "account")),
        )
        .join(CrmIndexRecord.__table__, record.id == key.record_id)
        .join(CrmConnection.__table__, connection.id == record.connection_id)
        .where(
            any_of(dialect, key.workspace_id, "workspace_ids"),
            any_of(dialect, key.digest, "digests"),
            record.workspace_id == key.workspace_id,
        )
    )


_FOUND = Statement(_Found, _find)


def _matches(
    workspace_id: str, digests: Mapping[bytes, str], rows: Mapping[tuple[str, bytes], Sequence[_Found]]
) -> Iterator[IndexMatch]:
    """Yield the records of one person, each once."""
    by_record: dict[str, list[_Found]] = defaultdict(list)
    for digest in digests:
        for row in rows.get((workspace_id, digest), ()):
            by_record[row.id].append(row)
    for found in sorted(by_record.values(), key=_rank):
        first, matched = found[0], {row.matched_on for row in found}
        yield IndexMatch(
            vendor=first.vendor,
            base_url=first.base_url,
            account=first.account,
            person=crm_index.person_of(first.kind, first.crm_id, first.changed_at, first.person),
            matched_on=[name for name in CERTAINTY if name in matched],
        )


def _rank(found: Sequence[_Found]) -> tuple[int, str]:
    return min(CERTAINTY.index(row.matched_on) for row in found), found[0].id
