"""A Salesforce org: the columns of its tables, and rows without the columns that the user may not see.

Sources: REST API Developer Guide, "sObject Describe" (fields with `createable`, `updateable`, `filterable`,
`picklistValues`, `restrictedPicklist`; `recordTypeInfos`) and "Query"; a column hidden by field-level
security is INVALID_FIELD, "No such column".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected
from app.features.crm.vendors.exchange import Request, Response, text
from app.features.crm.vendors.salesforce import soql

RECORD_TYPE = "RecordTypeId"
API = "/services/data/v62.0"
MAX_ROWS = 100


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the org describes it; `options` are the values of a picklist with their labels.

    The options of `RecordTypeId` are the record types that the user may use.
    """

    label: str
    type: str
    is_creatable: bool
    is_updatable: bool
    is_filterable: bool
    is_restricted: bool
    options: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Memory:
    """What a turn remembers of an org, by table: the columns, and those found to be hidden."""

    columns: dict[str, Mapping[str, Column]] = field(default_factory=dict)
    hidden: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Org:
    """Reads an org; `ask` sends a request and raises an error for a response that is none.

    `new_table` is the table of new people.
    """

    ask: Callable[[Request], Response]
    memory: Memory
    new_table: str

    def columns(self, table: str) -> Mapping[str, Column]:
        """Return the columns of a table; none if the user may not describe it."""
        known = self.memory.columns.get(table)
        if known is None:
            known = self.memory.columns[table] = self._described(table)
        return known

    def hidden(self, table: str) -> set[str]:
        """Return the columns of a table that queries may not name."""
        return self.memory.hidden.setdefault(table, set())

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        condition: str,
        *,
        limit: int = MAX_ROWS,
        order: str = "CreatedDate",
    ) -> list[Mapping[str, Any]]:
        """Return the rows of a table, by default the oldest first; a column that is hidden is left out.

        Raises:
            Rejected: the query is not valid without the columns that can be left out.

        """
        while True:
            visible = [name for name in columns if name not in self.hidden(table)]
            query = soql.select(visible, table, condition, limit=limit, order=order)
            try:
                response = self.ask(Request(method="GET", path=f"{API}/query", query={"q": query}))
            except Rejected as rejection:
                found = {
                    name
                    for name in visible
                    for part in rejection.refused
                    if name in {part, f"Account.{part}", f"Owner.{part}"} or name.startswith(f"{part}.")
                }
                if not found:
                    raise
                self.hidden(table).update(found)  # each round leaves out at least one more
            else:
                return list(response.object.get("records") or ())

    def optional_rows(self, table: str, columns: Sequence[str], condition: str) -> list[Mapping[str, Any]]:
        """Return the rows of a table; none if the user may not read the table."""
        try:
            return self.rows(table, columns, condition)
        except Rejected:
            return []

    def _described(self, table: str) -> dict[str, Column]:
        try:
            response = self.ask(Request(method="GET", path=f"{API}/sobjects/{table}/describe"))
        except Rejected:
            return {}
        except AccessRefused as refusal:
            if refusal.reason == NOT_ACCEPTED:
                raise
            return {}
        types = _record_types(response.object)
        return {str(item["name"]): _column(item, types) for item in response.object.get("fields") or ()}


def _record_types(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (text(one.get("recordTypeId")), text(one.get("name")))
        for one in described.get("recordTypeInfos") or ()
        if one.get("available") and not one.get("master")
    ]


def _column(item: Mapping[str, Any], record_types: Sequence[tuple[str, str]]) -> Column:
    options = [
        (text(option.get("value")), text(option.get("label")))
        for option in item.get("picklistValues") or ()
        if option.get("active", True)
    ]
    is_record_type = item["name"] == RECORD_TYPE
    return Column(
        label=text(item.get("label")),
        type=text(item.get("type")),
        is_creatable=item.get("createable", True),
        is_updatable=item.get("updateable", True),
        is_filterable=item.get("filterable", True),
        is_restricted=bool(item.get("restrictedPicklist")) or is_record_type,
        options=record_types if is_record_type else options,
    )
