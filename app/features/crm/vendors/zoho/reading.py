"""Zoho's contacts and leads, all of them or those that were changed, in the order of their changes.

Sources: zoho/crm-oas, `v8.0/record/operations/getRecords` (`fields`, up to 50; `sort_by=Modified_Time`;
`page_token` for up to 100,000 records; `converted=both`; `info.more_records`, `info.next_page_token`; 204 for
none) and zoho.com/crm/developer/docs/api/v8/get-records.html (the header `If-Modified-Since`, 304 for none).

Each page is a query of its own, from the second before the last row's change, as it is not documented whether
the header includes its time; the rows that this repeats are left out. So neither the limit of a token nor a
change meanwhile loses anybody. Only the pages of one second, as after an import, are read by token.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected, Unreachable
from app.features.crm.vendors.exchange import moment, text
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.reading import UNREADABLE, Page, chosen, full_name
from app.features.crm.vendors.zoho.records import ACCOUNT, CONTACTS, EMAILS, LEADS, layout

PAGE_SIZE = 200
_KINDS = {CONTACTS: RecordKind.CONTACT, LEADS: RecordKind.LEAD}
_SECOND = timedelta(seconds=1)
_CHANGED_AT, _OWNER, _CONVERTED, _STATUS = "Modified_Time", "Owner", "Converted__s", "Lead_Status"
_NAMES = ("First_Name", "Last_Name")
_PHONES = ("Phone", "Mobile")
_COMPANY, _WEBSITE = "Company", "Website"
_OWN = {CONTACTS: (ACCOUNT,), LEADS: (_COMPANY, _WEBSITE, _STATUS, _CONVERTED)}

Listing: TypeAlias = tuple[list[Mapping[str, Any]], Mapping[str, Any]]
"""Rows, and the information about their page."""
List: TypeAlias = Callable[[str, Mapping[str, str], Mapping[str, str]], Listing]
"""Lists the rows of a module with a query and headers."""


def page(listed: List, mapping: Mapping[str, str], since: datetime | None, position: str | None) -> Page:
    """Return a page of the contacts, and after them of the leads; a module that may not be read is left out.

    Raises:
        AccessRefused: the credentials are not accepted.
        Rejected: neither may be read, or Zoho refused a page after the first.

    """
    place = json.loads(position) if position else {"module": CONTACTS}
    module = place["module"]
    start = moment(place.get("from")) or since
    try:
        rows, info = listed(module, _query(mapping, place, is_full=since is None), _headers(start))
    except (AccessRefused, Rejected) as refusal:
        is_later = "from" in place or "token" in place
        if refusal.reason == NOT_ACCEPTED or (is_later and isinstance(refusal, Rejected)):
            raise
        if "is_alone" in place:
            raise Rejected(refusal.reason) from None  # so that the next pass begins with the contacts
        leads = json.dumps({"module": LEADS, "is_alone": True}) if module == CONTACTS else None
        return Page(people=(), position=leads, notes=[UNREADABLE[_KINDS[module]]])
    following = _next_place(place, start, rows, info)
    seen = set(place.get("seen", ()))
    new = [row for row in rows if _key(row) not in seen]
    return Page(
        people=[_person(row, mapping, module).normal() for row in new if not row.get(_CONVERTED)],
        position=None if following is None else json.dumps(following),
        gone=[(_KINDS[module], str(row["id"])) for row in new if row.get(_CONVERTED)],
    )


def _query(mapping: Mapping[str, str], place: Mapping[str, Any], *, is_full: bool) -> dict[str, str]:
    module = place["module"]
    query = {
        "fields": ",".join(_columns(layout(mapping, module), module)),
        "sort_by": _CHANGED_AT,
        "sort_order": "asc",
        "per_page": str(PAGE_SIZE),
    }
    if module == LEADS and not is_full:
        query["converted"] = "both"  # those that were converted since then are forgotten
    return query | ({"page_token": place["token"]} if "token" in place else {})


def _headers(start: datetime | None) -> dict[str, str]:
    if start is None:
        return {}
    return {"If-Modified-Since": start.astimezone(UTC).isoformat(timespec="seconds")}


def _next_place(
    place: Mapping[str, Any],
    start: datetime | None,
    rows: Sequence[Mapping[str, Any]],
    info: Mapping[str, Any],
) -> dict[str, Any] | None:
    if not info.get("more_records"):
        return {"module": LEADS} if place["module"] == CONTACTS else None
    alone = {"is_alone": True} if "is_alone" in place else {}
    last = _changed_at(rows[-1])
    if last is None:
        raise Unreachable("unexpected_response")
    again = last.replace(microsecond=0) - _SECOND
    if start is None or again > start:
        seen = [_key(row) for row in rows if (_changed_at(row) or last) >= again]
        return {"module": place["module"], "from": again.isoformat(), "seen": seen} | alone
    token = text(info.get("next_page_token"))
    if not token:
        raise Unreachable("unexpected_response")
    return {**place, "token": token}


def _key(row: Mapping[str, Any]) -> str:
    """Return the id and the time of the change: a row that was changed since it was read is another one."""
    return f"{row['id']} {row.get(_CHANGED_AT)}"


def _changed_at(row: Mapping[str, Any]) -> datetime | None:
    return moment(row.get(_CHANGED_AT))


def _columns(fields: Mapping[str, str], module: str) -> list[str]:
    names = (
        *_NAMES,
        *chosen(fields, CrmField.EMAIL, *EMAILS),
        *chosen(fields, CrmField.PHONE, *_PHONES),
        *chosen(fields, CrmField.LINKEDIN_URL),
        *chosen(fields, CrmField.WEBSITE),
        *_OWN[module],
        *(_OWNER, _CHANGED_AT),
    )
    return list(dict.fromkeys(names))


def _person(row: Mapping[str, Any], mapping: Mapping[str, str], module: str) -> CrmPerson:
    fields = layout(mapping, module)

    def texts(names: Sequence[str]) -> list[str]:
        return [text(row.get(name)) for name in names]

    websites = texts([*chosen(fields, CrmField.WEBSITE), _WEBSITE])
    account = row.get(ACCOUNT) or {}
    return CrmPerson(
        crm_id=str(row["id"]),
        kind=_KINDS[module],
        changed_at=_changed_at(row),
        name=full_name(row, *_NAMES),
        emails=texts(chosen(fields, CrmField.EMAIL, *EMAILS)),
        phones=texts(chosen(fields, CrmField.PHONE, *_PHONES)),
        profiles=texts(chosen(fields, CrmField.LINKEDIN_URL)),
        company=text(account.get("name") or row.get(_COMPANY)),
        domain=next(filter(None, websites), ""),
        owner=text((row.get(_OWNER) or {}).get("name")),
        stage=text(row.get(_STATUS)),
    )
