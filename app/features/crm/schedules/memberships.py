"""What a schedule may name as its list in each CRM, and the function that reads the members."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from app.domain.errors import InvalidValue
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.hubspot import members as hubspot
from app.features.crm.vendors.members import Ask, Members
from app.features.crm.vendors.pipedrive import members as pipedrive
from app.features.crm.vendors.salesforce import members as salesforce
from app.features.crm.vendors.salesforce.people import LEAD_PREFIX as SALESFORCE_LEAD
from app.features.crm.vendors.twenty import members as twenty
from app.features.crm.vendors.zoho import members as zoho
from app.features.crm.vendors.zoho.records import LEAD_PREFIX as ZOHO_LEAD

ReadPage: TypeAlias = Callable[[Ask, str, RecordKind, str | None], Members]
"""Returns a page of the members of a list with this id, of records of this kind, at this position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListKind:
    """The lists of one CRM: what it calls them, how a workspace names one, and how their members are read.

    `lead_prefix` begins the ids of leads in requests that write them; None if the CRM has no leads.
    """

    called: str
    help: str
    pattern: str
    page: ReadPage
    lead_prefix: str | None = None


LISTS: Mapping[str, ListKind] = MappingProxyType(
    {
        "hubspot": ListKind(
            called="list",
            help="The number of the list (segment): the last part of its address, as in …/lists/42.",
            pattern=r"[0-9]{1,20}",
            page=hubspot.page,
        ),
        "pipedrive": ListKind(
            called="filter",
            help="The number of the filter of people: the last part of its address, as in …/filter/42.",
            pattern=r"[0-9]{1,20}",
            page=pipedrive.page,
        ),
        "salesforce": ListKind(
            called="list view",
            help="The id of the list view: filterName in its address, as in …?filterName=00B5g00000AbCdE. "
            "Of a report, make a list view.",
            pattern=r"00B[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?",
            page=salesforce.page,
            lead_prefix=SALESFORCE_LEAD,
        ),
        "twenty": ListKind(
            called="filter",
            help='A filter of the REST API, such as jobTitle[ilike]:"%sales%", or all for all people.',
            pattern=r"all|[A-Za-z][^\n\r]{0,499}",
            page=twenty.page,
        ),
        "zoho": ListKind(
            called="custom view",
            help="The number of the custom view: the last part of its address, as in …/custom-view/4402",
            pattern=r"[0-9]{1,20}",
            page=zoho.page,
            lead_prefix=ZOHO_LEAD,
        ),
    }
)
"""One entry per CRM."""


def check(vendor: str, list_id: str, kind: RecordKind) -> None:
    """Return if the CRM may have such a list.

    Raises:
        InvalidValue: what is wrong, and how a list is named.

    """
    lists = LISTS[vendor]
    if kind is RecordKind.LEAD and lists.lead_prefix is None:
        raise InvalidValue("This CRM has contacts only.")
    if not re.fullmatch(lists.pattern, list_id, re.ASCII):
        raise InvalidValue(f"It does not name a {lists.called}. {lists.help}")


def record_id(vendor: str, kind: RecordKind, crm_id: str) -> str:
    """Return the id under which requests write the record."""
    prefix = LISTS[vendor].lead_prefix if kind is RecordKind.LEAD else None
    return f"{prefix or ''}{crm_id}"
