"""Enrichments: what a list of people or companies may cost, before anybody is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.core.lookups import disclosure
from app.core.lookups.disclosure import TYPES, ContactField, FieldRequest, KnownPerson, MinStatus
from app.domain.errors import ContactNotFound
from app.domain.kinds import Kind
from app.domain.records.subjects import Subject
from app.settings import Settings

JOB_KIND_BY_FIELD = {ContactField.EMAIL: Kind.REVEAL_EMAIL, ContactField.PHONE: Kind.REVEAL_PHONE}
DEFAULT_FIELD_REQUESTS = {
    ContactField.EMAIL: FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.VALID),
    ContactField.PHONE: FieldRequest(
        field=ContactField.PHONE, types=TYPES[ContactField.PHONE], min_status=MinStatus.ANY
    ),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Credits an enrichment costs at least and at most; how many items cost nothing, and why."""

    credits_min: int = 0
    credits_max: int = 0
    owned: int = 0
    suppressed: int = 0
    ineligible: int = 0


def estimate(
    session: Session,
    workspace_id: str,
    requests: Sequence[dict[str, Any]],
    fields: Sequence[str],
    *,
    settings: Settings,
    now: datetime,
) -> Estimate:
    """Add up what the items may cost; `requests` are those of the job's items.

    Who is named twice is paid once.
    """
    least = most = owned = suppressed = ineligible = 0
    counted: set[str] = set()
    wishes = [wish for field, wish in DEFAULT_FIELD_REQUESTS.items() if field.value in fields]
    for request in requests:
        known = _known(session, workspace_id, request, wishes, settings, now)
        if known is None:
            ineligible += 1
        elif any(one.suppressed for one in known):
            suppressed += 1
        elif known and all(one.owned for one in known):
            owned += 1
        elif (who := _who(known, request)) not in counted:
            counted.add(who)
            costs = [
                (settings.prices[JOB_KIND_BY_FIELD[wish.field]], one.good)
                for wish, one in zip(wishes, known, strict=False)  # a company has no paid fields
                if not one.owned
            ]
            least += sum(price for price, good in costs if good)
            most += sum(price for price, _good in costs)
    return Estimate(least, most, owned, suppressed, ineligible)


def _who(known: Sequence[KnownPerson], request: dict[str, Any]) -> str:
    """Give what two items share if they are about the same person, as far as that is known."""
    contact = known[0].contact if known else None
    return contact.id if contact else json.dumps(request.get("subject"), sort_keys=True)


def _known(  # noqa: PLR0917 -- what the caller was given, for one item
    session: Session,
    workspace_id: str,
    request: dict[str, Any],
    wishes: Sequence[FieldRequest],
    settings: Settings,
    now: datetime,
) -> list[KnownPerson] | None:
    """Look at what is stored for each wish; None if the item names nobody."""
    if "subject" not in request:
        return [] if "company" in request else None
    subject = Subject(**request["subject"])
    try:
        return [
            disclosure.assess(session, workspace_id, subject, wish, usual_age=settings.usual_age, now=now)
            for wish in wishes
        ]
    except ContactNotFound:
        return None
