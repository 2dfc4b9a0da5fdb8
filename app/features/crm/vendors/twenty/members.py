"""The people of Twenty that match a filter of its REST API.

Source: twentyhq/twenty, `parse-filter-rest-request` (`filter=jobTitle[ilike]:"%sales%"`, `and(…)`, `or(…)`).
The filters of Twenty's views are written otherwise, and its REST API lists no records by a view.
"""

from __future__ import annotations

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.exchange import Request, text
from app.features.crm.vendors.members import Ask, MemberLists, Members

EVERYONE = "all"
"""The name of the list of all people."""
PAGE_SIZE = 60


def page(
    ask: Ask,
    list_id: str,
    kind: RecordKind,  # noqa: ARG001 -- there are contacts only
    position: str | None,
) -> Members:
    """Return a page of the people that match the filter."""
    query = {"limit": str(PAGE_SIZE), "order_by": "id[AscNullsFirst]"}
    if list_id != EVERYONE:
        query["filter"] = list_id
    if position:
        query["starting_after"] = position
    body = ask(Request(method="GET", path="/rest/people", query=query)).object
    info = body.get("pageInfo") or {}
    following = text(info.get("endCursor")) if info.get("hasNextPage") else ""
    return Members(ids=[text(person["id"]) for person in body["data"]["people"]], position=following or None)


MEMBER_LISTS = MemberLists(
    called=Message("filter"),
    help=Message('A filter of the REST API, such as jobTitle[ilike]:"%sales%", or all for all people.'),
    pattern=r"all|[A-Za-z][^\n\r]{0,499}",
    page=page,
)
