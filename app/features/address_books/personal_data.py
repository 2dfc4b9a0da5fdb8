"""What address books say about a person: found in all workspaces, shown to the person, and erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update

from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.mentions import mention_sources
from app.engine.mentions.mention_sources import Source
from app.engine.own_records import own_verifications, record_matches
from app.engine.privacy.holdings import Export
from app.features.address_books import people
from app.features.address_books.tables import AddressBook, AddressBookKey, AddressBookPerson
from app.infra.clock import rfc3339
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class BookData:
    """The entries about a person, by id, and the books whose title mentions the person."""

    person_ids: Sequence[str]
    book_ids: Sequence[str]

    @property
    def rows(self) -> int:
        """Return how many entries are about the person."""
        return len(self.person_ids)

    @property
    def notes(self) -> int:
        """Return how many titles mention the person."""
        return len(self.book_ids)

    def export(self, session: Session) -> Export:
        """Return the entries, with the workspace and its book."""
        query = (
            select(AddressBookPerson, AddressBook.title, Workspace.id, Workspace.name)
            .join(AddressBook, AddressBook.id == AddressBookPerson.book_id)
            .join(Workspace, Workspace.id == AddressBookPerson.workspace_id)
            .where(AddressBookPerson.id.in_(self.person_ids))
            .order_by(AddressBookPerson.id)
        )
        found = [
            {
                "workspace_id": workspace_id,
                "workspace": workspace,
                "address_book": title,
                "changed_at": rfc3339(row.changed_at),
                "values": row.person,
            }
            for row, title, workspace_id, workspace in session.execute(query)
        ]
        return {"address_book_people": found}

    def erase(self, session: Session) -> Iterable[tuple[Source, Sequence[mention_sources.Key]]]:
        """Delete the entries, the verdicts on their addresses, and the titles that mention the person."""
        entries = session.scalars(select(AddressBookPerson).where(AddressBookPerson.id.in_(self.person_ids)))
        own_verifications.forget_of(session, ((entry.workspace_id, entry.person) for entry in entries))
        people.forget(session, self.person_ids)
        named = AddressBook.id.in_(self.book_ids)
        session.execute(update(AddressBook).where(named).values(title=AddressBook.id))
        return ()


def find(session: Session, matcher: PersonMatcher) -> BookData:
    """Return what the address books of all workspaces say about the person."""
    books = session.execute(select(AddressBook.id, AddressBook.workspace_id, AddressBook.title)).all()
    workspaces = dict.fromkeys(book.workspace_id for book in books)
    sought = record_matches.find_sought(session, AddressBookKey.__table__, workspaces, matcher)
    rows = session.scalars(select(AddressBookPerson).where(AddressBookPerson.id.in_(sought.named)))
    named = [row.id for row in rows if people.person_of(row.changed_at, row.person).is_sought(matcher)]
    titled = [book.id for book in books if matcher.matches(book.title)]
    return BookData(sorted([*sought.certain, *named]), titled)
