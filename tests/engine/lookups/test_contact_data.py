from __future__ import annotations

from collections.abc import Sequence

import pytest
from stored_support import ADA_URL, a_company, a_contact, an_email, statements

from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.lookups import contact_data
from app.engine.lookups.contact_data import ContactData, Wanted
from app.infra.database.session import Session


def load(
    session: Session, workspace_id: str, contacts: list[Contact], companies: Sequence[Company] = ()
) -> tuple[ContactData, bool]:
    """Return the data, and whether companies were read for it."""
    with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
        employers = contact_data.employers_of(contacts, companies)  # type: ignore[arg-type]  # of the ORM
        (data,) = contact_data.load_all(session, [Wanted(workspace_id, contacts, employers=employers)])
    return data, any("companies" in sql for sql, _values in executed)


@pytest.mark.parametrize("country", ["FR", None])
def test_companies_that_were_read_already_are_not_read_again(
    session: Session, workspace_id: str, country: str | None
) -> None:
    company = a_company(session, country="DE")
    ada = a_contact(session, company, country=country)

    given, is_read = load(session, workspace_id, [ada], [company])
    loaded, is_loaded = load(session, workspace_id, [ada])

    assert (is_read, is_loaded) == (False, True)
    assert given.identifiers_of(ada) == loaded.identifiers_of(ada)
    assert len(given.identifiers_of(ada)) == len(["acme.com", "acme", "the domain"])
    assert given.country_of(ada) == loaded.country_of(ada) == (country or "DE")


def test_the_company_of_another_person_is_not_theirs(session: Session, workspace_id: str) -> None:
    acme, other = a_company(session, country="DE"), a_company(session, "Other", domain="other.example")
    ada, bob = a_contact(session, acme, linkedin_url=ADA_URL, country=None), a_contact(session, country=None)
    an_email(session, ada, "ada@acme.com")

    data, is_read = load(session, workspace_id, [ada, bob], [other])

    assert is_read
    assert data.country_of(ada) == "DE"
    assert (data.country_of(bob), data.identifiers_of(bob)) == (None, [])
