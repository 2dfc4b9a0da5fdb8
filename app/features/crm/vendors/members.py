"""Pages of the members of a list, a view or a filter of a CRM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors.exchange import Request, Response

Ask: TypeAlias = Callable[[Request], Response]
"""Sends a request, and raises an error for a response that is none."""
NOT_OF_PEOPLE = "list_not_of_people"
"""The reason of the refusal of a list whose members are something else, such as companies."""
WITHOUT_IDS = "list_without_ids"
"""The reason of the refusal of a report that does not say which records its people are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The ids of members as the CRM has them, and the position of the next page, None after the last one.

    `is_partial` states that the CRM returns no more of the list, though it has more.
    """

    ids: Sequence[str]
    position: str | None
    is_partial: bool = False


ReadPage: TypeAlias = Callable[[Ask, str, RecordKind, str | None], Members]
"""Returns a page of the members of a list with this id, of records of this kind, at this position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLists:
    """The lists of one CRM: what it calls them, how a workspace names one, and how their members are read.

    `pattern` is a regular expression of the name.
    """

    called: Message
    help: str
    pattern: str
    page: ReadPage
