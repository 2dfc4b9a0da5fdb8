"""The credits that a reveal needs to be accepted: none if it cannot cost anything."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from sqlalchemy import func, select, update
from stored_support import ADA_URL, a_company, a_contact, an_email, own, suppress
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.contacts import Contact
from app.engine.jobs.jobs import Job


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    """An account of a workspace that has no credits left."""
    user = create_user(app)
    with user.database.transaction() as session:
        session.execute(update(Workspace).values(available=0))
    return user


@pytest.fixture
def ada(user: SignedInUser) -> Contact:
    """A contact with a stored address."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
    return contact


def reveal(user: SignedInUser) -> TestResponse:
    return user.client.post(
        "/api/ext/reveal/email",
        json={"subject": {"linkedin_url": ADA_URL}},
        headers=user.headers | {"Prefer": "respond-async"},
    )


@pytest.mark.usefixtures("ada")
def test_without_credits_a_stored_but_unowned_value_is_refused(user: SignedInUser) -> None:
    response = reveal(user)

    assert (response.status_code, response.get_json()["code"]) == (402, "insufficient_credits")


@pytest.mark.usefixtures("ada")
def test_without_credits_a_suppressed_person_can_be_requested(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        suppress(session, "linkedin_url", ADA_URL)

    response = reveal(user)

    assert (response.status_code, response.get_json()["credits"]["reserved"]) == (202, 0)


def test_without_credits_an_owned_value_can_be_requested(user: SignedInUser, ada: Contact) -> None:
    with user.database.transaction() as session:
        own(session, user.workspace_id, ada, "email")

    response = reveal(user)

    assert (response.status_code, response.get_json()["credits"]["reserved"]) == (202, 0)


def test_a_reveal_for_a_name_of_no_person_is_refused_and_reserves_nothing(app: APIFlask) -> None:
    user = create_user(app)

    response = user.client.post(
        "/api/ext/reveal/email",
        json={
            "subject": {"full_name": "LinkedIn Member", "company_domain": "acme.com"},
            "min_status": "risky",
        },
        headers=user.headers | {"Prefer": "respond-async"},
    )

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    with user.database.transaction() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 0
