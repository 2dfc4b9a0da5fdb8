"""Pages of the people that a CRM has, or of those that were changed in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.vendors.errors import NOT_ACCEPTED, AccessRefused, Rejected
from app.features.crm.vendors.exchange import text
from app.features.crm.vendors.person import CrmField

T = TypeVar("T")

OWNERS_UNREADABLE = "owners_unreadable"
COMPANIES_UNREADABLE = "companies_unreadable"
UNREADABLE = MappingProxyType(
    {RecordKind.CONTACT: "contacts_unreadable", RecordKind.LEAD: "leads_unreadable"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """People of a CRM in normal form, and the position of the next page, None after the last one.

    `gone` are the kinds and ids of records that stand for nobody any more, such as converted leads. `notes`
    are codes of what the credentials may not read.
    """

    people: Sequence[CrmPerson] = field(repr=False)
    position: str | None
    gone: Sequence[tuple[RecordKind, str]] = ()
    notes: Sequence[str] = ()


def optional(call: Callable[[], T], otherwise: T, note: str) -> tuple[T, tuple[str, ...]]:
    """Return what the call reads, without a note; the default with the note if it may not be read.

    Raises:
        AccessRefused: the credentials are not accepted at all.

    """
    try:
        return call(), ()
    except (AccessRefused, Rejected) as refusal:
        if refusal.reason == NOT_ACCEPTED:
            raise
        return otherwise, (note,)


def chosen(mapping: Mapping[str, str], field_name: CrmField, *defaults: str) -> list[str]:
    """Return the property that the workspace chose for the field, and those in which vendors have it."""
    return list(dict.fromkeys([*filter(None, [mapping.get(field_name)]), *defaults]))


def full_name(of: Mapping[str, Any], first: str, last: str) -> str:
    """Return the name that two values make together."""
    return f"{text(of.get(first))} {text(of.get(last))}".strip()
