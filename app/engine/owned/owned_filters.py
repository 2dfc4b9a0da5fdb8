"""Filters and order of a workspace's people, and the cursors of their pages."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, String, and_, literal, or_
from sqlalchemy.sql.elements import SQLColumnExpression

from app.domain import ids
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus
from app.domain.regional_rules import RegionalRules
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger.reveals import Reveal
from app.engine.owned import named_people, owned_conditions, owned_people
from app.engine.owned.owned_people import Branch
from app.infra.database.db import UtcDateTime

MAX_CURSOR_LENGTH = 4000


class Sort(StrEnum):
    """What the people are sorted by; people who were never revealed count by the time they were saved."""

    REVEALED_AT = "revealed_at"
    NAME = "name"
    COMPANY = "company"
    UPDATED_AT = "updated_at"


class Order(StrEnum):
    """The direction of an order."""

    ASCENDING = "asc"
    DESCENDING = "desc"


_TIMES = frozenset({Sort.REVEALED_AT, Sort.UPDATED_AT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The filters and the order of a list of people; None is no filter.

    `list_name` is the id or the name of a list, `company` a part of a company's name or its whole domain,
    `name` beginnings of words of a person's name, and `status` the status of one of the person's revealed
    addresses. `person_id` is one person, by contact or saved row. `end` is the time up to which the first
    page is known to be found (`common_names`).
    """

    list_name: str | None = None
    tag: str | None = None
    owner: str | None = None
    company: str | None = None
    name: str | None = None
    status: EmailStatus | None = None
    revealed_since: datetime | None = None
    person_id: str | None = None
    sort: Sort = Sort.REVEALED_AT
    order: Order = Order.DESCENDING
    end: datetime | None = None

    @property
    def branches(self) -> list[Branch]:
        """Return the parts of the people that may match; a list starts with the people on it."""
        is_saved_row = self.person_id is not None and ids.is_id(self.person_id, "prf")
        if self.list_name is not None or self.tag is not None or is_saved_row:
            return [owned_people.saved()]
        if self.revealed_since is not None:
            return [owned_people.revealed()]
        return [owned_people.revealed(), owned_people.only_saved()]

    @property
    def starts_with_revealed(self) -> bool:  # only on PostgreSQL
        """Return whether the revealed people are a part of their own."""
        return self.branches[0].is_revealed

    def key(self, branch: Branch) -> SQLColumnExpression[Any]:
        """Return the expression that the people of the branch are sorted by."""
        return {
            Sort.REVEALED_AT: branch.added_at,
            Sort.NAME: owned_people.SORT_NAME,
            Sort.COMPANY: owned_people.SORT_COMPANY,
            Sort.UPDATED_AT: branch.updated_at,
        }[self.sort]

    def conditions(
        self, branch: Branch, dialect: str, rules: RegionalRules, *, in_order: bool = False
    ) -> list[ColumnElement[bool]]:
        """Return the conditions for the people of the branch; `rules` hide values from the filters.

        With `in_order`, they do not start with those who have the name.
        """
        by_index = partial(named_people.named, dialect, branch)
        given: list[tuple[Any, Any]] = [
            (self.list_name, partial(owned_conditions.on_list, dialect)),
            (self.tag, partial(owned_conditions.tagged, dialect)),
            (self.company, owned_conditions.at_company),
            (self.name, named_people.is_named if in_order else by_index),
            (self.status, partial(owned_conditions.with_status, rules)),
        ]
        conditions = [condition(value) for value, condition in given if value is not None]
        if self.owner is not None:
            conditions.append(branch.owner_id == self.owner)
        if self.revealed_since is not None:
            conditions.append(Reveal.created_at >= self.revealed_since)
        if self.person_id is not None:
            is_row = SavedProfile.id == self.person_id
            conditions.append(
                is_row if ids.is_id(self.person_id, "prf") else branch.has_contact(self.person_id)
            )
        return conditions

    def ordered(self, *columns: SQLColumnExpression[Any]) -> list[ColumnElement[Any]]:
        """Return the columns in this order."""
        is_descending = self.order is Order.DESCENDING
        return [column.desc() if is_descending else column.asc() for column in columns]

    def until(self, branch: Branch, end: datetime) -> ColumnElement[bool]:
        """Return the condition for the people up to this time, in the order of a time."""
        key = self.key(branch)
        return key >= end if self.order is Order.DESCENDING else key <= end

    def after(self, branch: Branch, cursor: Cursor) -> ColumnElement[bool]:
        """Return the condition for the people after the cursor."""
        key, value = self.key(branch), literal(cursor.key, UtcDateTime() if self.sort in _TIMES else String())
        is_next = key < value if self.order is Order.DESCENDING else key > value
        last = literal(cursor.person_id)
        is_later = branch.person_id < last if self.order is Order.DESCENDING else branch.person_id > last
        return or_(is_next, and_(key == value, is_later))


@dataclass(frozen=True, slots=True)
class Cursor:
    """The end of a page: the key and the id of its last person."""

    key: datetime | str
    person_id: str

    def text(self, selection: Selection) -> str:
        """Return the opaque form for callers; it is for this order only."""
        key = self.key.isoformat() if isinstance(self.key, datetime) else self.key
        raw = json.dumps([selection.sort, selection.order, key, self.person_id]).encode()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    @classmethod
    def parse(cls, text: str, selection: Selection) -> Cursor:
        """Parse the opaque form.

        Raises:
            InvalidValue: the text is not a cursor of a list in this order.

        """
        try:
            padded = text[:MAX_CURSOR_LENGTH].encode("ascii") + b"=" * (-len(text) % 4)
            sort, order, key, person_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            is_of_order = (sort, order) == (selection.sort, selection.order)
            is_person = ids.is_id(person_id, "con") or ids.is_id(person_id, "prf")
            if not (is_of_order and is_person and isinstance(key, str) and key.encode().find(0) < 0):
                raise ValueError  # noqa: TRY301 -- as what the parsers raise
            moment = datetime.fromisoformat(key) if selection.sort in _TIMES else None
            if moment is not None:
                moment = _in_utc(moment)
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            detail = "This is not a cursor of this order. Send the next_cursor of the previous page."
            raise InvalidValue(detail) from error
        return cls(key if moment is None else moment, person_id)


def _in_utc(moment: datetime) -> datetime:
    """Return the time in UTC; raise ValueError or OverflowError for one without a zone, or out of range."""
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)
