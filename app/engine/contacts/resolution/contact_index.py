"""An index of the stored contacts that the records of one batch may match, loaded in a few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import FromClause, select

from app.domain.findings import FoundContact, SourceKind
from app.domain.normal.names.latin_names import family_key
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.names import PersonName
from app.domain.normal.profiles.member_ids import is_member_url
from app.domain.records.namesakes import ContactValues
from app.domain.records.profile_links import spellings, urls_of
from app.domain.records.shared_identifiers import values_of
from app.engine.contacts.bulk import as_dict, rows_in, rows_in_pairs
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database.session import Session

Row = dict[str, Any]
"""A row of the table of contacts, by column."""


def profiles_in(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the profile URLs of a contact."""
    return tuple(url for url in (row["linkedin_url"], row["member_url"]) if url)


def name_of(row: Mapping[str, Any]) -> PersonName | None:
    """Return the contact's name as a parsed name."""
    full = row["full_name"]
    return PersonName(row["first_name"] or "", row["last_name"] or "", full) if full else None


class ContactIndex:
    """Rows of contacts by their id, profile, address or number, and by company and name; `rows` by id."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._with_profile: dict[str, Row] = {}
        self._values: dict[str, ContactValues] = {}
        """The stored values of the contacts that only their name and company may join to a record."""
        self._merged: dict[str, list[FoundContact]] = {}
        """The records that were merged into each contact, and are not in `_values` yet."""
        self._by_value: dict[str, dict[str, Row]] = {}
        self._by_name: dict[tuple[str, str], dict[str, Row]] = {}

    @classmethod
    def load(
        cls,
        session: Session,
        table: FromClause,
        records: Sequence[FoundContact],
        employers: Sequence[str | None],
    ) -> ContactIndex:
        """Return every contact that may match one of the records; their rows are locked.

        `employers` are the ids of the records' companies, None where no stored contact can be there.
        """
        index = cls()
        owners = [*_owners_of_emails(session, records), *_owners_of_numbers(session, records)]
        for row in _candidates(session, table, records, employers, [owner for _, owner in owners]):
            index.add(row)
        for value, contact_id in owners:
            index.add_values(index.rows[contact_id], [value])
        index._load_ambiguous_numbers(session)
        index._load_values_of_namesakes(session, records, employers)
        return index

    def add(self, row: Row) -> None:
        """Add a row, or what is new of a row."""
        self.rows[row["id"]] = row
        self._with_profile |= dict.fromkeys(profiles_in(row), row)
        if row["name_key"] and row["company_id"]:
            self._by_name.setdefault((row["company_id"], row["name_key"]), {})[row["id"]] = row

    def add_values(self, row: Row, values: Iterable[str]) -> None:
        """Add addresses and numbers of a row."""
        for value in values:
            self._by_value.setdefault(value, {})[row["id"]] = row

    def with_profile(self, url: str) -> Row | None:
        """Return the row with this LinkedIn profile, also one stored without the capitals of its id."""
        for form in spellings(url):
            if row := self._with_profile.get(form):
                return row
        return None

    def add_record(self, row: Row, record: FoundContact) -> None:
        """Add a row with the addresses and numbers of a record that was merged into it."""
        self.add(row)
        self.add_values(row, values_of(record))
        self._merged.setdefault(row["id"], []).append(record)

    def values(self, contact_id: str) -> ContactValues | None:
        """Return the values of a contact that only its name and company may join to a record, if known."""
        for record in self._merged.pop(contact_id, ()):
            known = self._values.get(contact_id, ContactValues())
            self._values[contact_id] = known.joined(ContactValues.of(record))
        return self._values.get(contact_id)

    def with_value(self, value: str) -> dict[str, Row]:
        """Return the rows with this address or number, by id."""
        return self._by_value.get(value, {})

    def named(self, company_id: str, name_key: str) -> Collection[Row]:
        """Return the rows of the company with this normalised full name."""
        return self._by_name.get((company_id, name_key), {}).values()

    def _load_ambiguous_numbers(self, session: Session) -> None:
        """Load the numbers of contacts that share an identifier, to choose between them; this is rare."""
        shared = [*self._by_value.values(), *self._by_name.values()]
        ambiguous_ids = {contact_id for rows in shared if len(rows) > 1 for contact_id in rows}
        query = select(Phone.e164, Phone.contact_id)
        for value, contact_id in rows_in(session, query, Phone.__table__.c.contact_id, ambiguous_ids):
            self.add_values(self.rows[contact_id], [value])

    def _load_values_of_namesakes(
        self, session: Session, records: Sequence[FoundContact], employers: Sequence[str | None]
    ) -> None:
        """Load the addresses and numbers of contacts with the name and company of an imported record."""
        named = {
            row["id"]
            for record, employer in zip(records, employers, strict=True)
            if record.source.kind is SourceKind.IMPORT and employer and record.full_name
            for row in self.named(employer, person_key(record.full_name))
            if not any(row["id"] in self.with_value(value) for value in values_of(record))
        }
        if not named:
            return
        emails, phones = defaultdict(list), defaultdict(list)
        columns = (Email.contact_id, Email.email, Email.type, Email.status, Email.status_reasons)
        for contact_id, *email in rows_in(session, select(*columns), Email.__table__.c.contact_id, named):
            emails[contact_id].append(tuple(email))
        numbers = select(Phone.contact_id, Phone.e164, Phone.type)
        for contact_id, *phone in rows_in(session, numbers, Phone.__table__.c.contact_id, named):
            phones[contact_id].append(tuple(phone))
        for contact_id in named:
            self._values[contact_id] = ContactValues.from_values(emails[contact_id], phones[contact_id])


def _candidates(
    session: Session,
    table: FromClause,
    records: Sequence[FoundContact],
    employers: Sequence[str | None],
    owners: Sequence[str],
) -> Iterator[Row]:
    """Yield the contacts with one of the profiles, ids, or last names at a company, oldest first."""
    locked = select(table).with_for_update(key_share=True)
    profiles = {form for record in records for url in urls_of(record) for form in spellings(url)}
    member_urls = filter(is_member_url, profiles)
    last_names = {
        (employer, family_key(record.last_name, record.full_name))
        for record, employer in zip(records, employers, strict=True)
        if employer and record.full_name
    }
    rows = list(rows_in(session, locked, table.c.linkedin_url, profiles))
    rows += rows_in(session, locked, table.c.member_url, member_urls)
    rows += rows_in(session, locked, table.c.id, owners)
    rows += rows_in_pairs(session, locked, (table.c.company_id, table.c.last_key), last_names)
    for row in {row.id: row for row in sorted(rows, key=lambda row: row.id)}.values():
        yield as_dict(row)


def _owners_of_emails(session: Session, records: Sequence[FoundContact]) -> Iterator[tuple[str, str]]:
    """Yield each of the records' addresses that is stored, with the id of its contact."""
    addresses = {email.email for record in records for email in record.emails}
    forms = stored_forms(session, "email", addresses)
    index = Email.__table__.c.email_index
    for stored, contact_id in rows_in(session, select(index, Email.contact_id), index, forms):
        yield forms[stored], contact_id


def _owners_of_numbers(session: Session, records: Sequence[FoundContact]) -> Iterator[tuple[str, str]]:
    """Yield each stored number of the records that have no better identifier, with the id of its contact."""
    numbers = {
        phone.e164
        for record in records
        if not (record.emails or record.linkedin_url)
        for phone in record.phones
    }
    forms = stored_forms(session, "phone", numbers)
    index = Phone.__table__.c.e164_index
    for stored, contact_id in rows_in(session, select(index, Phone.contact_id), index, forms):
        yield forms[stored], contact_id
