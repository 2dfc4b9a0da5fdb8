"""Rosters: who of a company's people may be listed, how many they are, and in which order."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, exists, func, select, tuple_
from sqlalchemy.orm import Session

from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.contacts.phones import Phone
from app.core.contacts.suppressions import Suppression
from app.core.lookups import contact_data
from app.domain import ids
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus

MAX_CHECKED = 500  # people of one company whose suppression is looked up for the counts
MAX_CURSOR_LENGTH = 1000
SENIORITIES = (
    "founder",
    "owner",
    "c_suite",
    "partner",
    "vp",
    "head",
    "director",
    "manager",
    "senior",
    "entry",
    "intern",
)
_RANK = case(
    {name: rank for rank, name in enumerate(SENIORITIES)}, value=Contact.seniority, else_=len(SENIORITIES)
)
_NAME = func.coalesce(Contact.last_key, "")
_ORDER = (_RANK, _NAME, Contact.id)
_HAS = {
    "email": exists().where(Email.contact_id == Contact.id, Email.status != EmailStatus.INVALID),
    "phone": exists().where(Phone.contact_id == Contact.id, Phone.status != EmailStatus.INVALID),
}
HAS = tuple(_HAS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which of a company's people are wanted; `has` names fields of which something must be known."""

    company_id: str
    department: str | None = None
    seniority: str | None = None
    has: Collection[str] = ()

    def conditions(self, *, any_department: bool = False) -> ColumnElement[bool]:
        """Give the filter in SQL."""
        wanted: list[ColumnElement[bool]] = [Contact.company_id == self.company_id]
        if self.department is not None and not any_department:
            wanted.append(Contact.department == self.department)
        if self.seniority is not None:
            wanted.append(Contact.seniority == self.seniority)
        return and_(*wanted, *(_HAS[field] for field in sorted(self.has)))


@dataclass(frozen=True, slots=True)
class PageCursor:
    """Where a page ends: the order's values of its last row."""

    rank: int
    name: str
    contact_id: str

    def cursor(self) -> str:
        """Write the place as an opaque text."""
        raw = json.dumps([self.rank, self.name, self.contact_id]).encode()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    @classmethod
    def parse(cls, cursor: str) -> PageCursor:
        """Read a cursor back.

        Raises:
            InvalidValue: no page gave this cursor.

        """
        try:
            padded = cursor[:MAX_CURSOR_LENGTH].encode("ascii") + b"=" * (-len(cursor) % 4)
            rank, name, contact_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            sound = (
                type(rank) is int
                and 0 <= rank <= len(SENIORITIES)
                and name.encode().find(0) < 0
                and ids.is_id(contact_id, "con")
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound:
            raise InvalidValue("This is not a cursor that an answer gave as next_cursor.")
        return cls(rank, name, contact_id)


def page(
    session: Session, wanted: Filter, *, limit: int, after: PageCursor | None
) -> tuple[Sequence[Contact], PageCursor | None]:
    """Give so many people, the most senior first, then by family name, and the place to go on from."""
    query = select(Contact, _RANK, _NAME).where(wanted.conditions()).order_by(*_ORDER).limit(limit + 1)
    if after is not None:
        query = query.where(tuple_(*_ORDER) > tuple_(after.rank, after.name, after.contact_id))
    rows = session.execute(query).all()
    people = [contact for contact, _rank, _name in rows[:limit]]
    if len(rows) <= limit:
        return people, None
    last, rank, name = rows[limit - 1]
    return people, PageCursor(rank, name, last.id)


def by_department(session: Session, workspace_id: str, wanted: Filter) -> dict[str | None, int]:
    """Count the people in each department, the largest first; the filter's own department does not count.

    Suppressed people are left out where at most 500 people fit the filter; finding them among more would
    cost more than the figure is worth, so there they are counted in.
    """
    fitting = wanted.conditions(any_department=True)
    size = func.count().label("size")
    rows = session.execute(select(Contact.department, size).where(fitting).group_by(Contact.department))
    counts: Counter[str | None] = Counter()
    for department, count in rows:
        counts[department] = count
    if counts.total() <= MAX_CHECKED:
        counts -= _suppressed(session, workspace_id, fitting)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] or "")))


def _suppressed(session: Session, workspace_id: str, fitting: ColumnElement[bool]) -> Counter[str | None]:
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return Counter()
    people = session.scalars(select(Contact).where(fitting)).all()
    held = contact_data.load(session, workspace_id, people)
    return Counter(contact.department for contact in people if held.is_suppressed(contact))
