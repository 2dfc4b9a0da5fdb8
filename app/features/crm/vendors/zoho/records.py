"""Rows of Zoho's modules: the fields of contacts and leads, and lookups, which are objects with an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.features.crm.vendors.exchange import filled, text
from app.features.crm.vendors.notes import Note
from app.features.crm.vendors.person import CrmRecord
from app.features.crm.vendors.properties import Property, options

CONTACTS, LEADS, ACCOUNTS = "Contacts", "Leads", "Accounts"
LEAD_PREFIX = f"{LEADS}/"
"""Ids of leads begin with their module, as in the path of the row."""
ACCOUNT = "Account_Name"
EMAILS = ("Email", "Secondary_Email")
_LOOKUPS = frozenset({ACCOUNT, "Owner", "Layout"})
"""Fields whose values are ids of other records."""
_OF_LEADS = MappingProxyType(
    {
        ACCOUNT: "Company",
        "Title": "Designation",
        "Mailing_Street": "Street",
        "Mailing_City": "City",
        "Mailing_State": "State",
        "Mailing_Zip": "Zip_Code",
        "Mailing_Country": "Country",
    }
)
"""The field of a lead for each field of a contact that has another name there."""


def module_of(record_id: str) -> str:
    """Return the module of a record."""
    return LEADS if record_id.startswith(LEAD_PREFIX) else CONTACTS


def layout(mapping: Mapping[str, str], module: str) -> dict[str, str]:
    """Return the field of the module for each of our fields."""
    return {ours: _OF_LEADS.get(name, name) if module == LEADS else name for ours, name in mapping.items()}


def record(row: Mapping[str, Any], module: str, fields: Sequence[str], notes: Sequence[Note]) -> CrmRecord:
    """Return the person with these fields; of a lookup, the id."""
    prefix = LEAD_PREFIX if module == LEADS else ""
    return CrmRecord(f"{prefix}{row['id']}", filled({name: _value(row.get(name)) for name in fields}), notes)


def addresses(row: Mapping[str, Any]) -> list[str]:
    """Return the addresses of a row, in the standard fields first, then in the company's own."""
    names = [*EMAILS, *row]
    return [value for name in names if isinstance(value := row.get(name), str) and "@" in value]


def as_property(field: Mapping[str, Any]) -> Property:
    """Return a field as the settings describe it."""
    is_writable = not (field.get("read_only") or field.get("field_read_only"))
    return Property(
        name=str(field["api_name"]),
        label=text(field.get("field_label")),
        is_writable=is_writable,
        options=options(field.get("pick_list_values"), "actual_value", "display_value"),
    )


def body(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the body that writes one row; an empty text is null, which is how a field is cleared."""
    row = {name: {"id": value} if name in _LOOKUPS else value or None for name, value in values.items()}
    return {"data": [row]}


def _value(value: object) -> object:
    return value.get("id") if isinstance(value, dict) else value
