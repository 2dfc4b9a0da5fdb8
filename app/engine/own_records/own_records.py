"""The records that a workspace has of people in systems of its own, such as its CRM.

They are free for the workspace and private to it: nothing of them becomes part of a contact that others see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from app import feature_registry
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.record_certainty import is_doubtful
from app.infra.database.session import Session
from app.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecord:
    """A person's record in a system of the workspace.

    `source` is the name of the kind of system for programs, as in `crm`, `system` the name of the system, as
    in `hubspot`, and `title` its name for people. `url` is the page of the record. Values are in normal form;
    `name` and `profiles` say whom the record is about. `changed_at` is when the record was changed, by the
    clock of the system. `is_outdated` is True if it has another company than the one at which the person is
    stored. `is_certain` is False if the record may be about somebody else, such as a colleague of the same
    name.
    """

    source: str
    system: str
    title: str
    url: str | None = None
    name: str = field(default="", repr=False)
    profiles: Sequence[str] = field(default=(), repr=False)
    emails: Sequence[str] = field(default=(), repr=False)
    phones: Sequence[str] = field(default=(), repr=False)
    changed_at: datetime | None = None
    is_outdated: bool = False
    is_certain: bool = False


Find: TypeAlias = Callable[[Session, Sequence[LookedUp]], Sequence[Sequence[OwnRecord]]]
"""Returns the records of each person in the person's workspace; the people may be of several workspaces.

It executes two statements at most for `BATCH` people, and none for workspaces without such a system, except
that a process looks every few seconds which ones have one.
"""
BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecordSource:
    """What a feature adds: `name` is the `source` of its records, `load` returns its function."""

    name: str
    load: Callable[[Settings], Find]


def load_all(settings: Settings) -> Mapping[str, Find]:
    """Return the functions of all features, by the names of their sources."""
    sources = [module.OWN_RECORDS for module in feature_registry.parts("own_records")]
    return {source.name: source.load(settings) for source in sources}


def find(
    session: Session, finds: Mapping[str, Find], people: Sequence[LookedUp]
) -> list[Sequence[OwnRecord]]:
    """Return the records of each person in all systems of the person's workspace.

    Each source has compared its own records; here they are compared with those of the others.
    """
    found: list[Sequence[OwnRecord]] = []
    for start in range(0, len(people), BATCH):
        batch = people[start : start + BATCH]
        by_source = [find_in_source(session, batch) for find_in_source in finds.values()]
        found += [
            _compared([record for records in of_person for record in records], person)
            for person, *of_person in zip(batch, *by_source, strict=True)
        ]
    return found


def _compared(records: Sequence[OwnRecord], person: LookedUp) -> list[OwnRecord]:
    """Return the records; those are not certain that another one shows to be perhaps a colleague's."""
    return [
        replace(record, is_certain=False)
        if record.is_certain and is_doubtful(record, person, records)
        else record
        for record in records
    ]
