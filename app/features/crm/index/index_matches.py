"""Finds people in the CRMs of their workspaces, by the keys of the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import record_matches
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.index.crm_index import CrmIndexKey, CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMatch:
    """A record of a person in a CRM, and what it was recognized by, the most certain first."""

    connection_id: str
    vendor: str
    base_url: str | None
    account: str | None
    person: CrmPerson = field(repr=False)
    matched_on: Sequence[str]


class Found(NamedTuple):
    """A record that a digest leads to, with its connection."""

    workspace_id: str
    digest: bytes
    matched_on: str
    id: str
    kind: str
    crm_id: str
    changed_at: datetime | None
    person: dict[str, Any]
    connection_id: str
    vendor: str
    base_url: str | None
    account: str | None
    excluded_stages: list[str] | None

    @property
    def indexed(self) -> CrmPerson:
        """The person of the record."""
        return crm_index.person_of(self.kind, self.crm_id, self.changed_at, self.person)


def find(session: Session, people: Sequence[LookedUp]) -> list[list[IndexMatch]]:
    """Return for each person their records in the CRMs of the workspace (see `record_matches.find`)."""
    return record_matches.find(session, people, _FOUND.all, _match, lambda match: match.person)


def _match(row: Found, matched_on: Sequence[str]) -> IndexMatch:
    return IndexMatch(
        connection_id=row.connection_id,
        vendor=row.vendor,
        base_url=row.base_url,
        account=row.account,
        person=row.indexed,
        matched_on=matched_on,
    )


def rows_of(session: Session, workspace_ids: Sequence[str], digests: Sequence[bytes]) -> list[Found]:
    """Return the records that digests lead to in the CRMs of these workspaces."""
    return _FOUND.all(session, {"workspace_ids": list(workspace_ids), "digests": list(digests)})


def _find(dialect: str) -> Select[Any]:
    key, record, connection = CrmIndexKey.__table__.c, CrmIndexRecord.__table__.c, CrmConnection.__table__.c
    return (
        select(
            key.workspace_id,
            key.digest,
            key.matched_on,
            *(record[name] for name in ("id", "kind", "crm_id", "changed_at", "person", "connection_id")),
            *(connection[name] for name in ("vendor", "base_url", "account", "excluded_stages")),
        )
        .join(CrmIndexRecord.__table__, record.id == key.record_id)
        .join(CrmConnection.__table__, connection.id == record.connection_id)
        .where(
            any_of(dialect, key.workspace_id, "workspace_ids"),
            any_of(dialect, key.digest, "digests"),
            record.workspace_id == key.workspace_id,
        )
    )


_FOUND = Statement(Found, _find, replanned=True)
