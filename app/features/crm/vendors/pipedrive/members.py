"""The persons that match a filter of Pipedrive.

Source: the official pipedrive/client-nodejs, `src/versions/v2` (`GET /persons`: `filter_id`, `limit` up to
500, `cursor`).
"""

from __future__ import annotations

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.exchange import Request, text
from app.features.crm.vendors.members import Ask, MemberLists, Members
from app.features.crm.vendors.pipedrive.reading import API, PERSONS

PAGE_SIZE = 500


def page(
    ask: Ask,
    list_id: str,
    kind: RecordKind,  # noqa: ARG001 -- there are contacts only
    position: str | None,
) -> Members:
    """Return a page of the persons that match the filter."""
    query = {"filter_id": list_id, "sort_by": "id", "sort_direction": "asc", "limit": str(PAGE_SIZE)}
    if position:
        query["cursor"] = position
    body = ask(Request(method="GET", path=f"{API}/{PERSONS}", query=query)).object
    following = (body.get("additional_data") or {}).get("next_cursor")
    return Members(ids=[text(person["id"]) for person in body["data"]], position=text(following) or None)


MEMBER_LISTS = MemberLists(
    called=Message("filter"),
    help=Message("The number of the filter of people: the last part of its address, as in …/filter/42."),
    pattern=r"[0-9]{1,20}",
    page=page,
)
