"""E-mail addresses of contacts, with status, sources and timestamps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.email_patterns.recorded_forms import recorded_form
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.normal.emails import email_domain
from app.domain.normal.names.names import PersonName
from app.domain.records import provenance
from app.domain.records.merging import Change
from app.engine.contacts import contact_locks, contact_points
from app.engine.contacts.bulk import batched
from app.engine.contacts.contact_points import RETAINED_SINCE, ContactPointSpec
from app.engine.contacts.stored_rows import StoredEmail
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedText
from app.infra.database.session import Session

FORMER = "former"
"""The reason of an address at an employer that the person has left."""
TRUSTED = frozenset({EmailStatus.VALID.value, EmailStatus.ACCEPT_ALL.value})
"""Statuses that a bounce, or a change of employer, lowers to `risky`; the others are `risky` or worse."""
LEARNED = text("type = 'work' AND status = 'valid' AND form IS NOT NULL")
"""The condition on the addresses from which patterns are learned, as the index has it."""
_MERGED_FIELDS = ("type", "status", "status_reasons", "confidence", "verified_at")
_UPDATED_COLUMNS = (*_MERGED_FIELDS, "form", "first_seen_at", "last_seen_at", "sources")


class Email(Base):
    """One address of one contact, normalised.

    `email` is encrypted; `email_index` is its blind index, by which it is found. `type` is work or personal;
    `status` is an `EmailStatus`. `form` is the pattern of the address, such as `{first}.{last}`, with
    spelling options as in `{f}{last} particles:joined`, or `OTHER`; null if the name cannot tell, or if the
    address is a role or was itself guessed from a pattern. `sources` is a list of `{"provider", "kind",
    "first_seen_at", "last_seen_at"}`. Freshness counts from `last_seen_at`.
    `reported_at` is when a second workspace last confirmed a bounce; only a later verdict overrides it.
    """

    __tablename__ = "emails"
    __table_args__ = (
        UniqueConstraint("contact_id", "email_index"),
        Index("ix_emails_email_index", "email_index"),
        Index("ix_emails_domain", "domain", "id", "form", sqlite_where=LEARNED, postgresql_where=LEARNED),
        Index("ix_emails_retained_since", RETAINED_SINCE),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    email_index: Mapped[str]
    email: Mapped[str] = mapped_column(EncryptedText("emails.email", index="email_index", field="email"))
    domain: Mapped[str]
    type: Mapped[str]
    status: Mapped[str]
    status_reasons: Mapped[list[Any]]
    confidence: Mapped[float | None]
    form: Mapped[str | None]
    verified_at: Mapped[datetime | None]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    sources: Mapped[list[Any]]
    reported_at: Mapped[datetime | None]


class EmailEntry(NamedTuple):  # faster to make than a dataclass
    """An address found for a contact, with the contact's name."""

    contact_id: str
    name: PersonName | None
    found: FoundEmail

    @property
    def value(self) -> str:
        """Return the address."""
        return self.found.email


def by_contact(session: Session, contact_ids: Collection[str]) -> dict[str, list[Email]]:
    """Return the addresses by contact id, oldest first, without contacts that have none."""
    result: dict[str, list[Email]] = {}
    for part in batched(contact_ids):
        for email in session.scalars(select(Email).where(Email.contact_id.in_(part)).order_by(Email.id)):
            result.setdefault(email.contact_id, []).append(email)
    return result


def as_found(row: StoredEmail) -> FoundEmail:
    """Convert a stored address to a finding of its first source."""
    first = row.sources[0]
    return FoundEmail(
        email=row.email,
        type=row.type,
        status=EmailStatus(row.status),
        source=Source(first["provider"], SourceKind(first["kind"]), row.last_seen_at, url=first.get("url")),
        reasons=tuple(row.status_reasons),
        confidence=row.confidence,
        verified_at=row.verified_at,
    )


def any_bounced(session: Session, addresses: Collection[str], *, since: datetime) -> bool:
    """Return whether a bounce of one of the addresses was confirmed since then."""
    query = select(Email.id).where(Email.reported_at >= since).limit(1)
    return any(
        session.scalar(query.where(has_address(session, part))) is not None for part in batched(addresses)
    )


