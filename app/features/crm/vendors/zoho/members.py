"""The contacts or leads in a custom view of Zoho.

Source: zoho/crm-oas, `v8.0/record/operations/getRecords` (`cvid`, `fields`, `per_page` up to 200,
`page_token` for up to 100,000 records, `info.next_page_token`; 204 for none).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import Unreachable
from app.features.crm.vendors.exchange import NO_CONTENT, Request, text
from app.features.crm.vendors.members import Ask, MemberLists, Members
from app.features.crm.vendors.zoho.records import CONTACTS, LEADS

_API = "/crm/v8"
PAGE_SIZE = 200
_MODULES: Mapping[RecordKind, str] = MappingProxyType({RecordKind.CONTACT: CONTACTS, RecordKind.LEAD: LEADS})


def page(ask: Ask, list_id: str, kind: RecordKind, position: str | None) -> Members:
    """Return a page of the rows of the custom view."""
    query = {"cvid": list_id, "fields": "Modified_Time", "per_page": str(PAGE_SIZE)}
    if position:
        query["page_token"] = position
    response = ask(Request(method="GET", path=f"{_API}/{_MODULES[kind]}", query=query))
    if response.status == NO_CONTENT:
        return Members(ids=(), position=None)
    info = response.object["info"]
    following = text(info.get("next_page_token")) if info.get("more_records") else ""
    if info.get("more_records") and not following:
        raise Unreachable("unexpected_response")
    return Members(ids=[text(row["id"]) for row in response.object["data"]], position=following or None)


MEMBER_LISTS = MemberLists(
    called=Message("custom view"),
    help=Message("The number of the custom view: the last part of its address, as in …/custom-view/4402"),
    pattern=r"[0-9]{1,20}",
    page=page,
)
