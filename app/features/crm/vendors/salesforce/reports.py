"""The contacts or leads in a report of Salesforce.

Source: Reports and Dashboards REST API Developer Guide, "Describe" (`reportMetadata.detailColumns`,
`reportExtendedMetadata.detailColumnInfo` with the `dataType` of each), "Execute Sync" (`POST` with
`reportMetadata` and `includeDetails`; at most 2,000 rows, then `allData` is false) and "Decode the Fact Map"
(the rows are under `T!T` in a tabular report, and under the key of each group in others). The value of a cell
with a name is the id of the record. Ids have 15 characters, or 18 with three that say which are capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import Rejected
from app.features.crm.vendors.exchange import Request, text
from app.features.crm.vendors.members import WITHOUT_IDS, Ask, Members
from app.features.crm.vendors.salesforce.org import API

PREFIX = "00O"
"""The first characters of the ids of reports."""
_REPORTS = f"{API}/analytics/reports"
_WITHOUT_NAMES = frozenset(
    {
        "boolean",
        "currency",
        "date",
        "datetime",
        "double",
        "email",
        "html",
        "int",
        "multipicklist",
        "percent",
        "phone",
        "picklist",
        "textarea",
        "time",
        "url",
    }
)
"""The types of columns that have neither ids nor names."""
_IDS: Mapping[RecordKind, re.Pattern[str]] = MappingProxyType(
    {
        RecordKind.CONTACT: re.compile(r"003[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?"),
        RecordKind.LEAD: re.compile(r"00Q[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?"),
    }
)
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
"""The character for each number of five bits, one for each of five characters, the first one the lowest."""


def members(ask: Ask, report_id: str, kind: RecordKind) -> Members:
    """Return the people in the first column of the report that has any.

    Raises:
        Rejected: no column can have any, or none has any though the report has rows.

    """
    described = ask(Request(method="GET", path=f"{_REPORTS}/{report_id}/describe")).object
    metadata = _with_few_columns(described)
    if not metadata["detailColumns"]:
        raise Rejected(WITHOUT_IDS)
    request = Request(
        method="POST",
        path=f"{_REPORTS}/{report_id}",
        query={"includeDetails": "true"},
        body={"reportMetadata": metadata},
    )
    body = ask(request).object
    rows = [
        [text(cell.get("value")) for cell in row["dataCells"]]
        for fact in body["factMap"].values()
        for row in fact.get("rows") or ()
    ]
    columns = (_ids(column, _IDS[kind]) for column in zip(*rows, strict=True))
    ids = next(filter(None, columns), [])
    if rows and not ids:
        raise Rejected(WITHOUT_IDS)
    return Members(ids=ids, position=None, is_partial=not body["allData"])


def _with_few_columns(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a report without the columns that have no people and are not used otherwise.

    The response of a report with all its columns may be too long.
    """
    metadata = described["reportMetadata"]
    types = described["reportExtendedMetadata"].get("detailColumnInfo")
    used = {text(one.get("sortColumn")) for one in metadata.get("sortBy") or ()}
    used |= {text(name).partition("!")[2] for name in metadata.get("aggregates") or ()}
    columns = [
        name
        for name in metadata.get("detailColumns") or ()  # a joined report has them in its blocks
        if name in used or types[name]["dataType"] not in _WITHOUT_NAMES
    ]
    return {**metadata, "detailColumns": columns, "hasDetailRows": True}


def _ids(values: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    return [_long(value) for value in values if pattern.fullmatch(value)]


def _long(record_id: str) -> str:
    """Return the id with 18 characters, as queries return it."""
    short = record_id[:15]
    parts: Sequence[str] = (short[:5], short[5:10], short[10:])
    bits = (sum(1 << place for place, character in enumerate(part) if character.isupper()) for part in parts)
    return short + "".join(_CAPITALS[number] for number in bits)
