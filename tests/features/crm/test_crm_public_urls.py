"""The addresses of the service that a CRM gets: links to receipts, and the redirect address."""

from __future__ import annotations

from apiflask import APIFlask
from page_support import visitor
from settings_support import change_settings
from sqlalchemy import select
from stored_support import a_company, a_contact, an_email, own
from users_support import SignedInUser

from app.engine.accounts.accounts import Account, Role
from app.features.crm import connections
from app.features.crm.connections import Credentials
from app.features.crm.pushes import CrmPush
from app.infra import clock

PUBLIC = "https://contacts.acme.example"
FORGED = {"Host": "evil.example"}


def push_with_a_forged_host(user: SignedInUser) -> str:
    """Push a contact; return the address that the links in the CRM have."""
    now = clock.now()
    with user.database.transaction() as session:
        connection_id = connections.create(
            session,
            user.workspace_id,
            vendor="hubspot",
            base_url=None,
            mapping={},
            credentials=Credentials(token="token"),
            account_id=user.account_id,
            now=now,
        ).id
        contact = a_contact(session, a_company(session), "Grace Hopper")
        an_email(session, contact, "grace@acme.com")
        own(session, user.workspace_id, contact, "email")
        contact_id = contact.id
    body = {"contact_ids": [contact_id], "connection_id": connection_id}
    response = user.client.post("/api/crm/pushes", json=body, headers=user.headers | FORGED)
    assert response.status_code == 202
    with user.database.reading() as session:
        return session.scalars(select(CrmPush.origin)).one()


def test_the_link_in_a_crm_is_not_chosen_by_the_request(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, public_url=PUBLIC)

    assert push_with_a_forged_host(user) == f"{PUBLIC}/"


def test_without_the_setting_it_is_the_host_of_the_request(user: SignedInUser) -> None:
    assert push_with_a_forged_host(user) == "http://evil.example/"


def test_the_redirect_address_of_a_crm_is_not_chosen_by_the_request(
    app: APIFlask, user: SignedInUser
) -> None:
    variables = (("CRM_HUBSPOT_CLIENT_ID", "c"), ("CRM_HUBSPOT_CLIENT_SECRET", "s"))
    change_settings(app, public_url=PUBLIC, crm_variables=variables)
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value

    page = visitor(app, user).send("/crm/authorize", vendor="hubspot")

    assert "redirect_uri=https%3A%2F%2Fcontacts.acme.example%2Fcrm%2Fcallback" in page.text
