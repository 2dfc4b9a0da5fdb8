"""Bulk-loaded e-mails and phones of contacts, with the workspace's ownership and the suppressed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    CompoundSelect,
    Row,
    Select,
    Subquery,
    bindparam,
    cast,
    func,
    literal_column,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.records.profile_links import urls_of
from app.domain.records.subjects import Subject
from app.domain.regional_rules import RegionalRules
from app.domain.suppression_lists import forms
from app.engine.contacts import bounce_reports, hidden_values, switchboards
from app.engine.contacts.bounce_reports import IS_OPEN, Feedback
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email, at_most_risky
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedRow
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.ledger import ownership
from app.engine.ledger.ownership import Ownership
from app.infra.database.statements import Statement, any_of


@dataclass(frozen=True, slots=True)
class BouncedEmail:
    """An address as seen by the workspace that reported its bounce, while the bounce is unconfirmed."""

    row: Row[Any]

    @property
    def status(self) -> str:
        """The stored status, lowered to risky at best."""
        return at_most_risky(self.row.status)

    @property
    def status_reasons(self) -> list[str]:
        """The stored reasons and `bounced`."""
        return bounce_reports.reasons_with_bounce(self.row.status_reasons)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any other column
        """Return a column of the stored row."""
        return getattr(self.row, name)


EmailRow: TypeAlias = Row[Any] | BouncedEmail
PhoneRow: TypeAlias = Row[Any]

_EMAIL, _PHONE, _OWNED, _SAVED, _EMPLOYER = "email", "phone", "owned", "saved", "employer"
_MY_BOUNCE = (
    select(Feedback.id)
    .where(Feedback.email_id == Email.id, Feedback.workspace_id == bindparam("workspace_id"), IS_OPEN)
    .scalar_subquery()
)


def _data(dialect: str, *, with_employers: bool, with_saved: bool) -> CompoundSelect[Any]:
    """Return the query for all that is stored of contacts; the column `kind` tells the rows apart.

    `with_employers` adds the contacts with their companies, `with_saved` summaries of saved profiles by URL.
    """
    emails, phones = Email.__table__, Phone.__table__
    people, companies = Contact.__table__.c, Company.__table__.c
    employer = (
        select(
            people.id.label("contact_id"),
            people.name_key.label("person_key"),
            companies.domain.label("employer_domain"),
            companies.name_key.label("employer_key"),
            func.coalesce(people.country, companies.country).label("person_country"),
        )
        .outerjoin(Company.__table__, companies.id == people.company_id)
        .where(any_of(dialect, people.id, "contact_ids"))
    )
    selects: list[tuple[str, Select[Any]]] = [
        (
            _EMAIL,
            select(
                emails,
                _MY_BOUNCE.label("bounce_id"),
                ownership.owned_value(_EMAIL, emails.c.email_index).label("owned_as"),
            ).where(any_of(dialect, emails.c.contact_id, "contact_ids")),
        ),
        (
            _PHONE,
            select(
                phones,
                switchboards.is_one(phones).label("is_switchboard"),
                ownership.owned_value(_PHONE, phones.c.e164_index).label("owned_as"),
            ).where(any_of(dialect, phones.c.contact_id, "contact_ids")),
        ),
        (_OWNED, ownership.owned_fields(dialect)),
    ]
    if with_employers:
        selects.append((_EMPLOYER, employer))
    if with_saved:
        selects.append((_SAVED, saved_profiles.summaries_by_url(dialect)))
    types = {str(column.key): column.type for _kind, query in selects for column in query.selected_columns}
    return union_all(*(_in_union(kind, query.subquery(), types) for kind, query in selects))


def _in_union(kind: str, rows: Subquery, types: Mapping[str, TypeEngine[Any]]) -> Select[Any]:
    """Select the rows with all columns of the union, NULL where they have none."""
    columns = (
        rows.c[name] if name in rows.c else cast(null(), type_).label(name) for name, type_ in types.items()
    )
    return select(literal_column(f"'{kind}'").label("kind"), *columns)


# One statement, because the duration of a lookup is that of its statements.
_DATA = {
    (with_employers, with_saved): Statement(
        partial(_data, with_employers=with_employers, with_saved=with_saved)
    )
    for with_employers, with_saved in product((False, True), repeat=2)
}


class Employer(NamedTuple):
    """What a suppression and a regional rule read of a person and their company."""

    person_key: str | None
    person_country: str | None
    employer_domain: str | None
    employer_key: str | None


@dataclass(frozen=True, slots=True)
class ContactData:
    """E-mails and phones by contact id, the workspace's ownership, and the suppressed identifiers.

    `employers` are the person's name and country, and their company's domain and name, by contact id. `saved`
    are summaries of the workspace's saved profiles by URL. The values in `hidden_emails` and `hidden_phones`
    are those that a regional rule hides: they count for the suppression only.
    """

    emails: Mapping[str, Sequence[EmailRow]] = field(default_factory=dict)
    phones: Mapping[str, Sequence[PhoneRow]] = field(default_factory=dict)
    owned: Ownership = field(default_factory=Ownership)
    saved: Mapping[str, SavedRow] = field(default_factory=dict)
    employers: Mapping[str, Employer | Row[Any]] = field(default_factory=dict)
    suppressed: frozenset[Identifier] = frozenset()
    hidden_emails: Mapping[str, Sequence[EmailRow]] = field(default_factory=dict)
    hidden_phones: Mapping[str, Sequence[PhoneRow]] = field(default_factory=dict)

    def country_of(self, contact: Contact) -> str | None:
        """Return the country of the person or, if it is not known, of their company."""
        row = self.employers.get(contact.id)
        return None if row is None else row.person_country

    def owns(self, row: EmailRow | PhoneRow) -> bool:
        """Return whether the workspace owns the value, by its contact's field or under another contact."""
        is_field_owned = (row.contact_id, row.kind) in self.owned.fields
        return is_field_owned or (row.kind, index_of(row)) in self.owned.values

    def is_suppressed(self, contact: Contact | None, subject: Subject | None = None) -> bool:
        """Return whether any identifier of the person, stored or given by the caller, is suppressed."""
        if not self.suppressed:
            return False
        given = () if subject is None else requested_identifiers(subject, names=contact is None)
        stored = () if contact is None else self.identifiers_of(contact)
        return not self.suppressed.isdisjoint([*stored, *given])

    def identifiers_of(self, contact: Contact) -> list[Identifier]:
        """Return all by which the contact may be suppressed: its identifiers and its employer's domain.

        The number of a company identifies none of its people. Of a person without identifiers, it is also the
        name at the company: a namesake has some.
        """
        rows = stored_identifiers(contact, self.emails, _without_switchboards(self.phones, contact.id))
        rows += _identifiers(
            contact.id, self.hidden_emails, _without_switchboards(self.hidden_phones, contact.id)
        )
        employer = self.employers.get(contact.id)
        if employer is None:
            return rows
        if (key := employer.person_key) and not rows:
            names = (employer.employer_domain, employer.employer_key)
            rows += [Identifier("name", forms.employment(key, name)) for name in names if name]
        if employer.employer_domain:
            rows.append(Identifier("domain", employer.employer_domain))
        return rows


