"""Stored contacts, shared by all workspaces; their e-mails and phones are hidden until revealed.

Two records are the same person if they share a LinkedIn URL; failing that, an e-mail address, unless the
names are of different people, or the names differ and it is the address of more than ten people; failing
that, the name at the same company, unless an imported record has another address or number (`namesakes`);
failing that, for records without profile and e-mail, a phone number with no conflicting name or company. Two
different LinkedIn profiles are always two people; but one with a chosen name and one with an id of the member
may be of one person, and a record that has both links them. A profile, an address or a number that lists have
for people of different names, and the address of a role (info@ …), shows nothing about a person, unless both
records have the same name, or both have none. A provider's record without a name never matches a named
contact by the address of many people or a phone number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ForeignKey, Index, String, false, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.findings import FoundContact
from app.domain.lists.warning_kinds import TAKEN_DOMAIN
from app.domain.normal.names.names import PersonName
from app.domain.records.merging import Change
from app.engine.contacts import companies, emails, former_addresses, job_changes, phones
from app.engine.contacts.bulk import lock_resolution, update_all
from app.engine.contacts.companies import UpsertedCompany
from app.engine.contacts.emails import EmailEntry
from app.engine.contacts.name_words import words_sql
from app.engine.contacts.phones import Numbers, PhoneEntry
from app.engine.contacts.resolution.contact_index import name_of
from app.engine.contacts.resolution.contact_resolution import UPDATED_COLUMNS, ContactResolver
from app.engine.contacts.saved import saved_profile_urls
from app.engine.contacts.search_terms import TERMS_SQL
from app.engine.contacts.seniorities import RANK_SQL
from app.engine.contacts.stored_rows import StoredContact
from app.infra.database.bulk_statements import insert_all
from app.infra.database.db import Base
from app.infra.database.session import Session

_UNNOTIFIED = text("notified_at IS NULL")
_HAS_MEMBER_URL = text("member_url IS NOT NULL")


class Contact(Base):
    """A person. `name_key` is the normalised full name, and `last_key` the last name in Latin letters.

    `title_terms` are the terms of the title (`title_words`), null if it has none.

    `linkedin_shared` states that lists have the profile for other people, too, so that it identifies none.

    `linkedin_url` is the profile with the chosen name or, until that is known, with an id of the member;
    `member_url` is one with an id beside it.

    `provenance` is the source of each field's value: `{field: {"source": …, "at": RFC 3339}}`, with `*` for
    fields without their own entry. `created_at` is when data of the person was first obtained, `notified_at`
    when the person was told of it, by the operator (GDPR, article 14).
    """

    __tablename__ = "contacts"
    __table_args__ = (
        Index("ix_contacts_company_id_last_key", "company_id", "last_key"),
        Index("ix_contacts_company_id_name_key", "company_id", "name_key"),
        Index(
            "ix_contacts_company_id_rank", "company_id", text(f"({RANK_SQL})"), text("coalesce(last_key, '')")
        ),
        Index(
            "ix_contacts_unnotified",
            "created_at",
            "id",
            sqlite_where=_UNNOTIFIED,
            postgresql_where=_UNNOTIFIED,
        ),
        Index(
            "ix_contacts_member_url",
            "member_url",
            unique=True,
            sqlite_where=_HAS_MEMBER_URL,
            postgresql_where=_HAS_MEMBER_URL,
        ),
        Index("ix_contacts_name_key", "name_key"),
        Index("ix_contacts_last_key", "last_key", "name_key"),
        Index("ix_contacts_name_words", text(f"({words_sql()})"), postgresql_using="gin").ddl_if(
            "postgresql"
        ),
        Index("ix_contacts_search", text(f"({TERMS_SQL})"), postgresql_using="gin").ddl_if("postgresql"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    full_name: Mapped[str | None]
    first_name: Mapped[str | None]
    last_name: Mapped[str | None]
    name_key: Mapped[str | None]
    last_key: Mapped[str | None]
    title: Mapped[str | None]
    title_terms: Mapped[str | None]
    seniority: Mapped[str | None]
    department: Mapped[str | None]
    linkedin_url: Mapped[str | None] = mapped_column(unique=True)
    member_url: Mapped[str | None]
    linkedin_shared: Mapped[bool] = mapped_column(server_default=false(), default=False)
    city: Mapped[str | None]
    country: Mapped[str | None]
    company_id: Mapped[str | None] = mapped_column(ForeignKey("companies.id", ondelete="SET NULL"))
    provenance: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    notified_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True)
class UpsertResult:
    """The contact that a record was merged into, and the change; None if the contact is new.

    `conflicts` are the codes of `cell_warnings` of what the record shares with others.
    """

    contact_id: str
    change: Change | None
    conflicts: tuple[str, ...]


def parsed_name(contact: Contact | StoredContact) -> PersonName:
    """Return the parts of the contact's name, empty where they are not stored."""
    return PersonName(contact.first_name or "", contact.last_name or "", contact.full_name or "")


