"""The people whom a search at a provider found: those who are of the company, and how they are stored.

A search may match former employees, namesakes of the company and people elsewhere. Nobody pays for them, and
they are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from app.domain.findings import FoundContact
from app.domain.lists.people_rows import ParsedPerson
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.contacts import UpsertResult
from app.engine.lists import ingest
from app.engine.lists.ingest import IngestResult
from app.infra.database.session import Session


def fitting(people: Iterable[FoundContact], criteria: PeopleCriteria) -> list[FoundContact]:
    """Return the people of the searched company who are not known to live in another country.

    The name of the company decides for people of whom the provider does not tell the employer's domain.
    """
    return [person for person in people if _fits(person, criteria)]


def _fits(person: FoundContact, criteria: PeopleCriteria) -> bool:
    company = person.company
    if not person.full_name or company is None:
        return False
    if criteria.countries and person.country and person.country not in criteria.countries:
        return False
    if criteria.company_domain and company.domain:
        return company.domain == criteria.company_domain
    return bool(company.name) and company_key(company.name or "") == company_key(criteria.company_name or "")


def count(people: Iterable[FoundContact]) -> int:
    """Return the number of different people, whom several providers may have found."""
    return len({person_key(str(person.full_name)) for person in people})


def store(session: Session, people: Sequence[FoundContact], *, now: datetime) -> IngestResult:
    """Store the people as an import does: suppressed people are left out."""
    return ingest.ingest_contacts(session, [ParsedPerson(person) for person in people], now=now)


def new_contacts(stored: Iterable[UpsertResult]) -> dict[str, bool]:
    """Return the contacts, each with whether it is new, in the order of the providers' people."""
    contacts: dict[str, bool] = {}
    for result in stored:
        contacts[result.contact_id] = contacts.get(result.contact_id, False) or result.change is None
    return contacts
