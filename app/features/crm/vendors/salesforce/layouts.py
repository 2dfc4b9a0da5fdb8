"""The columns of Salesforce's contacts and leads to which the fields of a person are written."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.features.crm.vendors.errors import Refusal
from app.features.crm.vendors.person import CrmField, Person, Wanted
from app.features.crm.vendors.properties import MAX_OPTIONS, Property
from app.features.crm.vendors.salesforce import countries
from app.features.crm.vendors.salesforce.org import RECORD_TYPE, Column, Org

CONTACT, LEAD = "Contact", "Lead"
_OF_LEADS = MappingProxyType(
    {
        "AccountId": "Company",
        "MailingStreet": "Street",
        "MailingCity": "City",
        "MailingState": "State",
        "MailingStateCode": "StateCode",
        "MailingPostalCode": "PostalCode",
        "MailingCountry": "Country",
        "MailingCountryCode": "CountryCode",
    }
)
"""The column of a lead for each column of a contact that has another name there."""
_CODE = "Code"
_CUSTOM = "__c"


def layout(org: Org, mapping: Mapping[str, str], table: str) -> dict[str, str]:
    """Return the column of each field in the table.

    A country is written as its code where the org has State and Country/Territory Picklists.
    """
    columns = org.columns(table)
    names = {field: _OF_LEADS.get(name, name) if table == LEAD else name for field, name in mapping.items()}
    if table != org.new_table:  # the record types of contacts and of leads are different ones
        names = {field: name for field, name in names.items() if name != RECORD_TYPE}
    country = f"{names.get(CrmField.COUNTRY)}{_CODE}"
    return names | ({CrmField.COUNTRY.value: country} if country in columns else {})


def visible(org: Org, mapping: Mapping[str, str], table: str) -> list[str]:
    """Return the columns of the fields that the org has; a query that names another one fails."""
    return [name for name in layout(org, mapping, table).values() if not _is_missing(org, table, name)]


def properties(org: Org) -> list[Property]:
    """Return the columns of contacts, which leads have by other names; and those of leads if they are new."""
    columns = {**org.columns(CONTACT), **(org.columns(LEAD) if org.new_table == LEAD else {})}
    return [
        Property(
            name=name,
            label=column.label,
            is_writable=column.is_creatable or column.is_updatable,
            options=column.options if column.is_restricted and len(column.options) <= MAX_OPTIONS else (),
        )
        for name, column in columns.items()
    ]


def emails(org: Org, table: str) -> list[str]:
    """Return the columns of the table that have addresses: the standard one and the org's own."""
    columns = org.columns(table).items()
    own = [name for name, column in columns if column.type == "email" and column.is_filterable]
    return list(dict.fromkeys(["Email", *own]))


def wanted(org: Org, mapping: Mapping[str, str], table: str, person: Person, *, is_new: bool) -> Wanted:
    """Return the value of each column, without those that the org does not accept from this user."""
    values: dict[str, str] = {}
    refused: dict[str, Refusal] = {}
    for our_field, name in layout(org, mapping, table).items():
        if our_field not in person.values:
            continue
        value = _value(org, table, our_field, name, person, is_new=is_new)
        if isinstance(value, Refusal):
            refused[name] = value
        else:
            values[name] = value
    return Wanted(values, refused)


def _value(org: Org, table: str, our_field: str, name: str, person: Person, *, is_new: bool) -> str | Refusal:
    if _is_missing(org, table, name):
        return Refusal.UNKNOWN_PROPERTY
    column = org.columns(table).get(name)
    if column is not None and not (column.is_creatable if is_new else column.is_updatable):
        return Refusal.READ_ONLY
    if our_field == CrmField.COUNTRY and person.country:
        return _country(name, column, person.country, person.values[our_field])
    return person.values[our_field]


def _country(name: str, column: Column | None, code: str, text: str) -> str | Refusal:
    """Return the country by the org's own options, else by its code, else as plain text."""
    options = () if column is None else column.options
    if not options:
        return code if name.endswith(f"Country{_CODE}") else text
    chosen = countries.option(code, options)
    is_restricted = column is not None and (column.is_restricted or name.endswith(f"Country{_CODE}"))
    return chosen or (Refusal.NOT_AN_OPTION if is_restricted else text)


def _is_missing(org: Org, table: str, name: str) -> bool:
    """Return whether the table has no such column; standard ones may be missing in an incomplete answer."""
    if name in org.hidden(table):
        return True
    columns = org.columns(table)
    return bool(columns) and name.endswith(_CUSTOM) and name not in columns
