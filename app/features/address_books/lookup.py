"""What lookups say of the workspace's address books: the entries about a person, before a reveal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.engine.lookups.lookup_parts import Find, LookedUp, LookupPart
from app.engine.own_records.record_certainty import is_namesake
from app.engine.own_records.record_search import RecordSearch
from app.features.address_books import people
from app.features.address_books.people import BookMatch
from app.features.address_books.tables import AddressBook
from app.infra.clock import rfc3339
from app.infra.database.session import Session
from app.settings import Settings

MAX_RECORDS = 10
"""The most entries about one person; many may have the number of their company."""


class BookRecords:
    """Finds the entries about people; without an address book in any workspace it costs no statement."""

    def __init__(self) -> None:
        self._search = RecordSearch(AddressBook.workspace_id, people.find)

    def __call__(
        self, session: Session, looked_up: Sequence[LookedUp]
    ) -> list[dict[str, list[dict[str, Any]]]]:
        """Return the field `address_books` of each person's result."""
        found = self._search(session, looked_up)
        return [
            {
                "address_books": [_record(match) for match in matches if not is_namesake(match, person)][
                    :MAX_RECORDS
                ]
            }
            for person, matches in zip(looked_up, found, strict=True)
        ]


def _load(_settings: Settings) -> Find:
    return BookRecords()


LOOKUP = LookupPart(load=_load)


def _record(match: BookMatch) -> dict[str, Any]:
    person = match.person
    return {
        "book_id": match.book_id,
        "book": match.title,
        "matched_on": list(match.matched_on),
        "has": [name for name, values in (("email", person.emails), ("phone", person.phones)) if values],
        "emails": list(person.emails),
        "phones": list(person.phones),
        "changed_at": rfc3339(person.changed_at),
    }
