"""The websites that were read, by company domain: when, which pages, and the e-mail patterns they showed.

It holds no personal data: the people whom a site names are stored as contacts, and addresses of roles in
`website_addresses`. All workers share the rows, so that one of them reads a site at a time, and none reads it
again for some days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from sqlalchemy import ForeignKey, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.email_patterns.patterns import PatternStat
from app.domain.providers.website_pages import PageState, RoleAddress
from app.engine.contacts import website_addresses
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

LEASE = timedelta(seconds=30)
"""The time after which a reading that did not end is taken over: longer than any takes."""
RETRIED_AFTER = timedelta(days=1)
NO_ANSWER = "no_answer"


class WebsiteReading(Base):
    """The last reading of a website; `pages` are those of it, `reading_until` is set during one.

    `reason` is why no page was read, None if one was.
    """

    __tablename__ = "website_readings"

    domain: Mapped[str] = mapped_column(primary_key=True)
    read_at: Mapped[datetime | None]
    reading_until: Mapped[datetime | None]
    reason: Mapped[str | None]
    pages: Mapped[list[Any]]


class WebsiteForm(Base):
    """How many people on a website have an address of a form, as in `Email.form`."""

    __tablename__ = "website_forms"

    domain: Mapped[str] = mapped_column(
        ForeignKey("website_readings.domain", ondelete="CASCADE"), primary_key=True
    )
    form: Mapped[str] = mapped_column(primary_key=True)
    people: Mapped[int]


class Turn(Enum):
    """Whether a site may be read now: it is the caller's turn, or it is being read, or it was lately."""

    YOURS = auto()
    BUSY = auto()
    RECENT = auto()


def claim(session: Session, domain: str, *, fresh_since: datetime, now: datetime) -> Turn:
    """Take the turn to read a site, unless it is being read, or was read after `fresh_since`.

    A site that could not be read is tried again after a day.
    """
    new = insert(session, WebsiteReading).values(domain=domain, pages=[])
    session.execute(new.on_conflict_do_nothing())
    query = select(WebsiteReading).where(WebsiteReading.domain == domain).with_for_update()
    row = session.scalars(query, execution_options={"populate_existing": True}).one()
    if row.reading_until is not None and now < row.reading_until <= now + LEASE:
        return Turn.BUSY
    since = fresh_since if row.reason is None else max(fresh_since, now - RETRIED_AFTER)
    if row.read_at is not None and since <= row.read_at <= now:
        return Turn.RECENT
    row.reading_until = now + LEASE
    return Turn.YOURS


def release(session: Session, domain: str) -> None:
    """End the turn to read a site that was not read after all; the reading before stays the last."""
    session.execute(update(WebsiteReading).where(WebsiteReading.domain == domain).values(reading_until=None))


def pages_of(session: Session, domain: str) -> tuple[PageState, ...]:
    """Return the pages of the last reading of a site."""
    row = session.get(WebsiteReading, domain)
    return tuple(PageState(**page) for page in row.pages) if row else ()


def store(
    session: Session,
    domain: str,
    pages: Sequence[PageState],
    patterns: Sequence[PatternStat],
    role_addresses: Sequence[RoleAddress] = (),
    *,
    now: datetime,
) -> None:
    """Store the end of a reading; without pages it failed, and patterns are only replaced by others."""
    row = session.get(WebsiteReading, domain)
    if row is None:  # purged meanwhile
        return
    before = {page["url"]: page["digest"] for page in row.pages}
    unchanged = {page.url for page in pages if page.digest and before.get(page.url) == page.digest}
    website_addresses.replace(session, domain, role_addresses, pages, unchanged=unchanged, now=now)
    row.read_at, row.reading_until, row.reason = now, None, _failure(pages)
    if pages:
        row.pages = [asdict(page) for page in pages]
    if patterns:
        session.execute(delete(WebsiteForm).where(WebsiteForm.domain == domain))
        session.add_all(WebsiteForm(domain=domain, form=stat.form, people=stat.count) for stat in patterns)


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete the readings that ended before this moment, with their patterns and addresses."""
    website_addresses.purge_expired(session, before=before)
    expired = select(WebsiteReading.domain).where(WebsiteReading.read_at < before)
    session.execute(delete(WebsiteForm).where(WebsiteForm.domain.in_(expired)))
    session.execute(delete(WebsiteReading).where(WebsiteReading.read_at < before))


def _failure(pages: Sequence[PageState]) -> str | None:
    """Return why no page was read; None if one was."""
    if any(page.digest for page in pages):
        return None
    return next((page.reason for page in pages if page.reason), NO_ANSWER)
