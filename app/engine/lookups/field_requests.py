"""Requests for a field of a person, and the stored values that satisfy them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from app.domain.findings import EmailStatus
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.lookups import representations
from app.engine.lookups.contact_data import ContactData


class ContactField(StrEnum):
    """A field of a contact that a workspace can own."""

    EMAIL = "email"
    PHONE = "phone"


class MinStatus(StrEnum):
    """The minimum status: an existing mailbox, one on an accept-all host, or any that is not invalid."""

    VALID = "valid"
    ACCEPT_ALL = "accept_all"
    ANY = "any"


TYPES: dict[ContactField, tuple[str, ...]] = {
    ContactField.EMAIL: ("work", "personal"),
    ContactField.PHONE: ("mobile", "direct", "work", "hq", "other"),
}
ACCEPTED_STATUSES: dict[MinStatus, frozenset[str]] = {
    MinStatus.VALID: frozenset({EmailStatus.VALID}),
    MinStatus.ACCEPT_ALL: frozenset({EmailStatus.VALID, EmailStatus.ACCEPT_ALL}),
    MinStatus.ANY: frozenset(EmailStatus) - {EmailStatus.INVALID},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRequest:
    """A request for a field of a person: types, minimum status, and maximum age (None: the default)."""

    field: ContactField
    types: tuple[str, ...]
    min_status: MinStatus
    max_age: timedelta | None = None

    @classmethod
    def parse(cls, field: ContactField, request: dict[str, Any]) -> FieldRequest:
        """Parse a job's request."""
        days = request.get("max_age_days")
        return cls(
            field=field,
            types=tuple(request["types"]),
            min_status=MinStatus(request["min_status"]),
            max_age=None if days is None else timedelta(days=days),
        )

    def accepts(self, kind: str, status: str) -> bool:
        """Return whether a value of this type and status satisfies the request."""
        return kind in self.types and status in ACCEPTED_STATUSES[self.min_status]


DEFAULT_FIELD_REQUESTS = {
    ContactField.EMAIL: FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.VALID),
    ContactField.PHONE: FieldRequest(
        field=ContactField.PHONE, types=TYPES[ContactField.PHONE], min_status=MinStatus.ANY
    ),
}
"""What an enrichment requests of each person."""


def requested_values(
    data: ContactData, contact_id: str, field_request: FieldRequest
) -> list[StoredEmail | StoredPhone]:
    """Return the contact's values of a requested type and status, best first; their age does not matter."""
    rows = stored_values(data, contact_id, field_request.field)
    return sorted(
        (row for row in rows if field_request.accepts(row.type, row.status)), key=representations.quality_key
    )


def stored_values(
    data: ContactData, contact_id: str, field: ContactField
) -> Sequence[StoredEmail | StoredPhone]:
    """Return all values of a field of the contact."""
    stored: Mapping[str, Sequence[StoredEmail | StoredPhone]] = (
        data.emails if field is ContactField.EMAIL else data.phones
    )
    return stored.get(contact_id, ())


def owns(
    data: ContactData,
    contact_id: str,
    field_request: FieldRequest,
    values: Sequence[StoredEmail | StoredPhone],
) -> bool:
    """Return whether the workspace owns the field, or every value that satisfies the request."""
    is_field_owned = (contact_id, field_request.field.value) in data.owned.fields
    return is_field_owned or (bool(values) and all(map(data.owns, values)))


def is_any_since(values: Sequence[StoredEmail | StoredPhone], oldest: datetime | None) -> bool:
    """Return whether any value was verified or seen since then; without a time, whether there is any."""
    return any(oldest is None or (row.verified_at or row.last_seen_at) >= oldest for row in values)
