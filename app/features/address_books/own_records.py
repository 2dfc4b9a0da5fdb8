"""The entries about people in the address books of their workspace, which are its own and cost nothing.

Most exports do not say when an entry was changed. It is then as new as its file, as a row without a date is
in an import: the workspace sent it. So is one that says it was changed later.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records.own_records import Find, OwnRecord, OwnRecordSource
from app.engine.own_records.record_certainty import is_certain, is_namesake
from app.engine.own_records.record_search import RecordSearch
from app.features.address_books import people
from app.features.address_books.people import BookMatch
from app.features.address_books.tables import AddressBook
from app.infra.database.session import Session
from app.settings import Settings

SOURCE = "address_book"


class OwnBookRecords:
    """Finds the entries about people in address books."""

    def __init__(self) -> None:
        self._search = RecordSearch(AddressBook.workspace_id, people.find)

    def __call__(self, session: Session, looked_up: Sequence[LookedUp]) -> list[list[OwnRecord]]:
        """Return the entries about each person, the most certain first."""
        return [
            [
                _record(match, person, certain=is_certain(match, person, len(matches)))
                for match in matches
                if not is_namesake(match, person)
            ]
            for person, matches in zip(looked_up, self._search(session, looked_up), strict=True)
        ]


def _load(_settings: Settings) -> Find:
    return OwnBookRecords()


OWN_RECORDS = OwnRecordSource(name=SOURCE, load=_load)


def _record(match: BookMatch, looked_up: LookedUp, *, certain: bool) -> OwnRecord:
    return OwnRecord(
        source=SOURCE,
        system=match.book_id,
        title=match.title,
        name=match.person.name,
        profiles=match.person.profiles,
        emails=match.person.emails,
        phones=match.person.phones,
        changed_at=min(filter(None, (match.person.changed_at, match.read_at)), default=None),
        is_outdated=match.person.is_outdated(looked_up.current_company),
        is_certain=certain,
    )
