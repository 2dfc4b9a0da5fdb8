"""Bulk-loaded e-mails and phones of contacts, with the workspace's ownership, and who is barred and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from app.domain import call_registers
from app.domain.findings import EmailStatus
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.emails import email_domain
from app.domain.normal.names.name_keys import person_key
from app.domain.records.profile_links import HasProfiles, are_two_people, urls_of
from app.domain.records.subjects import Subject
from app.domain.regional_rules import RegionalRules
from app.domain.suppression_lists import forms
from app.engine.call_registers import listings
from app.engine.call_registers.listings import Listings, Numbers
from app.engine.contacts import hidden_values
from app.engine.contacts.emails import FORMER, Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.saved_profiles import SavedSummary
from app.engine.contacts.stored_rows import StoredCompany, StoredContact, StoredEmail, StoredPhone
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_checks
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.ledger.ownership import Ownership
from app.engine.lookups import contact_rows
from app.engine.lookups.contact_rows import ContactRows, Employer, WantedRows
from app.infra.database.session import Session

EMPLOYMENT = "employment"
"""The kind of an identifier that is the key of a name and an employer, with U+0000 between them."""
Value = TypeVar("Value", StoredEmail, StoredPhone)


class Person(HasProfiles, Protocol):
    """A contact of which at least the id and the profiles were read."""

    @property
    def id(self) -> str:
        """The id of the contact."""


@dataclass(frozen=True, slots=True)
class ContactData:
    """E-mails and phones by contact id, the workspace's ownership, and suppressed and excluded identifiers.

    `employers` are the person's name and country, and their company's domain and names, by contact id.
    `saved` are summaries of the workspace's saved profiles by URL. The values in `hidden_emails` and
    `hidden_phones` are those that a regional rule or a do-not-call register hides: they count for the
    suppression only.
    """

    emails: Mapping[str, Sequence[StoredEmail]] = field(default_factory=dict)
    phones: Mapping[str, Sequence[StoredPhone]] = field(default_factory=dict)
    owned: Ownership = field(default_factory=Ownership)
    saved: Mapping[str, SavedSummary] = field(default_factory=dict)
    employers: Mapping[str, Employer] = field(default_factory=dict)
    suppressed: frozenset[Identifier] = frozenset()
    excluded: Mapping[Identifier, Excluded] = field(default_factory=dict)
    hidden_emails: Mapping[str, Sequence[StoredEmail]] = field(default_factory=dict)
    hidden_phones: Mapping[str, Sequence[StoredPhone]] = field(default_factory=dict)

    def country_of(self, contact: Person) -> str | None:
        """Return the country of the person or, if it is not known, of their company."""
        row = self.employers.get(contact.id)
        return None if row is None else row.person_country

    def values_of(self, contact_id: str) -> list[StoredEmail | StoredPhone]:
        """Return the e-mails and phones of a contact."""
        return [*self.emails.get(contact_id, ()), *self.phones.get(contact_id, ())]

    def owns(self, row: StoredEmail | StoredPhone) -> bool:
        """Return whether the workspace owns the value, by its contact's field or under another contact."""
        is_field_owned = (row.contact_id, row.kind) in self.owned.fields
        return is_field_owned or (row.kind, index_of(row)) in self.owned.values

    def is_suppressed(self, contact: Person | None, subject: Subject | None = None) -> bool:
        """Return whether any identifier of the person, stored or given by the caller, is suppressed."""
        if not self.suppressed:
            return False
        given = () if subject is None else requested_identifiers(subject, names=contact is None)
        stored = () if contact is None else self.identifiers_of(contact)
        return not self.suppressed.isdisjoint([*stored, *given])

    def exclusion_of(self, contact: Person | None, subject: Subject | None = None) -> Excluded | None:
        """Return why the workspace excludes the person, by what it has given or is told, if it does."""
        if not self.excluded:
            return None
        given = () if subject is None else excludable_identifiers(subject)
        told = () if contact is None else self.told_identifiers_of(contact)
        profiles = _profiles(contact, subject)
        for item in (*given, *told):
            excluded = self.excluded.get(item)
            if excluded and not (item.kind == EMPLOYMENT and are_two_people(profiles, excluded.profiles)):
                return excluded
        return None

    def exclusion_of_any(self, contacts: Iterable[Person], subject: Subject) -> Excluded | None:
        """Return why the workspace excludes the subject or one of these contacts, who are the same person."""
        found = (self.exclusion_of(contact, subject) for contact in (*contacts, None))
        return next(filter(None, found), None)

    def told_identifiers_of(self, contact: Person) -> list[Identifier]:
        """Return all by which the workspace may exclude the contact without learning an address it lacks.

        These are the profiles, the company's domain and page, the domains of current work addresses, which
        masks show, the addresses and numbers that the workspace owns, and the name at the company.
        """
        rows = [Identifier("linkedin_url", url) for url in urls_of(contact)]
        employer = self.employers.get(contact.id)
        if employer is not None and employer.employer_domain:
            rows.append(Identifier("domain", employer.employer_domain))
        if employer is not None and employer.employer_page:
            rows.append(Identifier("linkedin_url", employer.employer_page))
        for row in self.emails.get(contact.id, ()):
            if row.type == "work" and row.status != EmailStatus.INVALID and FORMER not in row.status_reasons:
                rows.append(Identifier("domain", email_domain(row.email)))
            if self.owns(row):
                rows.append(Identifier("email", row.email))
        rows += [
            Identifier("phone", row.e164)
            for row in self.phones.get(contact.id, ())
            if not row.is_switchboard and self.owns(row)
        ]
        if employer is not None and employer.person_key:
            names = [employer.employer_key, *(row.value for row in rows if row.kind == "domain")]
            rows += _employments(employer.person_key, names)
        return rows

    def identifiers_of(self, contact: Person) -> list[Identifier]:
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


