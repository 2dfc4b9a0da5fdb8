"""The pages of admins: accounts, requests and the ledger of their own workspace."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select
from users_support import PASSWORD, SignedInUser, bearer, create_user

from app.domain.audit_actions import Actor
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.engine.jobs.jobs import Job
from app.infra import clock
from app.pages.admin import accounts as accounts_page
from app.pages.admin.accounts import ASK_AN_OPERATOR, CHANGES
from app.web.request_actor import request_actor

NEW = {"name": "Grace Hopper", "email": "Grace@Acme.example", "password": PASSWORD, "role": "member"}

NAMES = ("eve", "joe")


def promote(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        accounts.set_role(session, user.account_id, Role.ADMIN)


def stored(user: SignedInUser) -> Account:
    with user.database.reading() as session:
        return session.get_one(Account, user.account_id)


@pytest.fixture
def admin(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser of the workspace's admin."""
    promote(user)
    return visitor(app, user)


@pytest.fixture
def bob(user: SignedInUser) -> SignedInUser:
    return user.colleague()


def test_a_new_account_can_sign_in(admin: Visitor, user: SignedInUser) -> None:
    page = admin.send("/admin/accounts", **NEW)

    answer = user.sign_in(email="grace@acme.example").get_json()
    assert "The account is created" in page.text
    assert "Grace Hopper" in page.text
    assert (answer["account"]["role"], answer["account"]["api_access"]) == ("member", False)
    assert answer["workspace"]["id"] == user.workspace_id


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"email": "no e-mail"}, "email"),
        ({"email": "ada@acme.example"}, "email"),
        ({"name": ""}, "name"),
        ({"password": "short"}, "password"),
        ({"role": "owner"}, "role"),
    ],
)
def test_an_invalid_account_is_not_created(
    admin: Visitor, user: SignedInUser, changes: dict[str, str], field: str
) -> None:
    page = admin.send("/admin/accounts", **NEW | changes)

    with user.database.reading() as session:
        assert len(accounts.list_all(session)) == 1
    assert page.status_code == 422
    assert f'id="{field}-error"' in page.text
    assert PASSWORD not in page.text


def test_only_an_operator_creates_the_account_of_an_operator(
    app: APIFlask, admin: Visitor, user: SignedInUser
) -> None:
    change_settings(app, operators=("grace@acme.example",))
    refused = admin.send("/admin/accounts", **NEW)
    change_settings(app, operators=("grace@acme.example", user.email))

    created = admin.send("/admin/accounts", **NEW)

    assert refused.status_code == 422
    assert ASK_AN_OPERATOR in refused.text
    assert "The account is created" in created.text


def test_a_disabled_account_is_out_at_once(app: APIFlask, admin: Visitor, bob: SignedInUser) -> None:
    browser = visitor(app, bob)
    key = bob.make_key()

    admin.send(f"/admin/accounts/{bob.account_id}/disable")

    assert browser.open("/history").headers["Location"].startswith("/sign-in")
    assert bob.client.get("/api/ext/session", headers=bearer(key)).status_code == 401
    assert bob.client.get("/api/ext/session", headers=bob.headers).status_code == 401


