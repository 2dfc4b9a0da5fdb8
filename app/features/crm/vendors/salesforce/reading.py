"""Salesforce's contacts and leads, all of them or those that were changed, in the order of a key.

Sources: SOQL and SOSL Reference ("Date Formats and Date Literals", comparisons of ids, ORDER BY, LIMIT);
Object Reference, "System Fields" (SystemModstamp is indexed, and set by each change, also of the system) and
"Lead" (`IsConverted`). Each page is a query from the key of the last row, because the pages of one query
(`nextRecordsUrl`) end after two days, and with the tenth open query of a user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Unreachable
from app.features.crm.vendors.exchange import moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.reading import UNREADABLE, Page, chosen, full_name
from app.features.crm.vendors.salesforce import soql
from app.features.crm.vendors.salesforce.layouts import CONTACT, LEAD, emails, layout, visible
from app.features.crm.vendors.salesforce.org import Org

PAGE_SIZE = 200
_CHANGED_AT = "SystemModstamp"
_KINDS = {CONTACT: RecordKind.CONTACT, LEAD: RecordKind.LEAD}
_NAMES = ("FirstName", "LastName")
_PHONES = ("Phone", "MobilePhone")
_OWN = {
    CONTACT: ("Account.Name", "Account.Website", "Owner.Name"),
    LEAD: ("Company", "Website", "Owner.Name", "Status", "IsConverted"),
}


def page(org: Org, mapping: Mapping[str, str], since: datetime | None, position: str | None) -> Page:
    """Return a page of the contacts, and after them of the leads; a table that may not be read is left out.

    Raises:
        AccessRefused: the credentials are not accepted.
        Rejected: neither may be read.

    """
    place = json.loads(position) if position else {"table": CONTACT}
    table = place["table"]
    try:
        rows = org.rows(
            table,
            _columns(org, mapping, table),
            _condition(since, place),
            limit=PAGE_SIZE,
            order="Id" if since is None else f"{_CHANGED_AT}, Id",
        )
    except (AccessRefused, Rejected) as refusal:
        if refusal.reason == NOT_ACCEPTED:
            raise
        if "is_alone" in place:
            raise Rejected(refusal.reason) from None  # so that the next pass begins with the contacts
        leads = json.dumps({"table": LEAD, "is_alone": True}) if table == CONTACT else None
        return Page(people=(), position=leads, notes=[UNREADABLE[_KINDS[table]]])
    gone = [row for row in rows if row.get("IsConverted")]
    people = [_person(org, mapping, table, row).normal() for row in rows if not row.get("IsConverted")]
    return Page(
        people=people,
        position=_next_position(place, rows),
        gone=[(_KINDS[table], str(row["Id"])) for row in gone],
    )


def _columns(org: Org, mapping: Mapping[str, str], table: str) -> list[str]:
    readable = set(visible(org, mapping, table))
    mapped = [*_phones(org, mapping, table), *_profiles(org, mapping, table)]
    own = [name for name in mapped if name in readable]
    return list(dict.fromkeys([_CHANGED_AT, *_NAMES, *emails(org, table), *_PHONES, *own, *_OWN[table]]))


def _phones(org: Org, mapping: Mapping[str, str], table: str) -> list[str]:
    return chosen(layout(org, mapping, table), CrmField.PHONE, *_PHONES)


def _profiles(org: Org, mapping: Mapping[str, str], table: str) -> list[str]:
    return chosen(layout(org, mapping, table), CrmField.LINKEDIN_URL)


def _condition(since: datetime | None, place: Mapping[str, Any]) -> str:
    """Return the condition of the rows after the last one of the page before."""
    last = soql.quoted(place["id"]) if "id" in place else ""
    if since is None:
        return f"Id > {last}" if last else "Id != null"
    if not last:
        return f"{_CHANGED_AT} >= {soql.moment(since)}"
    at = place["at"]
    return f"({_CHANGED_AT} > {at} OR ({_CHANGED_AT} = {at} AND Id > {last}))"


def _next_position(place: Mapping[str, Any], rows: list[Mapping[str, Any]]) -> str | None:
    alone = {"is_alone": True} if "is_alone" in place else {}
    if len(rows) >= PAGE_SIZE:
        at = moment(rows[-1].get(_CHANGED_AT))
        if at is None:
            raise Unreachable("unexpected_response")
        key = {"id": str(rows[-1]["Id"]), "at": soql.moment(at)}
        return json.dumps({"table": place["table"]} | key | alone)
    return json.dumps({"table": LEAD}) if place["table"] == CONTACT else None


def _person(org: Org, mapping: Mapping[str, str], table: str, row: Mapping[str, Any]) -> CrmPerson:
    account = row.get("Account") or {"Name": row.get("Company"), "Website": row.get("Website")}
    return CrmPerson(
        crm_id=str(row["Id"]),
        kind=_KINDS[table],
        changed_at=moment(row.get(_CHANGED_AT)),
        name=full_name(row, *_NAMES),
        emails=[text(row.get(name)) for name in emails(org, table)],
        phones=[text(row.get(name)) for name in _phones(org, mapping, table)],
        profiles=[text(row.get(name)) for name in _profiles(org, mapping, table)],
        company=text(account.get("Name")),
        domain=text(account.get("Website")),
        owner=text((row.get("Owner") or {}).get("Name")),
        stage=text(row.get("Status")),
    )
