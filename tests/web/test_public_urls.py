"""The addresses of the service that leave it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from apiflask import APIFlask
from page_support import visitor
from settings_support import change_settings
from sqlalchemy import select
from stored_support import a_company, a_contact, an_email, own
from users_support import SignedInUser, create_user

from app import factory, settings
from app.engine.accounts.accounts import Account, Role
from app.features.crm import connections
from app.features.crm.connections import Credentials
from app.features.crm.pushes import CrmPush
from app.infra import clock
from app.settings import SettingsError

ROOT = Path(__file__).parents[2]
PUBLIC = "https://contacts.acme.example"
FORGED = {"Host": "evil.example"}


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


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


def test_the_api_document_names_it(app: APIFlask) -> None:
    known = app.extensions["services"].settings
    other = factory.create_app(dataclasses.replace(known, public_url=PUBLIC))

    servers = other.test_client().get("/openapi.json", headers=FORGED).get_json()["servers"]

    assert servers == [{"url": PUBLIC}, {"url": "/"}]


@pytest.mark.parametrize(
    "url",
    [
        "http://contacts.acme.example",
        "https://a.example/path",
        "https://u@a.example",
        "https://a b",
        "a.example",
    ],
)
def test_an_address_that_is_no_origin_is_an_error(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("PUBLIC_URL", url)
    settings.load.cache_clear()

    with pytest.raises(SettingsError, match="it must be an address such as"):
        settings.load()
    settings.load.cache_clear()


def test_nothing_else_makes_an_address_of_the_host_of_a_request() -> None:
    pattern = re.compile(r"request\.(host_url|url_root|root_url|base_url|url)\b|_external=True")

    using = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "app").rglob("*.py")
        if pattern.search(file.read_text())
    }

    assert using == {"app/web/public_urls.py"}