def test_an_enabled_account_can_sign_in_again(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/admin/accounts", **NEW)
    with user.database.reading() as session:
        grace = accounts.by_email(session, "grace@acme.example")
    assert grace is not None
    admin.send(f"/admin/accounts/{grace.id}/disable")
    refused = user.sign_in(email="grace@acme.example")

    admin.send(f"/admin/accounts/{grace.id}/enable")

    assert refused.get_json()["code"] == "account_disabled"
    assert user.sign_in(email="grace@acme.example").status_code == 200


def test_an_admin_does_not_enable_what_an_operator_disabled(
    app: APIFlask, admin: Visitor, user: SignedInUser, bob: SignedInUser
) -> None:
    with user.database.transaction() as session:
        accounts.disable(session, bob.account_id, now=clock.now())
    admin.send(f"/admin/accounts/{bob.account_id}/disable")

    refused = admin.send(f"/admin/accounts/{bob.account_id}/enable")

    is_refused = stored(bob).disabled_at is not None
    change_settings(app, operators=(user.email,))
    admin.send(f"/admin/accounts/{bob.account_id}/enable")
    assert "Only an operator can enable it." in refused.text
    assert f"/admin/accounts/{bob.account_id}/enable" not in refused.text
    assert is_refused
    assert stored(bob).disabled_at is None


@pytest.mark.parametrize("change", ["disable", "sign-out", "revoke-api-access", "make-member"])
def test_only_an_operator_changes_the_account_of_an_operator(
    app: APIFlask, admin: Visitor, user: SignedInUser, bob: SignedInUser, change: str
) -> None:
    change_settings(app, operators=(stored(bob).email,))

    refused = admin.send(f"/admin/accounts/{bob.account_id}/{change}")

    is_signed_in = bob.client.get("/api/ext/session", headers=bob.headers).status_code == 200
    change_settings(app, operators=(stored(bob).email, user.email))
    changed = admin.send(f"/admin/accounts/{bob.account_id}/{change}")
    assert "Ask an operator to change it." in refused.text
    assert f"/admin/accounts/{bob.account_id}/" not in refused.text
    assert is_signed_in
    assert CHANGES[change][1].partition("{name}")[2].partition(";")[0] in changed.text


def test_an_admin_does_not_learn_who_has_an_account_in_another_workspace(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    create_user(app, email="eve@babbage.example")
    create_user(app, email="eve@gmail.com")
    user.colleague(email="bob@gmail.com")

    taken, free = (
        admin.send("/admin/accounts", **NEW | {"email": f"{name}@babbage.example"}) for name in NAMES
    )
    webmail = [admin.send("/admin/accounts", **NEW | {"email": f"{name}@gmail.com"}) for name in NAMES]

    assert ASK_AN_OPERATOR in taken.text
    assert taken.text.replace("eve@", "joe@") == free.text
    assert [ASK_AN_OPERATOR in page.text for page in webmail] == [True, True]


def test_a_domain_that_another_workspace_uses_too_is_the_operators(
    app: APIFlask, user: SignedInUser, admin: Visitor
) -> None:
    """Not only the address that is taken there: the admin could try the addresses of all colleagues."""
    create_user(app, email="eve@acme.example")

    taken, free = (admin.send("/admin/accounts", **NEW | {"email": f"{name}@acme.example"}) for name in NAMES)
    change_settings(app, oidc_create_accounts=(("acme.example", user.workspace_id),))
    mapped = admin.send("/admin/accounts", **NEW)

    assert ASK_AN_OPERATOR in taken.text
    assert taken.text.replace("eve@", "joe@") == free.text
    assert ASK_AN_OPERATOR in mapped.text


def test_in_the_only_workspace_an_admin_creates_accounts_of_every_domain(admin: Visitor) -> None:
    page = admin.send("/admin/accounts", **NEW | {"email": "grace@gmail.com"})

    assert "The account is created" in page.text


def test_a_role_takes_effect_with_the_next_request(app: APIFlask, admin: Visitor, bob: SignedInUser) -> None:
    browser = visitor(app, bob)
    before = browser.open("/admin").status_code

    admin.send(f"/admin/accounts/{bob.account_id}/make-admin")
    as_admin = browser.open("/admin").status_code
    admin.send(f"/admin/accounts/{bob.account_id}/make-member")
    after = browser.open("/admin").status_code

    assert (before, as_admin, after) == (403, 200, 403)


@pytest.mark.parametrize("change", ["make-member", "disable"])
def test_of_two_admins_who_remove_each_other_one_stays(
    admin: Visitor, user: SignedInUser, bob: SignedInUser, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    promote(bob)

    def after_the_other() -> Actor:
        with user.database.transaction() as session:
            accounts.set_role(session, user.account_id, Role.MEMBER)
        return request_actor()

    monkeypatch.setattr(accounts_page.admission, "request_actor", after_the_other)  # after all other checks

    refused = admin.send(f"/admin/accounts/{bob.account_id}/{change}")

    assert refused.status_code == 403
    assert (stored(user).role, stored(bob).role, stored(bob).disabled_at) == ("member", "admin", None)


def test_api_access_is_granted_and_revoked(admin: Visitor, bob: SignedInUser) -> None:
    key = bob.make_key()

    admin.send(f"/admin/accounts/{bob.account_id}/revoke-api-access")
    without = stored(bob).api_access
    admin.send(f"/admin/accounts/{bob.account_id}/grant-api-access")

    assert (without, stored(bob).api_access) == (False, True)
    assert bob.client.get("/api/ext/session", headers=bearer(key)).status_code == 401


@pytest.mark.parametrize("change", ["disable", "make-member"])
def test_an_admin_cannot_lock_themselves_out(admin: Visitor, user: SignedInUser, change: str) -> None:
    page = admin.send(f"/admin/accounts/{user.account_id}/{change}")

    assert "but not you" in page.text
    assert (stored(user).role, stored(user).disabled_at) == ("admin", None)


@pytest.mark.parametrize("change", ["disable", "make-admin", "revoke-api-access", "sign-out"])
def test_an_account_of_another_workspace_cannot_be_changed(
    app: APIFlask, admin: Visitor, change: str
) -> None:
    eve = create_user(app, email="eve@babbage.example")

    page = admin.send(f"/admin/accounts/{eve.account_id}/{change}")

    assert page.status_code == 404
    assert (stored(eve).role, stored(eve).disabled_at, stored(eve).api_access) == ("member", None, True)
    assert eve.client.get("/api/ext/session", headers=eve.headers).status_code == 200


def test_another_workspaces_accounts_and_requests_are_not_listed(app: APIFlask, admin: Visitor) -> None:
    eve = create_user(app, email="eve@babbage.example")
    visitor(app, eve).send("/reveal", field="email", full_name="Secret Person", company_name="Acme")

    pages = "".join(
        admin.open(path).text for path in ("/admin", "/admin/accounts", "/admin/jobs", "/admin/ledger")
    )

    assert "eve@babbage.example" not in pages
    assert "Secret Person" not in pages
    assert "/history/job_" not in pages


def test_the_requests_of_colleagues_are_listed(app: APIFlask, admin: Visitor, bob: SignedInUser) -> None:
    visitor(app, bob).send("/reveal", field="email", full_name="Ada Lovelace", company_name="Acme")

    page = admin.open("/admin/jobs?status=queued").text

    assert "Ada Lovelace · Acme" in page
    assert "Bob" in page


def test_a_failed_request_is_asked_again_from_the_list(
    app: APIFlask, admin: Visitor, user: SignedInUser, bob: SignedInUser
) -> None:
    change_settings(app, not_found_fresh_seconds=0)
    visitor(app, bob).send("/reveal", field="email", full_name="Ada Lovelace", company_name="Acme")
    with user.database.transaction() as session:
        job = session.scalars(select(Job)).one()
        job.status, job.finished_at, job.outcome = "failed", job.created_at, None
        job.error = {"code": "provider_failed", "title": "All providers failed", "detail": "Try again."}
    page = admin.open("/admin/jobs").text
    again = re.search(r'action="(/history/job_\w+/again)"', page)
    assert again
    assert "All providers failed" in page

    admin.send(again[1])

    with user.database.reading() as session:
        statuses = {row.status for row in session.scalars(select(Job))}
    assert statuses == {"failed", "queued"}


def test_the_ledger_has_a_running_balance_over_its_pages(admin: Visitor) -> None:
    for number in range(55):
        admin.send("/reveal", field="email", full_name=f"Person Number{number}", company_name="Acme")

    first = admin.open("/admin/ledger").text
    older = first.partition('class="button" href="')[2].partition('"')[0]
    second = admin.open(older).text

    balances = [int(text) for text in re.findall(r"<strong>(\d+)</strong>", first + second)]
    assert balances == [*range(195, 250), 250]
    assert "Grant" in second
    assert "Grant" not in first


def test_the_overview_counts_requests_and_accounts(admin: Visitor, bob: SignedInUser) -> None:
    admin.send("/reveal", field="email", full_name="Ada Lovelace", company_name="Acme")

    page = admin.open("/admin").text

    assert re.search(r"<dt>accounts</dt><dd>2</dd>", page)
    assert re.search(r"<dt>credits available</dt><dd>249</dd>", page)
    assert '<th scope="row">E-mail</th>' in page
