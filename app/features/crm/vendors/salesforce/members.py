"""The contacts or leads in a list view or a report of Salesforce.

Source: REST API Developer Guide, "List View Describe" (`query`, the SOQL of the view) and "Query"
(`nextRecordsUrl`). The query is sent for the ids only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.errors import Unreachable
from app.features.crm.vendors.exchange import Request, text
from app.features.crm.vendors.members import Ask, MemberLists, Members
from app.features.crm.vendors.salesforce import reports
from app.features.crm.vendors.salesforce.layouts import CONTACT, LEAD
from app.features.crm.vendors.salesforce.org import API

_TABLES: Mapping[RecordKind, str] = MappingProxyType({RecordKind.CONTACT: CONTACT, RecordKind.LEAD: LEAD})
_FROM = " FROM "
_NEXT = f"{API}/query/"


def page(ask: Ask, list_id: str, kind: RecordKind, position: str | None) -> Members:
    """Return a page of the rows of the list view, or the rows of the report."""
    if list_id.startswith(reports.PREFIX):
        return reports.members(ask, list_id, kind)
    if position is None:
        path = f"{API}/sobjects/{_TABLES[kind]}/listviews/{list_id}/describe"
        soql = text(ask(Request(method="GET", path=path)).object["query"])
        request = Request(method="GET", path=f"{API}/query", query={"q": _for_ids(soql)})
    else:
        request = Request(method="GET", path=position)
    body = ask(request).object
    following = text(body.get("nextRecordsUrl"))
    if following and not following.startswith(_NEXT):
        raise Unreachable("unexpected_response")
    return Members(ids=[text(row["Id"]) for row in body["records"]], position=following or None)


def _for_ids(soql: str) -> str:
    """Return the query of a view with the id as its only column."""
    _columns, found, rest = soql.partition(_FROM)
    if not found:
        raise Unreachable("unexpected_response")
    return f"SELECT Id{_FROM}{rest}"


MEMBER_LISTS = MemberLists(
    called=Message("list view or report"),
    help=Message(
        "The id of the list view: filterName in its address, as in …?filterName=00B5g00000AbCdE. Or the id "
        "of a report, as in …/Report/00O5g00000AbCdE/view, that has the column Contact ID, or Lead ID for "
        "leads. Salesforce returns the first 2,000 rows of a report, and all of a list view."
    ),
    pattern=r"00[BO][A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?",
    page=page,
)