def get(session: Session, contact_id: str) -> StoredContact | None:
    """Return the contact with this id, or None."""
    contact = session.get(Contact, contact_id)
    if contact is None:
        return None
    return StoredContact._make(getattr(contact, name) for name in StoredContact._fields)


def upsert(session: Session, found: FoundContact, *, now: datetime) -> Contact:
    """Insert or merge the person with their company, e-mails and phones, and return the contact."""
    session.flush()
    [result] = upsert_many(session, [found], now=now)
    return session.get_one(Contact, result.contact_id, populate_existing=True)


def upsert_many(
    session: Session, records: Sequence[FoundContact], *, now: datetime, numbers: Numbers | None = None
) -> list[UpsertResult]:
    """Insert or merge many records with few statements; `numbers` are phones that are parsed already.

    Call it before locking any contact: it acquires the resolution lock first.
    """
    lock_resolution(session)
    stored, new_companies = _employers(session, records, now)
    employers = [company.company_id if company else None for company in stored]
    resolver = ContactResolver(session, Contact.__table__, records, employers, new_companies)
    results = [
        resolver.upsert(found, employer, now) for found, employer in zip(records, employers, strict=True)
    ]
    insert_all(session, Contact, resolver.new)
    saved_profile_urls.follow(session, resolver.renamed, now=now)
    fresh = frozenset(row["id"] for row in resolver.new)
    changes = _upsert_values(session, records, results, fresh, numbers or {})
    for row, change in zip((row for row, _ in results), changes, strict=True):
        if change is not None and row["id"] not in fresh:
            resolver.mark_changed(row, change, now)
    update_all(session, Contact, resolver.changed, UPDATED_COLUMNS)
    job_changes.record(session, resolver.moves, now=now)
    former_addresses.mark(session, Contact.__table__, [*resolver.moves, *resolver.outdated])
    return [
        UpsertResult(row["id"], _greatest(contact_change, change), (*codes, *_taken_domain(company)))
        for (row, contact_change), change, codes, company in zip(
            results, changes, resolver.conflicts, stored, strict=True
        )
    ]


def _taken_domain(company: UpsertedCompany | None) -> tuple[str, ...]:
    """Return the code of a record whose domain another company has."""
    return (TAKEN_DOMAIN,) if company is not None and company.domain_taken else ()


def _greatest(contact_change: Change | None, change: Change | None) -> Change | None:
    """Return the greater change of the contact and its e-mails and phones; None for a new contact."""
    if contact_change is None or change is None:
        return contact_change
    return max(contact_change, change, key=lambda item: item.value)


def _employers(
    session: Session, records: Sequence[FoundContact], now: datetime
) -> tuple[list[UpsertedCompany | None], frozenset[str]]:
    """Insert or merge the companies of the records.

    Return one for each record, None without a company, and the ids of the new companies.
    """
    employers = [found.company for found in records if found.company is not None]
    results = companies.upsert_many(session, employers, now=now, rename=False)
    stored = iter(results)
    new = frozenset(result.company_id for result in results if result.change is None)
    return [None if found.company is None else next(stored) for found in records], new


def _upsert_values(
    session: Session,
    records: Sequence[FoundContact],
    results: Sequence[tuple[dict[str, Any], Change | None]],
    fresh: Collection[str],
    numbers: Numbers,
) -> list[Change | None]:
    """Insert or merge the e-mails and phones; return each record's greatest change, None without any."""
    owned_emails = [
        EmailEntry(row["id"], name_of(row), email)
        for found, (row, _) in zip(records, results, strict=True)
        for email in found.emails
    ]
    owned_phones = [
        PhoneEntry(row["id"], phone, numbers.get((phone.e164, phone.extension)))
        for found, (row, _) in zip(records, results, strict=True)
        for phone in found.phones
    ]
    of_emails = iter(emails.upsert_many(session, owned_emails, fresh=fresh))
    of_phones = iter(phones.upsert_many(session, owned_phones, fresh=fresh))
    changes: list[Change | None] = []
    for found in records:
        mine = [*islice(of_emails, len(found.emails)), *islice(of_phones, len(found.phones))]
        changes.append(_greatest_of(mine))
    return changes


def _greatest_of(changes: Sequence[Change]) -> Change | None:
    for change in (Change.CHANGED, Change.REFRESHED, Change.NONE):  # to compare their values takes longer
        if change in changes:
            return change
    return None
