"""Importing the same list of people again changes no visible data, whatever the list.

All rows of a person share an identifier (a profile, an e-mail, a name and company, or a phone); the other
values vary. Without a shared identifier, later rows can show that two contacts are the same person, but the
contacts are not merged.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from findings_support import NOW, company, email, person, phone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.findings import EmailStatus, FoundContact
from app.domain.records.merging import Change
from app.engine.contacts import contacts
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.infra.database.db import Base, Database
from app.infra.database.session import Session

pytestmark = pytest.mark.release

ROSTER = (
    {"linkedin_url": "https://www.linkedin.com/in/a-demo"},
    {"linkedin_url": "https://www.linkedin.com/in/b-demo", "emails": ("bob@acme.example",)},
    {"emails": ("cy@acme.example",)},
    {"name": "Dee Dee", "domain": "acme.example"},
    {"name": "Madonna", "domain": "other.example", "phones": ("+16175550102",)},
    {"phones": ("+16175550103",)},
)
MORE = (
    {"name": "Ada Lovelace", "emails": ("ada@acme.example", "info@acme.example")},
    {"name": "Bob Ray", "domain": "acme.example", "emails": ("bob@acme.example", "rob@acme.example")},
    {"name": "Cy Low", "emails": ("cy@acme.example", "info@acme.example"), "phones": ("+16175550101",)},
    {"emails": ("dee@acme.example",)},
    {"linkedin_url": "https://www.linkedin.com/in/m-demo"},
    {"name": "Eve"},
)
DATES = st.sampled_from([NOW, NOW - timedelta(days=30), NOW - timedelta(days=400)])
SHOWN = {
    Contact: (
        "full_name",
        "first_name",
        "last_name",
        "title",
        "linkedin_url",
        "city",
        "country",
        "updated_at",
    ),
    Company: ("name", "domain", "linkedin_url", "headcount", "updated_at"),
    Email: ("email", "type", "status", "confidence", "form", "verified_at"),
    Phone: ("e164", "type", "status", "do_not_call"),
}


def maybe(*values: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None, *values])


@st.composite
def people(draw: st.DrawFn) -> FoundContact:
    observed_at, index = draw(DATES), draw(st.integers(0, len(ROSTER) - 1))
    values: dict[str, Any] = dict(ROSTER[index])
    values |= {name: value for name, value in MORE[index].items() if draw(st.booleans())}
    domain = values.get("domain")
    page = draw(maybe("https://www.linkedin.com/company/a-demo")) if domain == "acme.example" else None
    label = draw(maybe("Acme", "Acme GmbH")) if domain == "acme.example" else None
    employer = company(label, domain, observed_at, linkedin_url=page, headcount=draw(maybe("1-10", "51-200")))
    status = draw(st.sampled_from(list(EmailStatus)))
    verified_at = draw(st.sampled_from([None, observed_at]))
    return person(
        values.get("name"),
        observed_at,
        title=draw(maybe("CTO", "CEO")),
        city=draw(maybe("Paris", "Berlin")),
        country=draw(maybe("FR", "DE")),
        linkedin_url=values.get("linkedin_url"),
        company=employer if domain else None,
        emails=tuple(
            email(text, observed_at, status=status, verified_at=verified_at)
            for text in values.get("emails", ())
        ),
        phones=tuple(
            phone(text, observed_at, type=draw(st.sampled_from(["mobile", "work"])))
            for text in values.get("phones", ())
        ),
    )


def shown(session: Session) -> dict[type[Base], list[tuple[object, ...]]]:
    return {
        table: [
            tuple(row)
            for row in session.execute(select(*(getattr(table, n) for n in names)).order_by(table.id))
        ]  # type: ignore[attr-defined]
        for table, names in SHOWN.items()
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(listed=st.lists(people(), max_size=8), cut=st.integers(1, 8), later=st.sampled_from([0, 1]))
def test_importing_a_list_again_changes_nothing(
    database: Database, listed: list[FoundContact], cut: int, later: int
) -> None:
    with Session(database.engine, keys=database.keys) as session:
        for start in range(0, len(listed), cut):
            contacts.upsert_many(session, listed[start : start + cut], now=NOW)
        before = shown(session)

        changes = []
        for start in range(0, len(listed), cut):
            stored = contacts.upsert_many(
                session, listed[start : start + cut], now=NOW + timedelta(days=later)
            )
            changes += [item.change for item in stored]

        # None: a later row had shown that the profile of this one, which has no name, is of several people.
        assert set(changes) <= {None, Change.NONE, Change.REFRESHED}
        assert shown(session) == before
        session.rollback()
