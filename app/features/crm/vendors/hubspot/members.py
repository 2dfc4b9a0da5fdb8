"""The contacts on a list of HubSpot, which it also calls a segment.

Source: developers.hubspot.com/docs/api-reference/crm-lists-v3 (`GET /crm/v3/lists/{listId}` with
`list.objectTypeId`, `GET /crm/v3/lists/{listId}/memberships` with `recordId`, `limit` up to 250 and
`paging.next.after`; the scope `crm.lists.read`). Contacts and companies may have equal ids.
"""

from __future__ import annotations

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import Rejected
from app.features.crm.vendors.exchange import Request, text
from app.features.crm.vendors.members import NOT_OF_PEOPLE, Ask, MemberLists, Members

LISTS = "/crm/v3/lists"
PAGE_SIZE = 250
_CONTACTS = "0-1"
"""The id of the type of contacts."""


def page(
    ask: Ask,
    list_id: str,
    kind: RecordKind,  # noqa: ARG001 -- there are contacts only
    position: str | None,
) -> Members:
    """Return a page of the contacts on the list."""
    if position is None:
        found = ask(Request(method="GET", path=f"{LISTS}/{list_id}")).object["list"]
        if text(found["objectTypeId"]) != _CONTACTS:
            raise Rejected(NOT_OF_PEOPLE)
    query = {"limit": str(PAGE_SIZE)} | ({"after": position} if position else {})
    body = ask(Request(method="GET", path=f"{LISTS}/{list_id}/memberships", query=query)).object
    following = (body.get("paging") or {}).get("next") or {}
    return Members(
        ids=[text(one["recordId"]) for one in body["results"]],
        position=text(following.get("after")) or None,
    )


MEMBER_LISTS = MemberLists(
    called=Message("list"),
    help=Message("The number of the list (segment): the last part of its address, as in …/lists/42."),
    pattern=r"[0-9]{1,20}",
    page=page,
)
