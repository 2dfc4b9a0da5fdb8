"""The data map in docs/privacy.md has every table, and every field that may hold personal data."""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Column

from app.engine import tables
from app.infra.database.db import Base
from tools.state import ROOT

PAGE = ROOT / "docs/privacy.md"
NEVER_PERSONAL = {
    *(
        "id",
        "kind",
        "type",
        "types",
        "status",
        "state",
        "outcome",
        "period",
        "vendor",
        "method",
        "role",
        "queue",
    ),
    *("action", "actor_kind", "reason_code", "origin", "provider", "entity", "line_type", "field", "fields"),
    *(
        "publishes",
        "request_id",
        "lease",
        "lease_token",
        "task",
        "fairness_key",
        "published_at",
        "delimiter",
        "operation",
    ),
    *("scopes", "permissions", "columns", "matched_on", "asked", "waiting"),
    *(
        "counts",
        "estimate",
        "warnings",
        "outcomes",
        "departments",
        "mapping",
        "credentials",
        "status_reasons",
        "base_url",
    ),
    *("disabled_reason", "reason", "detail", "fault", "chunk", "dedup_key", "seniority", "hash", "error"),
    *("industry", "headcount", "purpose", "skip", "format", "oprf_key_id", "oprf_public_key", "wrapped_key"),
}
"""Names of text fields that hold words of the service, ids, figures or settings in every table."""
_ROW = re.compile(r"^\| (?P<tables>`\w+`(?:, `\w+`)*) \| (?P<fields>[^|]+) \|", re.MULTILINE)


def _mapped() -> dict[str, set[str]]:
    """Return the personal fields of each table of the map."""
    rows = _ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return {
        table: set(re.findall(r"`(\w+)`", row["fields"]))
        for row in rows
        for table in re.findall(r"`(\w+)`", row["tables"])
    }


def _without_personal_data() -> set[str]:
    [sentence] = re.findall(r"no personal data: ([^.]+)\.", PAGE.read_text(encoding="utf-8"))
    return set(re.findall(r"`(\w+)`", sentence))


def _tables() -> dict[str, dict[str, Column[object]]]:
    tables.register()
    return {
        table.name: {column.name: column for column in table.columns} for table in Base.metadata.sorted_tables
    }


def _python_type(column: Column[object]) -> type:
    """Return the type of a column's values; that of a decorated type is that of what it decorates."""
    implemented = getattr(column.type, "impl_instance", column.type)
    python_type: type = implemented.python_type
    return python_type


def test_every_table_is_in_the_map_or_in_the_list_of_those_without_personal_data() -> None:
    mapped, without = _mapped(), _without_personal_data()

    assert mapped.keys() & without == set()
    assert mapped.keys() | without == _tables().keys()


def test_every_field_of_the_map_exists() -> None:
    tables = _tables()

    assert {table: fields - tables[table].keys() for table, fields in _mapped().items()} == {
        table: set() for table in _mapped()
    }


def test_a_text_of_a_table_in_the_map_is_personal_or_known_not_to_be() -> None:
    tables = _tables()

    unknown = {
        f"{table}.{column.name}"
        for table, fields in _mapped().items()
        for column in tables[table].values()
        if _python_type(column) not in {bool, datetime, float, int}
        and column.name not in fields | NEVER_PERSONAL
        and not column.name.endswith("_id")
    }

    assert unknown == set()