def index_of(row: StoredEmail | StoredPhone) -> str:
    """Return the blind index of the address or the number, as it is stored."""
    return row.email_index if row.kind == "email" else row.e164_index


@dataclass(frozen=True, slots=True)
class Wanted:
    """Contacts whose data a workspace wants, and what to read with it.

    `subjects` are given by the caller: their identifiers are also checked for suppression, and those of
    `asked`, which has everything that was given, for exclusions. `saved_urls` are of the workspace's saved
    profiles. Contacts that are together in `same_people` are the same person: a regional rule that hides
    values of one hides the values of all. A caller who has read the contacts with their companies passes
    `employers_of` them, and they are not read again. Numbers that do-not-call registers hide from members are
    hidden unless the reader `as_admin`.
    """

    workspace_id: str
    contacts: Collection[Person]
    subjects: Collection[Subject] = ()
    asked: Collection[Subject] = ()
    saved_urls: Collection[str] = ()
    same_people: Collection[Sequence[Person]] = ()
    employers: Mapping[str, Employer] = field(default_factory=dict)
    as_admin: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the contacts."""
        return frozenset(contact.id for contact in self.contacts)


def load(
    session: Session,
    workspace_id: str,
    contacts: Collection[Person],
    subjects: Collection[Subject] = (),
    *,
    check_suppressions: bool = True,
    as_admin: bool = False,
) -> ContactData:
    """Load the data of these contacts for one workspace, as `load_all` does."""
    wanted = Wanted(workspace_id, contacts, subjects, asked=subjects, as_admin=as_admin)
    return load_all(session, [wanted], check_suppressions=check_suppressions)[0]


def load_all(
    session: Session, wanted: Sequence[Wanted], *, check_suppressions: bool = True
) -> list[ContactData]:
    """Load the data that each workspace wants, in two queries regardless of their number.

    Without `check_suppressions` it is one query, and no identifier counts as suppressed or excluded. If there
    are numbers, it is one more for the do-not-call registers, and another one if there are registers.
    """
    rows = contact_rows.read(
        session,
        [WantedRows(one.workspace_id, one.ids, one.saved_urls) for one in wanted],
        with_employers=any(not one.ids <= one.employers.keys() for one in wanted),
    )
    rules = session.settings.regional_rules
    loaded = [
        _hide(rules, _data(one, stored), one.same_people) for one, stored in zip(wanted, rows, strict=True)
    ]
    loaded = _with_listings(session, wanted, loaded)
    if not check_suppressions:
        return loaded
    identifiers = [_identifiers_in(one, data) for one, data in zip(wanted, loaded, strict=True)]
    told = [
        exclusion_checks.Wanted(one.workspace_id, _told_identifiers_in(one, data))
        for one, data in zip(wanted, loaded, strict=True)
    ]
    suppressed, excluded = exclusion_checks.check(session, set().union(*identifiers), told)
    return [
        replace(
            data,
            suppressed=suppressed & own,
            excluded=by_workspace,
            phones=_unlisted(data.phones, suppressed),
        )
        for data, own, by_workspace in zip(loaded, identifiers, excluded, strict=True)
    ]


def _data(wanted: Wanted, rows: ContactRows) -> ContactData:
    owned_values = frozenset((row.kind, index_of(row)) for row in rows.values if row.owned_as)
    ownership = Ownership(frozenset(rows.owned), owned_values)
    employers = {**wanted.employers, **rows.employers}
    return ContactData(dict(rows.emails), dict(rows.phones), ownership, rows.saved, employers)


def _identifiers_in(wanted: Wanted, data: ContactData) -> set[Identifier]:
    """Return all identifiers of which a suppression hides something of the data."""
    identifiers = {value for contact in wanted.contacts for value in data.identifiers_of(contact)}
    for subject in wanted.subjects:
        identifiers.update(requested_identifiers(subject, names=True))
    identifiers |= {Identifier("phone", row.e164) for rows in data.phones.values() for row in rows}
    return identifiers


def _told_identifiers_in(wanted: Wanted, data: ContactData) -> set[Identifier]:
    """Return all identifiers of which an exclusion excludes somebody in the data."""
    identifiers = {value for contact in wanted.contacts for value in data.told_identifiers_of(contact)}
    return identifiers.union(*map(excludable_identifiers, wanted.asked))


def _unlisted(
    phones: Mapping[str, Sequence[StoredPhone]], suppressed: Collection[Identifier]
) -> Mapping[str, Sequence[StoredPhone]]:
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
    phones: Mapping[str, Sequence[StoredPhone]], contact_id: str
) -> dict[str, list[StoredPhone]]:
    """Return the numbers that identify the contact."""
    return {contact_id: [row for row in phones.get(contact_id, ()) if not row.is_switchboard]}


def employers_of(
    contacts: Iterable[StoredContact], companies: Iterable[StoredCompany]
) -> dict[str, Employer]:
    """Return the employers of the contacts whose company is among these, or who have none, by contact id."""
    by_id = {company.id: company for company in companies}
    employers = {}
    for contact in contacts:
        company = by_id.get(contact.company_id or "")
        if company is not None or contact.company_id is None:
            employers[contact.id] = Employer(
                contact.id,
                contact.name_key,
                contact.country or (company.country if company else None),
                company.domain if company else None,
                company.name_key if company else None,
                company.linkedin_url if company else None,
            )
    return employers


def _hide(rules: RegionalRules, data: ContactData, same_people: Iterable[Sequence[Person]]) -> ContactData:
    """Return the data with the values apart that the rules hide."""
    if not rules:
        return data
    countries = {contact_id: {row.person_country} for contact_id, row in data.employers.items()}
    for contacts in same_people:
        of_all = {country for contact in contacts for country in countries[contact.id]}
        countries |= {contact.id: of_all - {None} or {None} for contact in contacts}
    emails, hidden_emails = _split(rules, data.emails, countries)
    phones, hidden_phones = _split(rules, data.phones, countries)
    return replace(
        data, emails=emails, phones=phones, hidden_emails=hidden_emails, hidden_phones=hidden_phones
    )


def _split(
    rules: RegionalRules,
    stored: Mapping[str, Sequence[Value]],
    countries: Mapping[str, Collection[str | None]],
) -> tuple[dict[str, list[Value]], dict[str, list[Value]]]:
    """Return the shown and the hidden values of each contact."""
    shown: defaultdict[str, list[Value]] = defaultdict(list)
    hidden: defaultdict[str, list[Value]] = defaultdict(list)
    for contact_id, rows in stored.items():
        for row in rows:
            is_hidden = any(hidden_values.is_hidden(rules, row, country) for country in countries[contact_id])
            (hidden if is_hidden else shown)[contact_id].append(row)
    return dict(shown), dict(hidden)


def _with_listings(
    session: Session, wanted: Sequence[Wanted], loaded: Sequence[ContactData]
) -> list[ContactData]:
    """Return the data with what do-not-call registers say, and with the numbers apart that they hide."""
    numbers = [
        Numbers(
            one.workspace_id, {row.e164 for rows in data.phones.values() for row in rows if row.has_registers}
        )
        for one, data in zip(wanted, loaded, strict=True)
    ]
    found = listings.find_all(session, numbers)
    return [
        _listed(data, of_workspace, as_admin=one.as_admin) if of_workspace else data
        for one, data, of_workspace in zip(wanted, loaded, found, strict=True)
    ]


def _listed(data: ContactData, found: Listings, *, as_admin: bool) -> ContactData:
    """Return the data with these listings of numbers."""
    shown: dict[str, list[StoredPhone]] = {}
    hidden = {contact_id: list(rows) for contact_id, rows in data.hidden_phones.items()}
    for contact_id, rows in data.phones.items():
        marked = [row._replace(listings=found.get(row.e164, ())) for row in rows]
        for row in marked:
            is_hidden = call_registers.is_hidden(row.listings or (), as_admin=as_admin)
            (hidden if is_hidden else shown).setdefault(contact_id, []).append(row)
    return replace(data, phones=shown, hidden_phones=hidden)


def stored_identifiers(
    contact: Person,
    emails: Mapping[str, Sequence[Email | StoredEmail]],
    phones: Mapping[str, Sequence[Phone | StoredPhone]],
) -> list[Identifier]:
    """Return all stored identifiers of the contact."""
    rows = _identifiers(contact.id, emails, phones)
    return rows + [Identifier("linkedin_url", url) for url in urls_of(contact)]


def _identifiers(
    contact_id: str,
    emails: Mapping[str, Sequence[Email | StoredEmail]],
    phones: Mapping[str, Sequence[Phone | StoredPhone]],
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


def excludable_identifiers(subject: Subject) -> list[Identifier]:
    """Return all by which a workspace may exclude the subject that it has given."""
    rows = requested_identifiers(subject, names=False)
    rows += [Identifier("domain", email_domain(row.value)) for row in rows if row.kind == "email"]
    if subject.name:
        names = [company_key(subject.company_name or ""), subject.company_domain]
        rows += _employments(person_key(subject.name), names)
    return rows


def _employments(key: str, employers: Iterable[str | None]) -> list[Identifier]:
    """Return the name at these domains and keys of names, by which an exclusion may find its person."""
    return [Identifier(EMPLOYMENT, f"{key}\0{name}") for name in dict.fromkeys(filter(None, employers))]


def _profiles(contact: Person | None, subject: Subject | None) -> list[str]:
    given = subject.linkedin_url if subject is not None else None
    return [*(urls_of(contact) if contact is not None else ()), *filter(None, [given])]
