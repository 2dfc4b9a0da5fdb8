"""The filters, the order and the position of a page of contacts, as its URL has them.

A URL contains no person's name: the search by name is a form, and a position is the id of a contact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import request

from app.domain.findings import EmailStatus
from app.domain.messages import Message
from app.engine.owned.owned_filters import Order, Selection, Sort

ORDERS: dict[str, tuple[str, Sort, Order]] = {
    "": (Message("Latest first"), Sort.REVEALED_AT, Order.DESCENDING),
    "oldest": (Message("Oldest first"), Sort.REVEALED_AT, Order.ASCENDING),
    "changed": (Message("Last changed first"), Sort.UPDATED_AT, Order.DESCENDING),
    "name": (Message("By name"), Sort.NAME, Order.ASCENDING),
    "company": (Message("By company"), Sort.COMPANY, Order.ASCENDING),
}
"""The orders of the page: the text, and what is sorted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactFilters:
    """The filters as text; those that are not set are empty."""

    list_id: str = ""
    tag: str = ""
    owner: str = ""
    company: str = ""
    status: str = ""
    order: str = ""

    @classmethod
    def of_request(cls, list_id: str | None = None) -> ContactFilters:
        """Return the filters in the URL, without unknown values; `list_id` is the list whose page it is."""
        return cls.of(request.args, list_id)

    @classmethod
    def of(cls, values: Mapping[str, str], list_id: str | None = None) -> ContactFilters:
        """Return the filters in a query or a form."""
        given = {name: values.get(name, "").strip() for name in ("tag", "owner", "company")}
        status, order = values.get("status", ""), values.get("order", "")
        return cls(
            list_id=list_id or values.get("list", "").strip(),
            status=status if status in set(EmailStatus) else "",
            order=order if order in ORDERS else "",
            **{name: value.replace("\0", "") for name, value in given.items()},
        )

    @property
    def selection(self) -> Selection:
        """Return the selection of the contacts."""
        _, sort, order = ORDERS[self.order]
        return Selection(
            list_name=self.list_id or None,
            tag=self.tag or None,
            owner=self.owner or None,
            company=self.company or None,
            status=EmailStatus(self.status) if self.status else None,
            sort=sort,
            order=order,
        )

    @property
    def is_filtered(self) -> bool:
        """Return whether any filter is set."""
        return any((self.list_id, self.tag, self.owner, self.company, self.status))

    @property
    def fields(self) -> dict[str, str]:
        """Return the filters that are set, as fields of a form."""
        names = {"list": self.list_id} | {
            name: getattr(self, name) for name in ("tag", "owner", "company", "status", "order")
        }
        return {name: value for name, value in names.items() if value}

    def query(self, **further: str) -> str:
        """Return the query string of the filters that are set, with further parameters."""
        return urlencode(self.fields | {name: value for name, value in further.items() if value})
