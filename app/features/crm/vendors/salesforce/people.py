"""The record of a person in Salesforce: a contact, or a lead that is not converted.

A contact or lead is found by any address of the person; without one, by the name with the company, if exactly
one has them and no other address at the same domain. A converted lead leads to its contact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.normal.companies.company_names import company_key
from app.features.crm.vendors.exchange import filled, text
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import CrmField, CrmRecord, Person
from app.features.crm.vendors.salesforce import soql
from app.features.crm.vendors.salesforce.layouts import CONTACT, LEAD, emails, visible
from app.features.crm.vendors.salesforce.org import Org

LEAD_PREFIX = f"{LEAD}/"
"""Ids of leads begin with their table, as in the path of the row."""
_COMPANY = {CONTACT: "Account.Name", LEAD: "Company"}
_CONVERSION = ("IsConverted", "ConvertedContactId")


def find(org: Org, mapping: Mapping[str, str], person: Person) -> CrmRecord | None:
    """Return the record of the person: by address before by name, and contacts before leads."""
    for search in (_by_address, _by_name):
        for table in (CONTACT, LEAD):
            rows = search(org, mapping, table, person)
            notes = (Note(NoteCode.FOUND_BY_NAME),) if search is _by_name else ()
            record = _first(org, mapping, table, rows, notes)
            if record is not None:
                return record
    return None


def get(org: Org, mapping: Mapping[str, str], record_id: str) -> CrmRecord | None:
    """Return the contact or lead with this id, or None if it was deleted."""
    table = LEAD if record_id.startswith(LEAD_PREFIX) else CONTACT
    condition = soql.equals("Id", [record_id.removeprefix(LEAD_PREFIX)])
    rows = org.rows(table, _columns(org, mapping, table), condition, limit=1)
    return _first(org, mapping, table, rows, ())


def _by_address(
    org: Org, mapping: Mapping[str, str], table: str, person: Person
) -> Sequence[Mapping[str, Any]]:
    condition = soql.any_of([soql.equals(name, person.emails) for name in emails(org, table)])
    columns = _columns(org, mapping, table)
    found = (
        org.rows(table, columns, condition)
        if table == CONTACT
        else org.optional_rows(table, columns, condition)
    )
    return sorted(found, key=lambda row: person.rank(_addresses(org, table, row)))


def _by_name(org: Org, mapping: Mapping[str, str], table: str, person: Person) -> Sequence[Mapping[str, Any]]:
    """Return the row with the name and the company of the person, unless it may be somebody else's."""
    first, last = (person.values.get(name) for name in (CrmField.FIRST_NAME, CrmField.LAST_NAME))
    company = company_key(person.employer.name or "")
    if not (first and last and company):
        return ()
    condition = f"{soql.equals('FirstName', [first])} AND {soql.equals('LastName', [last])}"
    columns = [*_columns(org, mapping, table), _COMPANY[table]]
    rows = [
        row
        for row in org.optional_rows(table, columns, condition)
        if company_key(_text(row, _COMPANY[table])) == company
        and not _is_another(person, _addresses(org, table, row))
    ]
    return rows if len(rows) == 1 else ()


def _first(
    org: Org,
    mapping: Mapping[str, str],
    table: str,
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[Note],
) -> CrmRecord | None:
    """Return the first of the rows; of leads the contact that one was converted to, if there is one."""
    for row in rows if table == LEAD else ():
        contact_id = text(row.get("ConvertedContactId")) if row.get("IsConverted") else ""
        contact = get(org, mapping, contact_id) if contact_id else None
        if contact is not None:
            return CrmRecord(contact.id, contact.values, (*notes, Note(NoteCode.CONVERTED_LEAD)))
    open_rows = [row for row in rows if not row.get("IsConverted")]
    if not open_rows:
        return None
    row, *others = open_rows
    columns = visible(org, mapping, table)
    return CrmRecord(
        f"{LEAD_PREFIX if table == LEAD else ''}{row['Id']}",
        filled({name: row.get(name) for name in columns}),
        (
            *notes,
            *([Note(NoteCode.EXISTING_LEAD)] if table == LEAD else []),
            *([Note(NoteCode.OTHER_RECORDS)] if others else []),
        ),
    )


def _columns(org: Org, mapping: Mapping[str, str], table: str) -> list[str]:
    of_leads = _CONVERSION if table == LEAD else ()
    return list(dict.fromkeys([*visible(org, mapping, table), *emails(org, table), *of_leads]))


def _addresses(org: Org, table: str, row: Mapping[str, Any]) -> list[str]:
    return [text(row.get(name)) for name in emails(org, table)]


def _is_another(person: Person, addresses: Sequence[str]) -> bool:
    """Return whether an address at a domain of the person's addresses is not one of them."""
    domains = {email.rpartition("@")[2].casefold() for email in person.emails}
    return any(address.rpartition("@")[2].casefold() in domains for address in filter(None, addresses))


def _text(row: Mapping[str, Any], column: str) -> str:
    """Return the value of a column, which may be one of the account."""
    relation, dot, name = column.partition(".")
    return text((row.get(relation) or {}).get(name) if dot else row.get(relation))