def is_guess(row: Email) -> bool:
    """Return whether the address was only guessed from the pattern of its domain; no source named it."""
    return _is_guess(row.sources)


def at_most_risky(status: str) -> str:
    """Return the status of an address after a bounce or at a former employer: risky at best."""
    return EmailStatus.RISKY.value if status in TRUSTED else status


def has_address(session: Session, addresses: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that an e-mail is one of these addresses."""
    return Email.email_index.in_(stored_forms(session, "email", addresses))


def upsert(session: Session, contact_id: str, found: FoundEmail, *, now: datetime) -> Email:
    """Insert the address for the contact, or merge it into the stored one.

    Raises:
        ContactNotFound: there is no such contact.

    """
    session.flush()
    name = contact_locks.lock_contact(session, contact_id)
    [change] = upsert_many(session, [EmailEntry(contact_id, name, found)])
    if change is Change.CHANGED:
        contact_locks.touch(session, [contact_id], now)
    query = select(Email).where(Email.contact_id == contact_id, has_address(session, [found.email]))
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def upsert_many(
    session: Session, items: Sequence[EmailEntry], *, fresh: Collection[str] = frozenset()
) -> list[Change]:
    """Insert or merge many; `fresh` are contacts just inserted. The caller has locked the contacts."""
    return contact_points.upsert_many(session, _SPEC, items, fresh)


def _row(item: EmailEntry) -> dict[str, Any]:
    found = item.found
    seen_at = found.source.at
    return {
        "contact_id": item.contact_id,
        "email": found.email,
        "domain": email_domain(found.email),
        **_merged_values(found),
        "form": _form(item),
        "first_seen_at": seen_at,
        "last_seen_at": seen_at,
        "sources": provenance.initial_sources(found.source),
    }


def _merge(row: dict[str, Any], item: EmailEntry) -> Change:
    is_newer = provenance.supersedes(row, item.found) or _is_current_again(row, item.found)
    is_newer = is_newer and not _predates_bounce(row, item.found)
    was_guess = _is_guess(row["sources"])
    change = Change.REFRESHED if provenance.record_observation(row, item.found.source) else Change.NONE
    if was_guess and (form := _form(item)):
        row["form"] = form
        change = Change.REFRESHED
    if is_newer and provenance.apply(row, _merged_values(item.found)):
        change = Change.CHANGED
    return change


def _is_guess(sources: Sequence[dict[str, Any]]) -> bool:
    return all(source["kind"] == SourceKind.PATTERN for source in sources)


def _is_current_again(row: dict[str, Any], found: FoundEmail) -> bool:
    """Return whether a source has the address of a former employer after the person had left it."""
    is_observed = found.source.kind is not SourceKind.PATTERN
    return FORMER in row["status_reasons"] and is_observed and found.source.at > row["last_seen_at"]


def _predates_bounce(row: dict[str, Any], found: FoundEmail) -> bool:
    """Return whether the finding was verified before the last confirmed bounce, or not at all."""
    reported_at = row.get("reported_at")
    return reported_at is not None and (found.verified_at is None or found.verified_at <= reported_at)


def _merged_values(found: FoundEmail) -> dict[str, Any]:
    return {
        "type": found.type,
        "status": found.status.value,
        "status_reasons": _listed(found.reasons),
        "confidence": found.confidence,
        "verified_at": found.verified_at,
    }


@lru_cache(maxsize=64)
def _listed(reasons: tuple[str, ...]) -> list[str]:
    """Return the reasons as they are stored. The list is cached and shared, so it must not be mutated."""
    return list(reasons)


def _form(item: EmailEntry) -> str | None:
    """Return the pattern of a work address, unless the address was guessed from one."""
    name, found = item.name, item.found
    if name is None or found.type != "work" or found.source.kind is SourceKind.PATTERN:
        return None
    return recorded_form(found.email, name)


_SPEC = ContactPointSpec(Email, "email", "email", "eml", _row, _merge, _UPDATED_COLUMNS, ("email",))
