"""Access to pages: every page and form, requested by every kind of visitor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import feature_tests
import pytest
from access_support import ADMIN, MEMBER, OPEN, OPERATOR
from apiflask import APIFlask
from page_support import ACCEPT, Visitor, is_page, visitor
from settings_support import change_settings
from sqlalchemy import select
from users_support import create_user

from app.engine.accounts.accounts import Account, Role
from app.engine.events import endpoints
from app.infra import clock

PAGES = {
    "GET /sign-in": OPEN,
    "POST /sign-in": OPEN,
    "GET /sign-in/code": OPEN,
    "POST /sign-in/code": OPEN,
    "POST /sign-out": MEMBER,
    "GET /static/<path:filename>": OPEN,
    "POST /language": OPEN,
    "GET /manual": OPEN,
    "GET /manual/": OPEN,
    "GET /manual/<path:name>": OPEN,
    "POST /": MEMBER,
    "GET /search": MEMBER,
    "POST /search": MEMBER,
    "POST /first-steps/hide": MEMBER,
    "POST /reveal": MEMBER,
    "POST /save": MEMBER,
    "GET /contacts": MEMBER,
    "POST /contacts": MEMBER,
    "GET /contacts/download": MEMBER,
    "GET /contacts/<contact_id>": MEMBER,
    "POST /contacts/<contact_id>/notes": MEMBER,
    "GET /companies/<key>": MEMBER,
    "GET /history": MEMBER,
    "GET /history.csv": MEMBER,
    "GET /history.xlsx": MEMBER,
    "GET /search/<job_id>": MEMBER,
    "GET /history/<job_id>": MEMBER,
    "POST /history/<job_id>/again": MEMBER,
    "GET /keys": MEMBER,
    "POST /keys": MEMBER,
    "POST /keys/<key_id>/revoke": MEMBER,
    "POST /keys/<key_id>/limits": MEMBER,
    "GET /account": MEMBER,
    "POST /account/sessions/<session_id>/end": MEMBER,
    "POST /account/sessions/end-others": MEMBER,
    "POST /account/password": MEMBER,
    "GET /account/two-factor": MEMBER,
    "POST /account/two-factor": MEMBER,
    "POST /account/two-factor/confirm": MEMBER,
    "POST /account/two-factor/disable": MEMBER,
    "GET /admin": ADMIN,
    "GET /admin/accounts": ADMIN,
    "POST /admin/accounts": ADMIN,
    "POST /admin/accounts/<account_id>/<change>": ADMIN,
    "GET /admin/jobs": ADMIN,
    "GET /admin/ledger": ADMIN,
    "GET /admin/audit-log": ADMIN,
    "GET /admin/audit-log.csv": ADMIN,
    "GET /admin/audit-log.xlsx": ADMIN,
    "GET /admin/all-audit-log": OPERATOR,
    "GET /admin/all-audit-log.csv": OPERATOR,
    "GET /admin/all-audit-log.xlsx": OPERATOR,
    "GET /admin/grants": OPERATOR,
    "POST /admin/grants": OPERATOR,
    "POST /admin/grants/pause": OPERATOR,
    "POST /admin/grants/remove": OPERATOR,
    "POST /admin/grants/resume": OPERATOR,
    "GET /admin/workspaces": OPERATOR,
    "POST /admin/workspaces": OPERATOR,
    "POST /admin/workspaces/credits": OPERATOR,
    "GET /admin/queues": OPERATOR,
    "GET /events": MEMBER,
} | {route: needs for part in feature_tests.parts("access") for route, needs in part.PAGES.items()}
"""Who may use each route. `GET /`, which programs may call too, is added below."""
ALLOWED = {
    OPEN: {"nobody", "member", "admin", "operator"},
    MEMBER: {"member", "admin", "operator"},
    ADMIN: {"admin"},
    OPERATOR: {"operator"},
}
ROOT = Path(__file__).parents[2]
READS_A_ROLE = re.compile(r"is_admin|Role\.ADMIN|\.role\b")
MAY_READ_A_ROLE = {
    "app/web/sign_in/admins.py": "decides who acts as an admin",
    "app/api/session.py": "returns the role of the caller's own account",
    "app/engine/accounts/accounts.py": "stores it",
    "app/engine/accounts/authentication.py": "reads it for the caller",
    "app/pages/admin/accounts.py": "shows and changes the roles of others",
    "app/pages/admin/workspaces.py": "creates the first admin of a workspace",
    "app/engine/accounts/permissions.py": "an admin may do all",
    "app/engine/call_registers/listings.py": "whose job it is: numbers are hidden from members",
    "app/features/scim/access.py": "gives the roles of groups",
    "app/features/scim/groups.py": "stores the roles of groups",
    "app/features/scim/setup.py": "shows the roles of groups",
    "app/features/scim/templates/provisioning.html": "likewise",
    "app/features/scim/tokens.py": "says whether the maker of a token is still an admin",
    "app/features/scim/schemas.py": "likewise",
    "app/features/password_resets/resets.py": "a link ends with the role of the admin who made it",
    "app/features/permissions/seats.py": "shows the roles of the seats",
    "app/features/permissions/pages.py": "likewise",
    "app/features/permissions/commands.py": "likewise",
    "app/features/permissions/templates/permissions.html": "likewise",
    "app/web/pages/access.py": "links to the pages that ask for two-factor sign-in",
    "app/pages/templates/account.html": "shows the viewer's own role",
    "workers/providers/website/structured_people.py": "a class of elements with a job title",
    "app/pages/templates/admin/accounts.html": "shows the roles of others",
}
"""The modules that may read a role, and why. All others ask `acts_as_admin`."""


@dataclass(slots=True)
class Team:
    """The visitors of a workspace, by what they are."""

    nobody: Visitor
    member: Visitor
    admin: Visitor
    operator: Visitor


@pytest.fixture
def team(app: APIFlask) -> Team:
    """A workspace with a member, an admin and a member who operates the deployment."""
    member = create_user(app)
    admin = member.colleague(email="grace@acme.example")
    operator = member.colleague(email="olive@acme.example")
    with member.database.transaction() as session:
        session.get_one(Account, admin.account_id).role = Role.ADMIN.value
    change_settings(app, operators=(operator.email,), limit_login_address="100000/minute")
    return Team(visitor(app), visitor(app, member), visitor(app, admin), visitor(app, operator))


def test_every_page_names_who_may_use_it(app: APIFlask) -> None:
    declared = {
        f"{method} {rule.rule}": getattr(app.view_functions[rule.endpoint], "needs", OPEN)
        for rule in app.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        if is_page(app, rule)
    }

    assert declared == PAGES


@pytest.mark.parametrize("name", ["nobody", "member", "admin", "operator"])
def test_a_visitor_gets_only_the_pages_that_are_allowed(app: APIFlask, team: Team, name: str) -> None:
    routes = PAGES | {"GET /": MEMBER}
    browser: Visitor = getattr(team, name)

    refused = {route for route in routes if route != "POST /sign-out" and not _is_admitted(browser, route)}

    assert refused == {
        route for route, needs in routes.items() if route != "POST /sign-out" and name not in ALLOWED[needs]
    }


def test_an_admin_without_the_required_second_factor_sees_what_a_member_sees(
    app: APIFlask, team: Team
) -> None:
    change_settings(app, totp_required_for="admins")
    with app.extensions["services"].database.transaction() as session:
        workspace_id = session.scalars(select(Account.workspace_id)).first() or ""
        url, types = "https://hooks.acme.example/", ["job.finished"]
        endpoints.create(session, workspace_id, url=url, types=types, now=clock.now())
    paths = [
        route.removeprefix("GET ")
        for route, needs in PAGES.items()
        if route.startswith("GET ") and needs == MEMBER and not re.search(r"<|/account|\.xlsx", route)
    ]

    seen = {path: _content(team.admin, path) for path in paths}

    assert seen == {path: _content(team.member, path) for path in paths}
    assert "set it up" in team.admin.open("/contacts").text


def test_only_these_modules_read_a_role() -> None:
    folders = ("app/api", "app/engine", "app/features", "app/pages", "app/web", "mcp_server", "workers")
    files = [
        file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in {".py", ".html"}
    ]

    reading = {str(file.relative_to(ROOT)) for file in files if READS_A_ROLE.search(file.read_text())}

    assert reading == MAY_READ_A_ROLE.keys()


def _content(browser: Visitor, path: str) -> str:
    """Return the main part of a page without the notice for admins and what names the viewer."""
    text = browser.open(path).text.partition("<main")[2]
    text = re.sub(r'<p class="notice">This server requires two-factor.*?</p>', "", text)
    return "\n".join(
        line.strip() for line in text.splitlines() if re.search("<form|<button|<a |secret|<input", line)
    )


def _is_admitted(browser: Visitor, route: str) -> bool:
    """Send an empty form or open the page; ids are those of nothing, which is found out after the access."""
    method, _, rule = route.partition(" ")
    path = rule.replace("<path:filename>", "icon.svg")
    with browser.client.open(
        path, method=method, headers=ACCEPT, data={} if method == "POST" else None
    ) as page:
        page.get_data()
        is_sent_away = page.status_code == 303 and page.headers["Location"].startswith("/sign-in")
        return not is_sent_away and page.status_code != 403
