"""Work addresses and numbers of a former employer, which stay with the contact but are not sold first.

An address is former if the contact moved to another company after any source last had the address, and it is
at the domain of the company before. A source that has the address again, after the move, makes it current.

Numbers have no status reasons. The number of a head office, or one that people at the former company have
and nobody at the new one has, becomes `unknown` instead of `valid` until a later source confirms it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import FromClause, Row, and_, select
from sqlalchemy.orm import aliased

from app.domain.findings import EmailStatus
from app.domain.normal.websites import parent_domains
from app.engine.contacts import job_changes
from app.engine.contacts.bulk import rows_in, update_all
from app.engine.contacts.emails import FORMER, Email, at_most_risky
from app.engine.contacts.job_changes import Move
from app.engine.contacts.phones import HEAD_OFFICE, Phone, may_be_shared
from app.infra.database.session import Session


def mark(session: Session, people: FromClause, moves: Sequence[Move]) -> None:
    """Mark the work addresses and numbers that the moved contacts had at the company before.

    `people` is the table of contacts. Moves between two records of one company change nothing.
    """
    if not moves:
        return
    of_contact = defaultdict(list)
    for move in job_changes.with_companies(session, moves):
        if not move.current.is_same(move.previous):
            of_contact[move.contact_id].append(move)
    _mark_addresses(session, of_contact)
    _mark_numbers(session, people, of_contact)


def _mark_addresses(session: Session, of_contact: Mapping[str, Sequence[Move]]) -> None:
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


def _mark_numbers(session: Session, people: FromClause, of_contact: Mapping[str, Sequence[Move]]) -> None:
    other, colleague = aliased(Phone), people.alias()
    query = (
        select(Phone.id, Phone.contact_id, Phone.type, Phone.last_seen_at, colleague.c.company_id)
        .outerjoin(other, and_(other.e164_index == Phone.e164_index, other.contact_id != Phone.contact_id))
        .outerjoin(colleague, colleague.c.id == other.contact_id)
        .where(Phone.status == EmailStatus.VALID, may_be_shared(Phone.__table__))
        .distinct()
    )
    rows = list(rows_in(session, query, Phone.__table__.c.contact_id, of_contact))
    employers = defaultdict(set)
    for row in rows:
        employers[row.id].add(row.company_id)
    former = {
        row.id
        for row in rows
        if any(_is_former_number(row, employers[row.id], move) for move in of_contact[row.contact_id])
    }
    unknown = [{"id": phone_id, "status": EmailStatus.UNKNOWN.value} for phone_id in sorted(former)]
    update_all(session, Phone, unknown, ("status",))


def _is_former_number(row: Row[*tuple[Any, ...]], employers: Collection[str | None], move: Move) -> bool:
    """Return whether a number of people at these companies belongs to the previous employer."""
    is_theirs = row.type == HEAD_OFFICE or move.previous.company_id in employers
    return is_theirs and move.current.company_id not in employers and row.last_seen_at < move.as_of


def _is_former(domain: str, last_seen_at: datetime, move: Move) -> bool:
    """Return whether an address at this domain belongs to the previous employer, and was not seen since."""
    if last_seen_at >= move.as_of:
        return False
    website = parent_domains(domain)[-1]
    if move.previous.domain is None:
        return move.current.domain is not None and website != move.current.domain
    return website == move.previous.domain