def index_of(row: EmailRow | PhoneRow) -> str:
    """Return the blind index of the address or the number, as it is stored."""
    return str(row.email_index if row.kind == _EMAIL else row.e164_index)


def load(
    session: Session,
    workspace_id: str,
    contacts: Collection[Contact],
    subjects: Iterable[Subject] = (),
    *,
    saved_urls: Collection[str] = (),
    same_people: Iterable[Sequence[Contact]] = (),
    companies: Iterable[Company] | None = None,
    check_suppressions: bool = True,
) -> ContactData:
    """Load the data of all these contacts, in two queries regardless of their number.

    The same query loads the workspace's saved profiles with the URLs `saved_urls`. Contacts that are together
    in `same_people` are the same person: a regional rule that hides values of one hides those of all. A
    caller who has read the contacts with their companies passes the latter, and they are not read again. The
    identifiers in `subjects`, as given by the caller, are also checked for suppression. Without
    `check_suppressions` it is one query, and no identifier counts as suppressed.
    """
    known = {} if companies is None else _employers(contacts, {company.id: company for company in companies})
    data = _load(session, workspace_id, sorted({contact.id for contact in contacts}), saved_urls, known)
    data = _hide(hidden_values.rules_of(session), data, same_people)
    if not check_suppressions:
        return data
    identifiers = {value for contact in contacts for value in data.identifiers_of(contact)}
    identifiers |= {value for subject in subjects for value in requested_identifiers(subject, names=True)}
    identifiers |= {Identifier("phone", row.e164) for rows in data.phones.values() for row in rows}
    suppressed = suppression_checks.suppressed(session, identifiers)
    return replace(data, suppressed=suppressed, phones=_unlisted(data.phones, suppressed))


def _unlisted(
    phones: Mapping[str, Sequence[PhoneRow]], suppressed: Collection[Identifier]
) -> Mapping[str, Sequence[PhoneRow]]:
    """Return the numbers without the suppressed numbers of companies."""
    if not any(item.kind == "phone" for item in suppressed):
        return phones
    return {
        contact_id: [
            row for row in rows if not (row.is_switchboard and Identifier("phone", row.e164) in suppressed)
        ]
        for contact_id, rows in phones.items()
    }


def _without_switchboards(
    phones: Mapping[str, Sequence[PhoneRow]], contact_id: str
) -> dict[str, list[PhoneRow]]:
    """Return the numbers that identify the contact."""
    return {contact_id: [row for row in phones.get(contact_id, ()) if not row.is_switchboard]}


