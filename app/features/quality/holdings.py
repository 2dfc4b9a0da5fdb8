"""What the table of verifications holds about people: a row for an address, which is deleted with it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from app.engine.contacts.emails import Email
from app.engine.privacy.holdings import Holdings
from app.features.quality.tables import Verification
from app.infra.database.session import Session


def count(session: Session, contact_ids: Sequence[str]) -> dict[str, int]:
    """Return how many addresses of the contacts have a verification scheduled."""
    query = select(func.count()).select_from(Verification).join(Email, Email.id == Verification.email_id)
    return {"verifications": session.scalars(query.where(Email.contact_id.in_(contact_ids))).one()}


HOLDINGS = Holdings(count=count)
