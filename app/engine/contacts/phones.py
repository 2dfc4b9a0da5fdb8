"""Phone numbers of contacts, with type, status, sources and timestamps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, ForeignKey, FromClause, Index, String, UniqueConstraint, and_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.findings import FoundPhone
from app.domain.normal.phones.phones import PhoneNumber, phone_from_e164
from app.domain.records import provenance
from app.domain.records.merging import Change
from app.engine.contacts import contact_locks, contact_points
from app.engine.contacts.bulk import batched
from app.engine.contacts.contact_points import RETAINED_SINCE, ContactPointSpec
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedText
from app.infra.database.session import Session

Numbers: TypeAlias = Mapping[tuple[str, str | None], PhoneNumber]

HEAD_OFFICE = "hq"
PERSONAL_TYPES = ("mobile", "direct")
_MERGED_FIELDS = ("type", "status", "extension", "confidence", "verified_at")
_ENTRY_FIELDS = ("do_not_call", "do_not_call_at")
_GAPS = {"type": "other", "extension": None}
"""Placeholder values: any source may overwrite them, and they never overwrite anything."""
_UPDATED_COLUMNS = (*_MERGED_FIELDS, *_ENTRY_FIELDS, "first_seen_at", "last_seen_at", "sources")


class Phone(Base):
    """One number of one contact, in E.164.

    `e164` is encrypted; `e164_index` is its blind index, as an e-mail has one.
    `type` is mobile, direct, work, hq or other, as reported by the source; `line_type` is derived from the
    digits. `do_not_call_at` is when the do-not-call register was checked or, if unknown, when the entry was
    reported.
    """

    __tablename__ = "phones"
    __table_args__ = (
        UniqueConstraint("contact_id", "e164_index"),
        Index("ix_phones_e164_index", "e164_index"),
        Index("ix_phones_retained_since", RETAINED_SINCE),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"))
    e164_index: Mapped[str]
    e164: Mapped[str] = mapped_column(EncryptedText("phones.e164", index="e164_index", field="phone"))
    national: Mapped[str] = mapped_column(EncryptedText("phones.national"))
    extension: Mapped[str | None]
    country: Mapped[str | None]
    type: Mapped[str]
    line_type: Mapped[str]
    status: Mapped[str]
    confidence: Mapped[float | None]
    do_not_call: Mapped[bool | None]
    do_not_call_at: Mapped[datetime | None]
    verified_at: Mapped[datetime | None]
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    sources: Mapped[list[Any]]


class PhoneEntry(NamedTuple):  # faster to make than a dataclass
    """A number found for a contact; `number` is its parsed form, if available."""

    contact_id: str
    found: FoundPhone
    number: PhoneNumber | None = None

    @property
    def value(self) -> str:
        """Return the number."""
        return self.found.e164


def by_contact(session: Session, contact_ids: Collection[str]) -> dict[str, list[Phone]]:
    """Return the numbers by contact id, oldest first, without contacts that have none."""
    result: dict[str, list[Phone]] = {}
    for part in batched(contact_ids):
        for phone in session.scalars(select(Phone).where(Phone.contact_id.in_(part)).order_by(Phone.id)):
            result.setdefault(phone.contact_id, []).append(phone)
    return result


def may_be_shared(phones: FromClause) -> ColumnElement[bool]:
    """Return the SQL condition that a row of phones is neither a mobile nor a direct dial."""
    return and_(*(phones.c.type != type_ for type_ in PERSONAL_TYPES), phones.c.line_type != "mobile")


def upsert(session: Session, contact_id: str, found: FoundPhone, *, now: datetime) -> Phone:
    """Insert the number for the contact, or merge it into the stored one.

    Raises:
        ContactNotFound: there is no such contact.

    """
    session.flush()
    contact_locks.lock_contact(session, contact_id)
    [change] = upsert_many(session, [PhoneEntry(contact_id, found)])
    if change is Change.CHANGED:
        contact_locks.touch(session, [contact_id], now)
    query = select(Phone).where(Phone.contact_id == contact_id, has_number(session, [found.e164]))
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def has_number(session: Session, numbers: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that a phone is one of these numbers."""
    return Phone.e164_index.in_(stored_forms(session, "phone", numbers))


def upsert_many(
    session: Session, items: Sequence[PhoneEntry], *, fresh: Collection[str] = frozenset()
) -> list[Change]:
    """Insert or merge many; `fresh` are contacts just inserted. The caller has locked the contacts."""
    return contact_points.upsert_many(session, _SPEC, items, fresh)


def _row(item: PhoneEntry) -> dict[str, Any]:
    found = item.found
    number = item.number or phone_from_e164(found.e164, found.extension)
    return {
        "contact_id": item.contact_id,
        "e164": found.e164,
        "national": number.national,
        "country": number.country,
        "line_type": number.line_type,
        **_merged_values(found),
        **_entry(found),
        "first_seen_at": found.source.at,
        "last_seen_at": found.source.at,
        "sources": provenance.initial_sources(found.source),
    }


def _merge(row: dict[str, Any], item: PhoneEntry) -> Change:
    found = item.found
    is_newer = provenance.supersedes(row, found)
    change = Change.REFRESHED if provenance.record_observation(row, found.source) else Change.NONE
    values = _reported(found)
    if not is_newer:
        values = {name: values[name] for name, gap in _GAPS.items() if name in values and row[name] == gap}
    if provenance.apply(row, values):
        change = Change.CHANGED
    return max(change, _merge_entry(row, found), key=lambda change: change.value)


def _merge_entry(row: dict[str, Any], found: FoundPhone) -> Change:
    """Merge a newer do-not-call entry with its date; a missing entry changes nothing."""
    entry = _entry(found)
    known_at = row["do_not_call_at"]
    if found.do_not_call is None or (known_at is not None and entry["do_not_call_at"] <= known_at):
        return Change.NONE
    differs = row["do_not_call"] != found.do_not_call
    row.update(entry)
    return Change.CHANGED if differs else Change.REFRESHED


def _merged_values(found: FoundPhone) -> dict[str, Any]:
    return {
        "type": found.type,
        "status": found.status,
        "extension": found.extension,
        "confidence": found.confidence,
        "verified_at": found.verified_at,
    }


def _reported(found: FoundPhone) -> dict[str, Any]:
    """Return the values of the finding without placeholders; an unknown status counts only if verified."""
    values = {
        name: value for name, value in _merged_values(found).items() if value not in {None, _GAPS["type"]}
    }
    if found.status == "unknown" and found.verified_at is None:
        del values["status"]
        return values
    return values | {"confidence": found.confidence}


def _entry(found: FoundPhone) -> dict[str, Any]:
    if found.do_not_call is None:
        return dict.fromkeys(_ENTRY_FIELDS)
    return {"do_not_call": found.do_not_call, "do_not_call_at": found.do_not_call_at or found.source.at}


_SPEC = ContactPointSpec(Phone, "phone", "e164", "pho", _row, _merge, _UPDATED_COLUMNS, ("e164", "national"))
