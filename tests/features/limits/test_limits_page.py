"""The page of limits, for admins."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from users_support import SignedInUser, create_user, keys_of

from app.engine.accounts.accounts import Account, Role
from app.engine.ledger import limit_settings
from app.infra import clock


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    colleague = user.colleague(email="grace@acme.example")
    with user.database.transaction() as session:
        session.get_one(Account, colleague.account_id).role = Role.ADMIN.value
    return colleague


@pytest.fixture
def admins_browser(app: APIFlask, admin: SignedInUser) -> Visitor:
    return visitor(app, admin)


def key_of(user: SignedInUser) -> str:
    user.make_key()
    with user.database.reading() as session:
        return keys_of(session, user.account_id)[0].id


def limits(user: SignedInUser) -> list[tuple[str, str, int]]:
    with user.database.reading() as session:
        found = limit_settings.in_force(session, user.workspace_id, now=clock.now())
    return [(limit.subject.id, limit.usage.period.value, limit.usage.credits) for limit in found]


def test_an_admin_sets_changes_and_removes_limits(admins_browser: Visitor, user: SignedInUser) -> None:
    key_id = key_of(user)

    admins_browser.send("/admin/limits", subject=user.account_id, period="month", amount="50")
    admins_browser.send("/admin/limits", subject=key_id, period="total", amount="7")
    page = admins_browser.send("/admin/limits", subject=user.account_id, period="month", amount="60")
    both = limits(user)
    removed = admins_browser.send("/admin/limits/remove", subject=key_id, period="total")

    assert "The limit is set" in page.text
    assert both == [(key_id, "total", 7), (user.account_id, "month", 60)]
    assert "The limit is removed" in removed.text
    assert limits(user) == [(user.account_id, "month", 60)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"period": "month", "amount": "-1"}, "Enter a whole number"),
        ({"period": "month", "amount": ""}, "Enter a whole number"),
        ({"period": "month", "amount": "9" * 5000}, "Enter a whole number"),
        ({"period": "month", "amount": "9" * 12}, "Must be greater than or equal to 0 and less than"),
        ({"period": "total", "amount": "5"}, "An account has a monthly limit only"),
    ],
)
def test_an_invalid_limit_is_explained_and_not_set(
    admins_browser: Visitor, user: SignedInUser, fields: dict[str, str], message: str
) -> None:
    page = admins_browser.send("/admin/limits", subject=user.account_id, **fields)

    assert page.status_code == 422
    assert message in page.text
    assert f'<option value="{user.account_id}" selected>' in page.text
    assert limits(user) == []


def test_accounts_and_keys_of_other_workspaces_cannot_be_limited(
    app: APIFlask, admins_browser: Visitor
) -> None:
    stranger = create_user(app, email="eve@babbage.example")
    subjects = [stranger.account_id, key_of(stranger), "", "acc_nobody"]

    statuses = [
        admins_browser.send("/admin/limits", subject=subject, period="month", amount="5").status_code
        for subject in subjects
    ]

    assert statuses == [404] * 4
    assert limits(stranger) == []
    assert stranger.account_id not in admins_browser.open("/admin/limits").text
