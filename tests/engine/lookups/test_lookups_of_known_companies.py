"""The stored company whose mail domains are used to guess a person's address."""

from __future__ import annotations

from datetime import timedelta

import pytest
from findings_support import ADA, NOW, company, person

from app.domain.records.subjects import Subject
from app.engine.contacts import companies, contacts
from app.engine.lookups import known_people
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS, ContactField
from app.infra.database.session import Session

NAMED = {"full_name": "Cy Young"}


@pytest.mark.parametrize(
    ("subject", "is_known"),
    [
        (Subject(linkedin_url=ADA), True),
        (Subject(**NAMED, company_domain="acme.example"), True),
        (Subject(**NAMED, company_domain="other.example"), False),
        (Subject(**NAMED, company_name="Acme"), False),
    ],
)
def test_the_company_is_that_of_the_contact_or_has_the_domain(
    session: Session, workspace_id: str, subject: Subject, *, is_known: bool
) -> None:
    acme = companies.upsert(session, company("Acme", "acme.example"), now=NOW)
    contacts.upsert(session, person(linkedin_url=ADA, company=company("Acme", "acme.example")), now=NOW)

    known = known_people.assess(
        session,
        workspace_id,
        subject,
        DEFAULT_FIELD_REQUESTS[ContactField.EMAIL],
        default_max_age=timedelta(days=90),
        now=NOW,
    )

    assert known.company_id == (acme.id if is_known else None)