def _employers(contacts: Iterable[Contact], companies: Mapping[str, Company]) -> dict[str, Employer]:
    """Return the employers of the contacts whose company is among these, or who have none."""
    employers = {}
    for contact in contacts:
        company = companies.get(contact.company_id or "")
        if company is not None:
            country = contact.country or company.country
            employers[contact.id] = Employer(contact.name_key, country, company.domain, company.name_key)
        elif contact.company_id is None:
            employers[contact.id] = Employer(contact.name_key, contact.country, None, None)
    return employers


def _load(
    session: Session,
    workspace_id: str,
    ids: Sequence[str],
    saved_urls: Collection[str],
    known: Mapping[str, Employer],
) -> ContactData:
    emails: defaultdict[str, list[EmailRow]] = defaultdict(list)
    phones: defaultdict[str, list[PhoneRow]] = defaultdict(list)
    owned, saved, employers = set(), {}, dict[str, Employer | Row[Any]](known)
    parameters: dict[str, Any] = {"contact_ids": ids, "workspace_id": workspace_id}
    if saved_urls:
        parameters["urls"] = sorted(set(saved_urls))
    statement = _DATA[len(known) < len(ids), bool(saved_urls)]
    for row in statement.all(session, parameters) if ids or saved_urls else ():
        if row.kind == _EMAIL:
            emails[row.contact_id].append(BouncedEmail(row) if row.bounce_id else row)
        elif row.kind == _PHONE:
            phones[row.contact_id].append(row)
        elif row.kind == _SAVED:
            saved[row.linkedin_url] = row
        elif row.kind == _EMPLOYER:
            employers[row.contact_id] = row
        else:
            owned.add((row.contact_id, row.field))
    values = chain(*emails.values(), *phones.values())
    owned_values = frozenset((row.kind, index_of(row)) for row in values if row.owned_as)
    ownership_of_all = Ownership(frozenset(owned), owned_values)
    return ContactData(dict(emails), dict(phones), ownership_of_all, saved, employers)


def _hide(rules: RegionalRules, data: ContactData, same_people: Iterable[Sequence[Contact]]) -> ContactData:
    """Return the data with the values apart that the rules hide."""
    if not rules:
        return data
    countries = {contact_id: {row.person_country} for contact_id, row in data.employers.items()}
    for contacts in same_people:
        of_all = {country for contact in contacts for country in countries[contact.id] if country}
        countries |= {contact.id: of_all or {None} for contact in contacts}
    emails, hidden_emails = _split(rules, data.emails, countries)
    phones, hidden_phones = _split(rules, data.phones, countries)
    return replace(
        data, emails=emails, phones=phones, hidden_emails=hidden_emails, hidden_phones=hidden_phones
    )


def _split(
    rules: RegionalRules, stored: Mapping[str, Sequence[Any]], countries: Mapping[str, Collection[str | None]]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return the shown and the hidden values of each contact."""
    shown: defaultdict[str, list[Any]] = defaultdict(list)
    hidden: defaultdict[str, list[Any]] = defaultdict(list)
    for contact_id, rows in stored.items():
        for row in rows:
            is_hidden = any(hidden_values.is_hidden(rules, row, country) for country in countries[contact_id])
            (hidden if is_hidden else shown)[contact_id].append(row)
    return dict(shown), dict(hidden)


def stored_identifiers(
    contact: Contact,
    emails: Mapping[str, Sequence[Email | EmailRow]],
    phones: Mapping[str, Sequence[Phone | PhoneRow]],
) -> list[Identifier]:
    """Return all stored identifiers of the contact."""
    rows = _identifiers(contact.id, emails, phones)
    return rows + [Identifier("linkedin_url", url) for url in urls_of(contact)]


def _identifiers(
    contact_id: str,
    emails: Mapping[str, Sequence[Email | EmailRow]],
    phones: Mapping[str, Sequence[Phone | PhoneRow]],
) -> list[Identifier]:
    rows = [Identifier("email", row.email) for row in emails.get(contact_id, ())]
    return rows + [Identifier("phone", row.e164) for row in phones.get(contact_id, ())]


def given_identifiers(subject: Subject) -> list[Identifier]:
    """Return the identifiers in the subject given by the caller."""
    profiles = (("linkedin_url", url) for url in urls_of(subject))
    values = (*profiles, ("email", subject.email), ("phone", subject.phone))
    return [Identifier(kind, value) for kind, value in values if value]


def requested_identifiers(subject: Subject, *, names: bool) -> list[Identifier]:
    """Return all by which the subject may be suppressed: its identifiers and the company's domain.

    With `names`, also the name at the company, if the subject has no identifier: an erased person may have
    had none either.
    """
    rows = given_identifiers(subject)
    if names and not rows and subject.name:
        key = person_key(subject.name)
        employers = (subject.company_domain, company_key(subject.company_name or ""))
        rows = [Identifier("name", forms.employment(key, name)) for name in employers if name]
    if subject.company_domain:
        rows.append(Identifier("domain", subject.company_domain))
    return rows
