"""Finds records by the keys of people: of those who are looked up, and of one who is to be erased."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import FromClause, select

from app.domain.records.person_matcher import PersonMatcher
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import record_keys
from app.engine.own_records.record_keys import CERTAINTY, NAME
from app.engine.own_records.record_suppressions import without_suppressed
from app.engine.own_records.recorded_people import RecordedPerson
from app.infra.database.bulk_statements import is_among
from app.infra.database.session import Session


class FoundRow(Protocol):
    """A row of a statement that finds keys: the key, and the `id` of its record."""

    @property
    def workspace_id(self) -> str:
        """The workspace whose record it is."""

    @property
    def digest(self) -> bytes:
        """The digest of the key."""

    @property
    def matched_on(self) -> str:
        """What the key is of, one of `CERTAINTY`."""

    @property
    def id(self) -> str:
        """The record."""


Row = TypeVar("Row", bound=FoundRow)
Match = TypeVar("Match")


def find(
    session: Session,
    people: Sequence[LookedUp],
    rows_of: Callable[[Session, Mapping[str, Any]], Iterable[Row]],
    match_of: Callable[[Row, Sequence[str]], Match],
    person_of: Callable[[Match], RecordedPerson],
) -> list[list[Match]]:
    """Return for each person the matches in their workspace, the most certain first.

    `rows_of` is a statement with the parameters `workspace_ids` and `digests`. `match_of` makes a match of a
    row and what the record was recognized by. One statement for any number of people and workspaces, and one
    more if anybody is found: records of people who were suppressed since they were stored are left out.
    """
    wanted = [
        record_keys.digests(session.keys, person.workspace_id, record_keys.keys_of(person))
        for person in people
    ]
    digests = list({digest for found in wanted for digest in found})
    if not digests:
        return [[] for _ in people]
    workspaces = list({person.workspace_id for person in people})
    rows: dict[tuple[str, bytes], list[Row]] = defaultdict(list)
    for row in rows_of(session, {"workspace_ids": workspaces, "digests": digests}):
        rows[row.workspace_id, bytes(row.digest)].append(row)
    matches = [
        [match_of(*record) for record in _records(person.workspace_id, found, rows)]
        for person, found in zip(people, wanted, strict=True)
    ]
    shown = [match for found in matches for match in found]
    if not shown:
        return matches
    allowed = set(map(id, without_suppressed(session, shown, person_of)))
    return [[match for match in found if id(match) in allowed] for found in matches]


def _records(
    workspace_id: str, digests: Iterable[bytes], rows: Mapping[tuple[str, bytes], Sequence[Row]]
) -> Iterator[tuple[Row, Sequence[str]]]:
    """Yield the records of one person, each once, with what they were recognized by."""
    by_record: dict[str, list[Row]] = defaultdict(list)
    for digest in digests:
        for row in rows.get((workspace_id, digest), ()):
            by_record[row.id].append(row)
    for found in sorted(by_record.values(), key=_rank):
        matched = {row.matched_on for row in found}
        yield found[0], [name for name in CERTAINTY if name in matched]


def _rank(found: Sequence[FoundRow]) -> tuple[int, str]:
    return min(CERTAINTY.index(row.matched_on) for row in found), found[0].id


class Sought(NamedTuple):
    """The ids of records with a key of a sought person: of an identifier, or only of the name."""

    certain: Sequence[str]
    named: Sequence[str]


def find_sought(
    session: Session, keys: FromClause, workspace_ids: Iterable[str], matcher: PersonMatcher
) -> Sought:
    """Return the records of these workspaces with a key of the person; `keys` is the table of the keys."""
    found: dict[str, bool] = {}
    for workspace_id in workspace_ids:
        sought = record_keys.keys_of_sought(workspace_id, matcher)
        digests = record_keys.digests(session.keys, workspace_id, sought)
        query = select(keys.c.record_id, keys.c.matched_on).where(
            keys.c.workspace_id == workspace_id, is_among(session, keys.c.digest, list(digests))
        )
        for row in session.execute(query):
            found[row.record_id] = found.get(row.record_id, False) or row.matched_on != NAME
    return Sought(
        [record_id for record_id, is_certain in found.items() if is_certain],
        [record_id for record_id, is_certain in found.items() if not is_certain],
    )
