"""Companies and contacts in the service's database for the extension to find."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from e2e_stack import Stack

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.engine.contacts import contacts
from app.infra import clock

VERIFIED_DAYS_AGO = 3


@dataclass(frozen=True, slots=True)
class Company:
    """A company with its own website; ids, addresses and profiles of its people by first name."""

    name: str
    domain: str
    people: dict[str, str]
    emails: dict[str, str]
    profiles: dict[str, str]

    @property
    def website(self) -> str:
        return f"http://www.{self.domain}/"


def create_company(stack: Stack) -> Company:
    """Store a company with Ada (verified address, phone number), Bob (risky address) and Cleo (neither)."""
    tag = secrets.token_hex(4)
    now = clock.now()
    source = Source("people.csv", SourceKind.IMPORT, now)
    domain = f"engines-{tag}.test"
    found_company = FoundCompany(
        source=source,
        name=f"Engines {tag}",
        domain=domain,
        linkedin_url=f"https://www.linkedin.com/company/engines-{tag}",
        industry="Machinery",
        headcount="51-200",
        city="London",
        country="GB",
    )
    checked = now - timedelta(days=VERIFIED_DAYS_AGO)
    emails = {"Ada": f"ada@{domain}", "Bob": f"bob@{domain}"}
    profiles = {name: f"https://www.linkedin.com/in/{name.lower()}-{tag}" for name in ("Ada", "Bob", "Cleo")}
    people = (
        ("Ada", "Lovelace", "Chief Engineer", "c_suite", "engineering", EmailStatus.VALID, checked),
        ("Bob", "Babbage", "Sales Manager", "manager", "sales", EmailStatus.RISKY, None),
        ("Cleo", "Clarke", "Engineer", "senior", "engineering", None, None),
    )
    ids = {}
    with stack.database.transaction() as session:
        for first, last, title, seniority, department, status, verified_at in people:
            addresses = (
                FoundEmail(
                    email=f"{first.lower()}@{domain}",
                    type="work",
                    status=status,
                    source=source,
                    verified_at=verified_at,
                ),
            )
            numbers = (FoundPhone(e164="+442079460123", type="mobile", status="valid", source=source),)
            person = FoundContact(
                source=source,
                full_name=f"{first} {last}",
                first_name=first,
                last_name=last,
                title=title,
                seniority=seniority,
                department=department,
                linkedin_url=profiles[first],
                city="London",
                country="GB",
                company=found_company,
                emails=addresses if status else (),
                phones=numbers if first == "Ada" else (),
            )
            ids[first] = contacts.upsert(session, person, now=now).id
    return Company(found_company.name or "", domain, ids, emails, profiles)


def add_employees(
    stack: Stack, company: Company, *names: str, title: str = "Clerk", seniority: str = "entry"
) -> list[str]:
    """Store more people of the company, each with a profile and an address; return their ids."""
    now = clock.now()
    source = Source("people.csv", SourceKind.IMPORT, now)
    ids = []
    with stack.database.transaction() as session:
        for name in names:
            first, _, last = name.partition(" ")
            slug = secrets.token_hex(8)
            person = FoundContact(
                source=source,
                full_name=name,
                first_name=first,
                last_name=last,
                title=title,
                seniority=seniority,
                department="operations",
                linkedin_url=f"https://www.linkedin.com/in/{slug}",
                company=FoundCompany(source=source, name=company.name, domain=company.domain),
                emails=(
                    FoundEmail(
                        email=f"{slug}@{company.domain}", type="work", status=EmailStatus.VALID, source=source
                    ),
                ),
            )
            ids.append(contacts.upsert(session, person, now=now).id)
    return ids
