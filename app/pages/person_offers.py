"""What pages offer for a person: the values that the workspace owns, and masked ones with their price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.domain.findings import EmailStatus
from app.engine.lookups.field_requests import ContactField
from app.web.services import services

_BEST_FIRST = (EmailStatus.VALID.value, EmailStatus.ACCEPT_ALL.value)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the page offers for a field: values that the workspace owns, and masked ones with their price.

    `is_own` is whether the workspace has such a value itself, which a reveal returns if it is verified.
    """

    field: ContactField
    owned: list[dict[str, Any]]
    masked: list[dict[str, Any]]
    price: int
    is_own: bool

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of a reveal that accepts each of the masked values."""
        if not self.masked:
            return {}
        statuses = {value["status"] for value in self.masked}
        min_status = next((status for status in _BEST_FIRST if status in statuses), "any")
        types = sorted({value["type"] for value in self.masked})
        return {"min_status": min_status, "types": types}


def of(result: dict[str, Any]) -> list[Offer]:
    """Return the offers for the person of a lookup."""
    return [
        Offer(
            field,
            result["revealed"][f"{field.value}s"],
            [entry for entry in result["available"] if entry["field"] == field.value and not entry["owned"]],
            services().settings.price_of(field),
            any(field.value in record["has"] for record in result.get("crm", ())),
        )
        for field in (ContactField.EMAIL, ContactField.PHONE)
    ]
