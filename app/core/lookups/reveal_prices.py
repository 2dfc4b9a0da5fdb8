"""The price of a reveal at the moment it is submitted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.core.lookups import disclosure
from app.core.lookups.disclosure import FieldRequest
from app.domain.records.subjects import Subject
from app.infra import database_clock
from app.infra.database_clock import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealPrice:
    """What the price of a reveal depends on; `credits` is the price of a field that is not yet owned."""

    subject: Subject
    field_request: FieldRequest
    credits: int
    default_max_age: timedelta


def current_price(session: Session, workspace_id: str, price: RevealPrice, *, now: Moment) -> int:
    """Return the credits to hold: 0 if the workspace owns the field or the contact is suppressed.

    Raises:
        ContactNotFound: the subject names a contact id that does not exist.

    """
    known = disclosure.assess(
        session,
        workspace_id,
        price.subject,
        price.field_request,
        default_max_age=price.default_max_age,
        now=database_clock.value(session, now),
    )
    return 0 if known.owned or known.suppressed else price.credits
