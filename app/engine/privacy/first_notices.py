"""First notices: people whose data did not come from them, and who must be informed of it (GDPR, article 14).

Data is obtained when a contact is first stored, by an import or from a provider. The notice is due a period
after that, and at the first disclosure, the first reveal by any workspace, at the latest. One notice is due
for each contact. People who are suppressed are left out; erased ones are not stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from sqlalchemy import func, literal, or_, select, tuple_, update

from app.domain.findings import EmailStatus
from app.engine.contacts.bulk import batched
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import contact_data, representations
from app.engine.lookups.contact_data import ContactData
from app.infra.clock import rfc3339
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

BATCH = 500
MAX_COUNTED = 1000
"""The count of overdue notices ends here."""
GRACE = timedelta(days=1)
"""A notice counts as overdue a day after it was due: one that a reveal makes due can be sent in this time."""
COLUMNS = (
    "contact_id", "full_name", "company", "country", "email", "linkedin_url", "sources", "obtained_at",
    "disclosed_at", "due_at",
)  # fmt: skip
_DISCLOSED_AT = (
    select(func.min(Reveal.created_at)).where(Reveal.contact_id == Contact.id).scalar_subquery()
)  # a scalar subquery is read from the index of contacts; PostgreSQL might read all reveals for an EXISTS
_PEOPLE = (
    select(
        Contact,
        func.coalesce(Company.name, Company.domain).label("company"),
        _DISCLOSED_AT.label("disclosed_at"),
    )
    .outerjoin(Company, Company.id == Contact.company_id)
    .where(Contact.notified_at.is_(None))
    .order_by(Contact.created_at, Contact.id)
    .limit(BATCH)
)


@dataclass(frozen=True, slots=True)
class Marked:
    """The numbers of contacts marked now, of those marked before, and of ids that are not stored."""

    marked: int
    already: int
    unknown: int


def due(session: Session, *, by: datetime, period: timedelta) -> Iterator[dict[str, str]]:
    """Yield the people whose first notice is due by then, earliest obtained first, as cells of `COLUMNS`."""
    is_due = or_(Contact.created_at <= literal(by - period), literal(by) >= _DISCLOSED_AT)
    query = _PEOPLE.where(is_due)
    while rows := session.execute(query).all():
        data = contact_data.load(session, "", [row.Contact for row in rows])
        yield from (
            _cells(row.Contact, row.company, row.disclosed_at, data, period)
            for row in rows
            if not data.is_suppressed(row.Contact)
        )
        last = rows[-1].Contact
        after = tuple_(literal(last.created_at, Contact.created_at.type), literal(last.id))
        query = _PEOPLE.where(is_due, tuple_(Contact.created_at, Contact.id) > after)


def count_overdue(session: Session, *, period: timedelta, now: datetime) -> int:
    """Return how many people's first notice was due GRACE ago, MAX_COUNTED at most; 0 without a period.

    It reads the data of everyone who is due, also of suppressed people: seconds for some ten thousand.
    """
    if not period:
        return 0
    return sum(1 for _person in islice(due(session, by=now - GRACE, period=period), MAX_COUNTED))


def mark(session: Session, contact_ids: Collection[str], *, at: Moment) -> Marked:
    """Record that these people were notified then; those already marked keep their time."""
    marked = stored = 0
    for part in batched(sorted(set(contact_ids))):
        stored += len(session.scalars(select(Contact.id).where(Contact.id.in_(part))).all())
        change = update(Contact).where(Contact.id.in_(part), Contact.notified_at.is_(None))
        change = change.values(notified_at=at).returning(Contact.id)
        marked += len(session.scalars(change.execution_options(synchronize_session=False)).all())
    return Marked(marked, stored - marked, len(set(contact_ids)) - stored)


def _cells(
    contact: Contact,
    company: str | None,
    disclosed_at: datetime | None,
    data: ContactData,
    period: timedelta,
) -> dict[str, str]:
    due_at = contact.created_at + period
    if disclosed_at is not None:
        due_at = min(due_at, disclosed_at)
    cells = {
        "contact_id": contact.id,
        "full_name": contact.full_name,
        "company": company,
        "country": data.country_of(contact),
        "email": _address(data, contact),
        "linkedin_url": contact.linkedin_url,
        "sources": "; ".join(_sources(data, contact)),
        "obtained_at": rfc3339(contact.created_at),
        "disclosed_at": rfc3339(disclosed_at),
        "due_at": rfc3339(due_at),
    }
    return {name: value for name, value in cells.items() if value}


def _address(data: ContactData, contact: Contact) -> str | None:
    """Return the best address that no rule hides."""
    usable = [row for row in data.emails.get(contact.id, ()) if row.status != EmailStatus.INVALID]
    return min(usable, key=representations.quality_key).email if usable else None


def _sources(data: ContactData, contact: Contact) -> Sequence[str]:
    """Return the names of the lists and providers from which the data is."""
    names = {source["provider"] for row in data.values_of(contact.id) for source in row.sources}
    return sorted(names | {str(stamp["source"]) for stamp in contact.provenance.values()})
