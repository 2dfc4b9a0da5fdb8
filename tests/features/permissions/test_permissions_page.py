from __future__ import annotations

import pytest
from apiflask import APIFlask
from contact_page_support import reveal
from jobs_support import a_job
from page_support import Visitor, visitor
from sqlalchemy import update
from stored_support import a_company, a_contact, a_phone, own
from users_support import SignedInUser, create_user

from app.domain.errors import InsufficientCredits
from app.domain.kinds import Kind
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal


@pytest.fixture
def member(app: APIFlask) -> SignedInUser:
    return create_user(app)


@pytest.fixture
def browser(app: APIFlask, member: SignedInUser) -> Visitor:
    """A browser of an admin of the member's workspace."""
    admin = member.colleague(email="grace@acme.example")
    with member.database.transaction() as session:
        session.execute(
            update(Account).where(Account.id == admin.account_id).values(role=Role.ADMIN.value, name="Grace")
        )
    return visitor(app, admin)


def permitted(user: SignedInUser) -> set[str]:
    with user.database.reading() as session:
        return set(permissions.of_account(session, user.account_id))


def deny(user: SignedInUser, *denied: Permission) -> None:
    with user.database.transaction() as session:
        permissions.set_of_account(session, user.account_id, dict.fromkeys(denied, False))


def test_the_page_has_a_row_for_each_seat(browser: Visitor) -> None:
    text = browser.open("/admin/permissions").text

    assert "Members by default" in text
    assert "Ada Lovelace" in text
    assert "Admin: may do all" in text


def test_what_is_not_ticked_is_denied_to_members(browser: Visitor, member: SignedInUser) -> None:
    saved = browser.send("/admin/permissions/members", allowed=["export", "push"])

    assert "Saved." in saved.text
    assert permitted(member) == {"export", "push"}


def test_an_account_is_changed_by_its_row(browser: Visitor, member: SignedInUser) -> None:
    browser.send("/admin/permissions/members", allowed=["export"])

    shown = browser.send(f"/admin/permissions/{member.account_id}", push="yes", export="no", see_costs="")

    assert permitted(member) == {"push"}
    assert "Saved for Ada Lovelace" in shown.text
    assert "own</span>" in shown.text


@pytest.mark.parametrize(
    ("path", "permission", "gone"),
    [
        ("/contacts", Permission.EXPORT, "Download as CSV"),
        ("/uploads", Permission.START_UPLOADS, ">Upload</button>"),
    ],
)
def test_an_action_that_is_not_allowed_gives_way_to_the_reason(
    app: APIFlask, member: SignedInUser, path: str, permission: Permission, gone: str
) -> None:
    with member.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        a_phone(session, contact, "+12125550100")
        own(session, member.workspace_id, contact, "phone")
    if not any(rule.rule == path for rule in app.url_map.iter_rules()):
        pytest.skip("the feature was deleted")
    offered = visitor(app, member).open(path).text
    deny(member, permission)

    text = visitor(app, member).open(path).text

    assert gone in offered
    assert gone not in text
    assert "Ask an admin of your workspace" in text


def test_the_reveal_of_a_phone_gives_way_to_the_reason(app: APIFlask, member: SignedInUser) -> None:
    deny(member, Permission.REVEAL_PHONES)

    text = visitor(app, member).send("/", full_name="Ada Lovelace", company_domain="acme.example").text

    assert "Find e-mail" in text
    assert "Find phone" not in text
    assert "This account may not reveal phone numbers." in text


def test_the_balance_and_the_link_to_usage_are_not_there_without_costs(
    app: APIFlask, member: SignedInUser
) -> None:
    deny(member, Permission.SEE_COSTS)

    text = visitor(app, member).open("/history").text

    assert "250 credits" not in text
    assert 'href="/usage"' not in text


def test_what_own_keys_spent_is_not_there_without_costs(app: APIFlask, member: SignedInUser) -> None:
    seat = visitor(app, member)
    seat.send("/keys", name="Agent", scopes=["reveal"], spending_cap="20", monthly_limit="7")
    shown = seat.open("/keys").text
    deny(member, Permission.SEE_COSTS)

    hidden = seat.open("/keys").text

    assert ("0 of 20 in all" in shown, "0 of 7 this month" in shown) == (True, True)
    assert ("\N{EN DASH} of 20 in all" in hidden, "\N{EN DASH} of 7 this month" in hidden) == (True, True)


def test_what_a_contact_cost_is_not_there_without_costs(app: APIFlask, member: SignedInUser) -> None:
    seat, contact = visitor(app, member), reveal(member)
    with member.database.transaction() as session:
        job_id = a_job(session, member.workspace_id, "one", kind=Kind.REVEAL_EMAIL)
        session.execute(update(Job).where(Job.id == job_id).values(held=7, charged=7))
        session.execute(update(Reveal).where(Reveal.contact_id == contact.id).values(job_id=job_id))
    shown = seat.open(f"/contacts/{contact.id}").text
    deny(member, Permission.SEE_COSTS)

    hidden = seat.open(f"/contacts/{contact.id}").text

    cell = 'data-label="Credits for this contact"'
    assert (f"{cell}>7<" in shown, f"{cell}>7<" in hidden) == (True, False)
    assert f"{cell} data-none>\N{EN DASH}<" in hidden


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/verifications", {"values": "\n".join(f"ada@{name}.com" for name in "abc")}),
        ("/people-searches", {"company": "acme.com", "limit": "3"}),
    ],
)
def test_a_form_without_enough_credits_says_no_balance(
    app: APIFlask, member: SignedInUser, path: str, fields: dict[str, str]
) -> None:
    with member.database.transaction() as session:
        session.execute(update(Workspace).values(available=2))
    shown = visitor(app, member).send(path, **fields)
    deny(member, Permission.SEE_COSTS)

    hidden = visitor(app, member).send(path, **fields)

    assert (shown.status_code, hidden.status_code) == (402, 402)
    assert "the workspace has 2 credits" in shown.text
    assert "2 credits" not in hidden.text
    assert InsufficientCredits.help in hidden.text


def test_a_refused_page_says_the_reason(app: APIFlask, member: SignedInUser) -> None:
    deny(member, Permission.SEE_COSTS)

    refused = visitor(app, member).open("/usage")

    assert refused.status_code == 403
    assert "This account may not see what the workspace spends." in refused.text


def test_a_new_key_has_what_is_ticked(app: APIFlask, member: SignedInUser) -> None:
    deny(member, Permission.PUSH)
    pages = visitor(app, member)

    offered = pages.open("/keys").text
    pages.send("/keys", name="Agent", scopes=["lookup"], permissions=["export"])

    keys = member.client.get("/api/keys", headers=member.headers).get_json()["keys"]
    assert 'value="push"' not in offered
    assert [key["permissions"] for key in keys] == [["export"]]
