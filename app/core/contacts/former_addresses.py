"""Work addresses at a former employer, which stay with the contact but are not what is sold first.

An address is former if the contact moved to another company after any source last had the address, and it is
at the domain of the company before. A source that has the address again, after the move, makes it current.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.contacts import job_changes
from app.core.contacts.bulk import rows_in, update_all
from app.core.contacts.emails import FORMER, Email, at_most_risky
from app.core.contacts.job_changes import Move
from app.domain.normal.websites import parent_domains


def mark(session: Session, moves: Sequence[Move]) -> None:
    """Mark the work addresses that the moved contacts had at the company before.

    Moves between two records of one company change nothing.
    """
    if not moves:
        return
    of_contact = defaultdict(list)
    for move in job_changes.with_companies(session, moves):
        if not move.current.is_same(move.previous):
            of_contact[move.contact_id].append(move)
    columns = (
        Email.id,
        Email.contact_id,
        Email.domain,
        Email.status,
        Email.status_reasons,
        Email.last_seen_at,
    )
    query = select(*columns).where(Email.type == "work")
    former = [
        {
            "id": row.id,
            "status": at_most_risky(row.status),
            "status_reasons": [*row.status_reasons, FORMER],
        }
        for row in rows_in(session, query, Email.__table__.c.contact_id, of_contact)
        if FORMER not in row.status_reasons
        and any(_is_former(row.domain, row.last_seen_at, move) for move in of_contact[row.contact_id])
    ]
    update_all(session, Email, former, ("status", "status_reasons"))


def _is_former(domain: str, last_seen_at: datetime, move: Move) -> bool:
    """Return whether an address at this domain belongs to the previous employer, and was not seen since."""
    if last_seen_at >= move.as_of:
        return False
    website = parent_domains(domain)[-1]
    if move.previous.domain is None:
        return move.current.domain is not None and website != move.current.domain
    return website == move.previous.domain
