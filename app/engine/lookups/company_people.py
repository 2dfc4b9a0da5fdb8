"""The people of a company: filters, a fixed order, and cursors of pages."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Integer, SQLColumnExpression, and_, exists, func, literal_column

from app.domain import ids
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus
from app.domain.regional_rules import NO_RULES, RegionalRules
from app.engine.contacts import hidden_values
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.seniorities import RANK_SQL, SENIORITIES

MAX_CURSOR_LENGTH = 1000
RANK = literal_column(f"({RANK_SQL})", Integer)
LAST_NAME = func.coalesce(Contact.last_key, literal_column("''"))  # a parameter would not match the index
ORDER = (RANK, LAST_NAME, Contact.id)
_HAS: dict[str, type[Email | Phone]] = {"email": Email, "phone": Phone}
HAS = tuple(_HAS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter for a company's people; `has` lists fields (email, phone) that must have a usable value.

    A value that `rules` hide does not count.
    """

    department: str | None = None
    seniority: str | None = None
    has: frozenset[str] = frozenset()
    rules: RegionalRules = NO_RULES

    @property
    def key(self) -> str:
        """Return the filter without its department as text, empty if everyone matches."""
        rules = self.rules.key if self.has else ""
        return " ".join(filter(None, (self.seniority, *sorted(self.has), rules)))

    @property
    def has_known_seniority(self) -> bool:
        """Return whether the seniority is one of SENIORITIES; others are as many as callers invent."""
        return self.seniority is None or self.seniority in SENIORITIES

    def conditions(
        self, company_id: SQLColumnExpression[str], *, any_department: bool = False
    ) -> ColumnElement[bool]:
        """Return the SQL condition for people of this company."""
        conditions: list[ColumnElement[bool]] = [Contact.company_id == company_id]
        if self.department is not None and not any_department:
            conditions.append(Contact.department == self.department)
        if self.seniority in SENIORITIES:  # the index has the rank
            conditions.append(literal_column(str(SENIORITIES.index(self.seniority)), Integer) == RANK)
        elif self.seniority is not None:
            conditions.append(Contact.seniority == self.seniority)
        return and_(*conditions, *(self._has(_HAS[field]) for field in sorted(self.has)))

    def _has(self, table: type[Email | Phone]) -> ColumnElement[bool]:
        is_usable = table.status != EmailStatus.INVALID
        is_shown = hidden_values.is_shown(self.rules, table)
        return exists().where(table.contact_id == Contact.id, is_usable, is_shown)


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
