"""Which domains an admin may create accounts of, where company accounts sign in to them."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser, create_user

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Role
from app.features.company_sign_in import identities
from app.infra import clock
from app.pages.admin.accounts import ASK_AN_OPERATOR

NEW = {"name": "Grace Hopper", "email": "Grace@Acme.example", "password": PASSWORD, "role": "member"}


@pytest.fixture
def admin(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser of the workspace's admin."""
    with user.database.transaction() as session:
        accounts.set_role(session, user.account_id, Role.ADMIN)
    return visitor(app, user)


def test_an_admin_creates_no_account_of_the_domain_of_another_workspace(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    other = create_user(app, email="bob@example.org")
    change_settings(app, oidc_create_accounts=(("acme.example", other.workspace_id),))
    refused = admin.send("/admin/accounts", **NEW)
    change_settings(app, oidc_create_accounts=(("acme.example", user.workspace_id),))

    created = admin.send("/admin/accounts", **NEW)

    assert (refused.status_code, created.status_code) == (422, 200)
    assert ASK_AN_OPERATOR in refused.text


def test_with_company_sign_in_an_admin_creates_accounts_of_the_domains_of_the_workspace_only(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    """Otherwise the owner of the address would be signed in to an account of a workspace of strangers."""
    issuer = "https://login.acme.example"
    change_settings(app, oidc_issuer=issuer, oidc_client_id="c")
    link(user, "https://an-earlier-issuer.example")
    refused = admin.send("/admin/accounts", **NEW)
    link(user, issuer)

    created = admin.send("/admin/accounts", **NEW)
    other_domain = admin.send("/admin/accounts", **NEW | {"email": "bob@sub.acme.example"})

    assert (refused.status_code, created.status_code, other_domain.status_code) == (422, 200, 422)
    assert ASK_AN_OPERATOR in refused.text


def test_with_company_sign_in_an_admin_creates_accounts_of_mapped_domains(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    change_settings(
        app,
        oidc_issuer="https://login.acme.example",
        oidc_client_id="c",
        oidc_create_accounts=(("acme.example", user.workspace_id),),
    )

    assert admin.send("/admin/accounts", **NEW).status_code == 200


def test_with_company_sign_in_an_operator_creates_accounts_of_every_domain(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    issuer = "https://login.acme.example"
    change_settings(app, oidc_issuer=issuer, oidc_client_id="c", operators=(user.email,))

    assert admin.send("/admin/accounts", **NEW).status_code == 200


def link(user: SignedInUser, issuer: str) -> None:
    with user.database.transaction() as session:
        identities.link(session, issuer, user.account_id, user.account_id, now=clock.now())
