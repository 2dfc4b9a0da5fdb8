"""The addresses of roles (info@…) that the websites of companies show, each with its page and the day.

They belong to no person, and cost nothing. The smallest companies are one person, so they are encrypted,
suppressed and erased like the addresses of people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.domain.providers.website_pages import PageState, RoleAddress
from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.clock import rfc3339
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedText
from app.infra.database.session import Session

MAX_STORED = 50
"""The places of addresses that are kept of one website."""
_OPT_OUTS = frozenset({"opted_out", "robots_disallowed"})


class WebsiteAddress(Base):
    """An address of a role on a page of a company's website; `seen_at` is when it was last read there."""

    __tablename__ = "website_addresses"
    __table_args__ = (
        UniqueConstraint("domain", "email_index", "url"),
        Index("ix_website_addresses_email_index", "email_index"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    domain: Mapped[str] = mapped_column(ForeignKey("website_readings.domain", ondelete="CASCADE"))
    email_index: Mapped[str]
    email: Mapped[str] = mapped_column(
        EncryptedText("website_addresses.email", index="email_index", field="email")
    )
    url: Mapped[str]
    seen_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class ShownAddress:
    """An address of a role with the page where it was last seen."""

    email: str
    url: str
    seen_at: datetime


def shown(session: Session, domain: str) -> list[ShownAddress]:
    """Return the addresses of a company, without the suppressed, in the order of the alphabet."""
    query = select(WebsiteAddress).where(WebsiteAddress.domain == domain).order_by(WebsiteAddress.seen_at)
    latest: dict[str, ShownAddress] = {}
    for row in session.scalars(query):
        latest[row.email] = ShownAddress(row.email, row.url, row.seen_at)
    hidden = _suppressed(session, latest)
    return [latest[email] for email in sorted(latest) if email not in hidden]


def replace(
    session: Session,
    domain: str,
    found: Iterable[RoleAddress],
    pages: Sequence[PageState],
    *,
    unchanged: Collection[str],
    now: datetime,
) -> None:
    """Replace the addresses of a site by those of its last reading.

    A page that is unchanged or was not visited keeps its own, one that opted out loses them. A reading that
    failed changes nothing, unless the whole site opted out.
    """
    was_read = any(page.digest for page in pages)
    opted_out = {page.url for page in pages if page.reason in _OPT_OUTS}
    if not was_read and not opted_out:
        return
    visited = {page.url for page in pages}
    rows = session.scalars(select(WebsiteAddress).where(WebsiteAddress.domain == domain)).all()
    kept = {RoleAddress(row.email, row.url): row for row in rows}
    seen = {*found, *(place for place in kept if place.url in unchanged)}
    unseen = {place for place in kept if was_read and place.url not in visited}
    hidden = _suppressed(session, {place.email for place in seen | unseen})
    current = {place for place in seen | unseen if place.email not in hidden and place.url not in opted_out}
    places = sorted(current, key=lambda place: (place not in seen, place.email, place.url))[:MAX_STORED]
    gone = [row.id for place, row in kept.items() if place not in places]
    session.execute(delete(WebsiteAddress).where(WebsiteAddress.id.in_(gone)))
    for place in places:
        if place not in kept:
            session.add(_row(domain, place, now))
        elif place in seen:
            kept[place].seen_at = now


def purge_expired(session: Session, *, before: Moment) -> None:
    """Delete the addresses that were last seen before this moment."""
    session.execute(delete(WebsiteAddress).where(WebsiteAddress.seen_at < before))


@dataclass(frozen=True, slots=True)
class PersonAddresses:
    """The places of a person's own addresses on the websites of companies."""

    emails: frozenset[str]
    found: Sequence[WebsiteAddress]

    @property
    def rows(self) -> int:
        """Return how many places there are."""
        return len(self.found)

    @property
    def notes(self) -> int:
        """Return 0: a place is of one address only."""
        return 0

    def export(self, session: Session) -> dict[str, list[dict[str, Any]]]:  # noqa: ARG002 -- the interface's
        """Return the addresses, with the pages."""
        return {
            WebsiteAddress.__tablename__: [
                {"domain": row.domain, "email": row.email, "url": row.url, "seen_at": rfc3339(row.seen_at)}
                for row in self.found
            ]
        }

    def erase(self, session: Session) -> tuple[()]:
        """Delete the addresses, also those that were stored since they were found."""
        session.execute(delete(WebsiteAddress).where(_has_address(session, self.emails)))
        return ()


def of_person(session: Session, matcher: PersonMatcher) -> PersonAddresses:
    """Return where the person's addresses stand."""
    emails = frozenset(matcher.emails)
    query = select(WebsiteAddress).where(_has_address(session, emails)).order_by(WebsiteAddress.id)
    return PersonAddresses(emails, session.scalars(query).all() if emails else ())


def _row(domain: str, place: RoleAddress, now: datetime) -> WebsiteAddress:
    return WebsiteAddress(id=new_id("wad"), domain=domain, email=place.email, url=place.url, seen_at=now)


def _has_address(session: Session, emails: Collection[str]) -> Any:  # noqa: ANN401 -- a condition
    return WebsiteAddress.email_index.in_(stored_forms(session, "email", emails))


def _suppressed(session: Session, emails: Iterable[str]) -> frozenset[str]:
    """Return the addresses that are suppressed, by themselves or by their domain."""
    listed = suppression_checks.any_suppressed(session, [Identifier("email", email) for email in emails])
    return frozenset(identifier.value for identifier in listed)
