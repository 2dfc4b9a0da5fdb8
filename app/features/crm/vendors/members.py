"""Pages of the members of a list, a view or a filter of a CRM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.features.crm.vendors.exchange import Request, Response

Ask: TypeAlias = Callable[[Request], Response]
"""Sends a request, and raises an error for a response that is none."""
NOT_OF_PEOPLE = "list_not_of_people"
"""The reason of the refusal of a list whose members are something else, such as companies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The ids of members as the CRM has them, and the position of the next page, None after the last one."""

    ids: Sequence[str]
    position: str | None
