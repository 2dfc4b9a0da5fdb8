"""The identifiers and the countries of people in the responses of providers."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.findings import FoundContact
from app.domain.records.profile_links import urls_of
from app.engine.contacts.suppressions.suppression_digests import Identifier
from workers.resolve.waterfall import WaterfallResult


def of_result(result: WaterfallResult) -> list[Identifier]:
    """Return the identifiers of the person in the providers' responses."""
    return [
        *(Identifier("email", email.email) for email in result.emails),
        *(Identifier("phone", phone.e164) for phone in result.phones),
        *of_contacts(result.contacts),
    ]


def of_contacts(contacts: Sequence[FoundContact]) -> list[Identifier]:
    """Return the identifiers of these contacts, and the domains of their employers."""
    profiles = [Identifier("linkedin_url", url) for contact in contacts for url in urls_of(contact)]
    addresses = [Identifier("email", email.email) for contact in contacts for email in contact.emails]
    numbers = [Identifier("phone", phone.e164) for contact in contacts for phone in contact.phones]
    employers = [
        Identifier("domain", contact.company.domain)
        for contact in contacts
        if contact.company is not None and contact.company.domain
    ]
    return profiles + addresses + numbers + employers


def countries_of(contacts: Sequence[FoundContact]) -> frozenset[str]:
    """Return the countries of these people."""
    return frozenset(country for contact in contacts if (country := country_of(contact)))


def country_of(person: FoundContact) -> str | None:
    """Return the country of the person or, if it is not known, of their company."""
    return person.country or (person.company.country if person.company else None)
