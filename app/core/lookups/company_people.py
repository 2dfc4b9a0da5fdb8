"""The people of a company: filtered pages in a fixed order, and counts by department."""

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

MAX_CHECKED = 500  # people of one company checked for suppression before counting
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
    """A filter for a company's people; `has` lists fields (email, phone) that must have a usable value."""

    company_id: str
    department: str | None = None
    seniority: str | None = None
    has: Collection[str] = ()

    def conditions(self, *, any_department: bool = False) -> ColumnElement[bool]:
        """Return the SQL condition."""
        conditions: list[ColumnElement[bool]] = [Contact.company_id == self.company_id]
        if self.department is not None and not any_department:
            conditions.append(Contact.department == self.department)
        if self.seniority is not None:
            conditions.append(Contact.seniority == self.seniority)
        return and_(*conditions, *(_HAS[field] for field in sorted(self.has)))


@dataclass(frozen=True, slots=True)
class PageCursor:
    """The end of a page: the sort values of its last row."""

    rank: int
    name: str
    contact_id: str

    def cursor(self) -> str:
        """Return the opaque form for callers."""
        raw = json.dumps([self.rank, self.name, self.contact_id]).encode()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    @classmethod
    def parse(cls, cursor: str) -> PageCursor:
        """Parse the opaque form.

        Raises:
            InvalidValue: the text is not a cursor.

        """
        try:
            padded = cursor[:MAX_CURSOR_LENGTH].encode("ascii") + b"=" * (-len(cursor) % 4)
            rank, name, contact_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            is_valid = (
                type(rank) is int
                and 0 <= rank <= len(SENIORITIES)
                and name.encode().find(0) < 0
                and ids.is_id(contact_id, "con")
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            is_valid = False
        if not is_valid:
            raise InvalidValue("This is not a cursor. Send the next_cursor of a previous response.")
        return cls(rank, name, contact_id)


def page(
    session: Session, criteria: Filter, *, limit: int, after: PageCursor | None
) -> tuple[Sequence[Contact], PageCursor | None]:
    """Return up to `limit` people, by seniority, then last name, and the cursor of the next page, if any."""
    query = select(Contact, _RANK, _NAME).where(criteria.conditions()).order_by(*_ORDER).limit(limit + 1)
    if after is not None:
        query = query.where(tuple_(*_ORDER) > tuple_(after.rank, after.name, after.contact_id))
    rows = session.execute(query).all()
    people = [contact for contact, _rank, _name in rows[:limit]]
    if len(rows) <= limit:
        return people, None
    last, rank, name = rows[limit - 1]
    return people, PageCursor(rank, name, last.id)


def by_department(session: Session, workspace_id: str, criteria: Filter) -> dict[str | None, int]:
    """Return the number of people in each department, the largest first; the filter's department is ignored.

    Suppressed people are excluded if at most MAX_CHECKED people match the filter. For more people they are
    included, because checking them would cost more than the exact count is worth.
    """
    condition = criteria.conditions(any_department=True)
    size = func.count().label("size")
    rows = session.execute(select(Contact.department, size).where(condition).group_by(Contact.department))
    counts: Counter[str | None] = Counter()
    for department, count in rows:
        counts[department] = count
    if counts.total() <= MAX_CHECKED:
        counts -= _suppressed(session, workspace_id, condition)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] or "")))


def _suppressed(session: Session, workspace_id: str, condition: ColumnElement[bool]) -> Counter[str | None]:
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return Counter()
    people = session.scalars(select(Contact).where(condition)).all()
    held = contact_data.load(session, workspace_id, people)
    return Counter(contact.department for contact in people if held.is_suppressed(contact))
