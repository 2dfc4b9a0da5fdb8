"""Access control: every route and method that the application serves, requested by every kind of caller.

`-s` prints the table. The routes come from the application; this module states what each of them requires.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import feature_tests
import pytest
from access_support import AccessRule, open_to_all, requires
from apiflask import APIBlueprint, APIFlask
from jobs_support import LIFETIME
from page_support import is_page
from rich.console import Console
from rich.table import Table
from settings_support import change_settings
from sqlalchemy import update
from stored_support import a_company, a_contact, an_email
from users_support import PASSWORD, SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.ids import new_id
from app.domain.tokens import TokenKind, new_token
from app.engine.accounts import accounts, api_keys, sessions
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.sessions import LoginSession
from app.engine.jobs import jobs
from app.engine.ledger import acquisition
from app.engine.ledger.acquisition import Acquisition
from app.infra import clock

ADDRESS = "ada@acme.com"
PROFILE = "https://www.linkedin.com/in/ada-lovelace"
HASH = "0" * 64


FEATURES = feature_tests.parts("access")
NAMED = re.compile(r"[<{](\w+)[>}]")
"""The name of a thing in a path or a body, as in `<list_id>`."""
SUBJECT = {"subject": {"linkedin_url": PROFILE}}
ACCESS_RULES = {
    "GET /api/ext/sign-in-options": open_to_all("the form of a client that no one has signed in to shows it"),
    "POST /api/ext/login": open_to_all(
        "it hands out tokens; failures are limited by network and by e-mail",
        body={"email": "ada@acme.example", "password": PASSWORD},
    ),
    "GET /api/ext/session": requires("token", 200),
    "POST /api/ext/logout": requires("session", 204),
    "POST /api/ext/lookup": requires(Scope.LOOKUP, 200, body=SUBJECT),
    "POST /api/ext/reveal/email": requires(Scope.REVEAL, 202, body=SUBJECT),
    "POST /api/ext/reveal/phone": requires(Scope.REVEAL, 202, body=SUBJECT),
    "POST /api/ext/enrichment-request": requires(
        Scope.ENRICH, 202, body={"entity": "person", "items": [SUBJECT]}
    ),
    "POST /api/ext/linkedin-save": requires(
        Scope.SAVE, 200, 201, body={"profile": {"linkedin_url": PROFILE}}
    ),
    "POST /api/ext/company-by-hash": requires(Scope.LOOKUP, 202, body={"hash": HASH}),
    "POST /api/ext/leads-by-website-hash": requires(Scope.LOOKUP, 202, body={"hash": HASH}),
    "GET /api/ext/jobs": requires("token", 200),
    "GET /api/ext/jobs?id={job_id}": requires(
        "token", 202, owned_by="the workspace's", code_if_missing="job_not_found", scope_to_see=Scope.REVEAL
    ),
    "GET /api/jobs": requires("token", 200),
    "GET /api/contacts": requires(Scope.LOOKUP, 200),
    "GET /api/contacts/<contact_id>": requires(
        Scope.LOOKUP, 200, owned_by="the workspace's", code_if_missing="contact_not_found"
    ),
    "POST /api/keys": requires("api access", 201, body={"name": "CRM"}, code_for_keys="api_access_required"),
    "GET /api/keys": requires("session", 200, code_for_keys="api_access_required"),
    "DELETE /api/keys/<key_id>": requires(
        "session", 204, owned_by="the account's", code_for_keys="api_access_required"
    ),
    "GET /api/sessions": requires("session", 200),
    "DELETE /api/sessions": requires("session", 204),
    "DELETE /api/sessions/<session_id>": requires("session", 204, owned_by="the account's"),
    "POST /api/password": requires(
        "session", 204, body={"current_password": PASSWORD, "new_password": PASSWORD}
    ),
    "GET /api/events": requires(Scope.LOOKUP, 200),
    "GET /api/totp": requires("session", 200),
    "POST /api/totp": requires("session", 201, body={"current_password": PASSWORD}),
    "POST /api/totp/confirm": requires(
        "session", 422, body={"code": "000000"}, code_if_permitted="validation_error"
    ),
    "POST /api/totp/disable": requires("session", 204, body={"current_password": PASSWORD}),
    "GET /": open_to_all("it says where the documentation is"),
    "GET /healthz": open_to_all("it says only that the process answers"),
    "GET /readyz": open_to_all("load balancers have no token; it names no one", 200, 503),
    "GET /metrics": open_to_all("METRICS_TOKEN, or loopback without one; 404 for other callers"),
    "GET /problems": open_to_all("it is documentation"),
    "GET /problems/<code>": open_to_all("it is documentation"),
    "GET /openapi.json": open_to_all("it is documentation"),
    "GET /llms.txt": open_to_all("it is documentation"),
    "GET /docs": open_to_all("it is documentation"),
    "GET /docs/assets/<path:name>": open_to_all("files of the documentation page"),
} | {route: rule for part in FEATURES for route, rule in part.ACCESS_RULES.items()}
ACCESS_RULES |= {
    # Last: from then on, the other workspace has the contact, too.
    "POST /api/contacts/<contact_id>": requires(Scope.SAVE, 200, body={"note": "hi"}),
}
"""By method, rule and, where it selects the resource, query."""
WITHOUT_A_BODY = {"POST /api/ext/logout"}.union(*(part.WITHOUT_A_BODY for part in FEATURES))
BY_ID = (
    "DELETE /api/keys/<key_id>",
    "DELETE /api/sessions/<session_id>",
    "GET /api/contacts/<contact_id>",
    "GET /api/ext/jobs?id={job_id}",
    *(route for part in FEATURES for route in part.BY_ID),
)
"""Routes whose answer must not tell a thing of another workspace from a missing one."""
FILES = {route: rule.file for route, rule in ACCESS_RULES.items() if rule.file is not None}
"""The routes whose body is a file, and a CSV file to send."""


@dataclass(frozen=True, slots=True)
class CallerKind:
    """A kind of caller: its headers, and the error that it always gets or the permission that it lacks."""

    name: str
    headers: Callable[[SampleTenants], dict[str, str]]
    refused: str = ""
    is_key: bool = False
    lacks: Scope | Literal["api access"] | None = None
    account: Literal["the owner", "a colleague", "a stranger"] = "the owner"


@dataclass(slots=True)
class SampleTenants:
    """Two workspaces, three accounts, and resources of the owner."""

    app: APIFlask
    owner: SignedInUser
    colleague: SignedInUser
    without_access: SignedInUser
    stranger: SignedInUser
    contact_id: str
    job_id: str = ""

    def session_token(self, user: SignedInUser, **changes: Any) -> str:
        with self.owner.database.transaction() as session:
            started, token = sessions.start(
                session, user.account_id, network=b"", lifetime=LIFETIME, now=clock.now()
            )
            session.execute(
                update(LoginSession).where(LoginSession.id == started.id).values(**changes or _SAME)
            )
        return token

    def key(self, *scopes: Scope, **changes: Any) -> tuple[str, str]:
        """Create an API key of the owner; return its id and its text."""
        now = clock.now()
        with self.owner.database.transaction() as session:
            api_key, text = api_keys.create(
                session, self.owner.account_id, name="k", scopes=scopes, expires_at=None, now=now
            )
            session.execute(update(ApiKey).where(ApiKey.id == api_key.id).values(**changes or _SAME_KEY))
        return api_key.id, text

    def a_session_id(self) -> str:
        with self.owner.database.transaction() as session:
            return sessions.start(
                session, self.owner.account_id, network=b"", lifetime=LIFETIME, now=clock.now()
            )[0].id

    def _makers(self) -> dict[str, Callable[[], str]]:
        """Return what makes the owner's thing for each name in a path or a body."""
        return {
            "key_id": lambda: self.key(*Scope)[0],
            "session_id": self.a_session_id,
            "contact_id": lambda: self.contact_id,
            "account_id": lambda: self.owner.account_id,
            "job_id": lambda: self.job_id,
            **{
                name: partial(make, self.owner, self.contact_id)
                for part in FEATURES
                for name, make in part.MAKERS.items()
            },
        }

    def make(self, route: str) -> tuple[str, str]:
        """Make the owner's thing that a path names; return the name and the id."""
        name = NAMED.findall(route)[0]
        return name, self._makers()[name]()

    def _filled(self, value: Any) -> Any:
        """Return a value of a body with things in place of their names."""
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        named = NAMED.fullmatch(value) if isinstance(value, str) else None
        return self._makers()[named[1]]() if named else value

    def call(self, method: str, route: str, headers: dict[str, str], body: Any = None) -> TestResponse:
        """Send a request to existing resources of the owner."""
        path = route.replace("<code>", "not_found").replace("<path:name>", "swagger-ui.css")
        path = path.replace("<any(Users,Groups):kind>", "Users")
        path = NAMED.sub(lambda named: self._makers()[named[1]](), path)
        body = body and {name: self._filled(value) for name, value in body.items()}
        headers = headers | {"Prefer": "respond-async"}
        file = FILES.get(f"{method} {route}")
        sent = {"json": body} if file is None else {"data": file, "content_type": "text/csv"}
        with self.owner.client.open(path, method=method, headers=headers, **sent) as response:
            response.get_data()
            return response


_SAME = {"client_name": None}
_SAME_KEY = {"name": "k"}
LONG_AGO = timedelta(days=1000)
JUST_NOW = timedelta(minutes=1)  # more than the clock of a virtual machine is set back at once
CALLERS = (
    CallerKind("owner", lambda tenants: bearer(tenants.session_token(tenants.owner))),
    CallerKind("key with every scope", lambda tenants: bearer(tenants.key(*Scope)[1]), is_key=True),
    *(
        CallerKind(
            f"key without {lacking}",
            lambda tenants, lacking=lacking: bearer(  # type: ignore[misc]
                tenants.key(*(scope for scope in Scope if scope is not lacking))[1]
            ),
            is_key=True,
            lacks=lacking,
        )
        for lacking in Scope
    ),
    CallerKind(
        "colleague", lambda tenants: bearer(tenants.session_token(tenants.colleague)), account="a colleague"
    ),
    CallerKind(
        "colleague without API access",
        lambda tenants: bearer(tenants.session_token(tenants.without_access)),
        account="a colleague",
        lacks="api access",
    ),
    CallerKind(
        "another workspace",
        lambda tenants: bearer(tenants.session_token(tenants.stranger)),
        account="a stranger",
    ),
    CallerKind("anonymous", lambda _tenants: {}, "missing_token"),
    CallerKind("malformed token", lambda _tenants: bearer("ses_" + "0" * 49), "invalid_token"),
    CallerKind(
        "unknown session token", lambda _tenants: bearer(new_token(TokenKind.SESSION)), "invalid_token"
    ),
    CallerKind("unknown key", lambda _tenants: bearer(new_token(TokenKind.API_KEY)), "invalid_token"),
    CallerKind(
        "session idle too long",
        lambda tenants: bearer(tenants.session_token(tenants.owner, last_used_at=clock.now() - LONG_AGO)),
        "token_expired",
    ),
    CallerKind(
        "session past its end",
        lambda tenants: bearer(tenants.session_token(tenants.owner, expires_at=clock.now() - JUST_NOW)),
        "token_expired",
    ),
    CallerKind(
        "ended session",
        lambda tenants: bearer(tenants.session_token(tenants.owner, revoked_at=clock.now())),
        "token_revoked",
    ),
    CallerKind(
        "expired key",
        lambda tenants: bearer(tenants.key(*Scope, expires_at=clock.now() - JUST_NOW)[1]),
        "token_expired",
    ),
    CallerKind(
        "revoked key", lambda tenants: bearer(tenants.key(*Scope, revoked_at=clock.now())[1]), "token_revoked"
    ),
    CallerKind(
        "disabled account", lambda tenants: bearer(_token_of_a_disabled_account(tenants)), "token_revoked"
    ),
)
STRANGERS_TO: dict[str, set[str]] = {
    "everyone's": set(),
    "the workspace's": {"a stranger"},
    "the account's": {"a stranger", "a colleague"},
}
BY_NAME = {caller.name: caller for caller in CALLERS}


@pytest.fixture
def tenants(app: APIFlask) -> SampleTenants:
    change_settings(app, limit_login_address="100000/minute", limit_login_account="100000/minute")
    owner = create_user(app)
    stranger = create_user(app, email="eve@babbage.example")
    colleague = owner.colleague()
    without_access = owner.colleague(email="grace@acme.example", api_access=False)
    with owner.database.transaction() as session:
        password_hash = session.get_one(Account, owner.account_id).password_hash
        session.execute(update(Account).values(password_hash=password_hash))
        admins = [owner.account_id, stranger.account_id]
        session.execute(update(Account).where(Account.id.in_(admins)).values(role=Role.ADMIN.value))
        contact = a_contact(session, a_company(session))
        an_email(session, contact, ADDRESS)
        acquisition.acquire_field(
            session,
            Acquisition(
                workspace_id=owner.workspace_id,
                contact_id=contact.id,
                field="email",
                job_id=new_id("job"),
            ),
            now=clock.now(),
        )
    tenants = SampleTenants(app, owner, colleague, without_access, stranger, contact.id)
    response = tenants.call(
        "POST", "/api/ext/reveal/email", owner.headers, {"subject": {"email": "b@acme.com"}}
    )
    tenants.job_id = response.get_json()["job"]["id"]
    return tenants


def test_every_caller_gets_the_specified_status_on_every_route(
    tenants: SampleTenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1000)  # each caller gets one of its own

    outcomes = {
        (route, caller.name): _outcome(tenants.call(*route.split(" "), caller.headers(tenants), rule.body))  # type: ignore[arg-type]
        for route, rule in ACCESS_RULES.items()
        for caller in CALLERS
    }

    _print(outcomes)
    wrong = [
        f"{route} by {name}: {outcome}, not {sorted(_expected(ACCESS_RULES[route], BY_NAME[name]))}"
        for (route, name), outcome in outcomes.items()
        if outcome not in _expected(ACCESS_RULES[route], BY_NAME[name])
    ]
    assert wrong == []


def test_head_requires_the_same_access_as_get(tenants: SampleTenants) -> None:
    routes = [route.partition(" ")[2] for route, rule in ACCESS_RULES.items() if route.startswith("GET ")]

    different = [
        (route, caller.name)
        for route in routes
        for caller in (BY_NAME["owner"], BY_NAME["anonymous"], BY_NAME["another workspace"])
        if tenants.call("HEAD", route, caller.headers(tenants)).status_code
        != tenants.call("GET", route, caller.headers(tenants)).status_code
    ]

    assert different == []


def test_options_needs_no_token_and_changes_nothing(tenants: SampleTenants) -> None:
    before = _count(tenants)

    statuses_by_route = {
        route: tenants.call("OPTIONS", route.partition(" ")[2], {}).status_code
        for route in ACCESS_RULES
        if "?" not in route
    }

    assert set(statuses_by_route.values()) == {200}
    assert _count(tenants) == before


def test_every_route_has_an_access_rule(app: APIFlask) -> None:
    assert _without_a_rule(app) == []


def test_a_route_without_an_access_rule_fails_with_instructions(own_app: APIFlask) -> None:
    blueprint = APIBlueprint("new", __name__)
    blueprint.put("/api/new")(lambda: "")
    own_app.register_blueprint(blueprint)

    (message,) = _without_a_rule(own_app)

    assert message.startswith("PUT /api/new has no rule in ACCESS_RULES")


def test_every_access_rule_belongs_to_a_route(app: APIFlask) -> None:
    assert {route.partition("?")[0] for route in ACCESS_RULES} <= set(_served(app))


def test_every_open_route_has_a_reason(app: APIFlask) -> None:
    open_routes = {route for route, rule in ACCESS_RULES.items() if rule.needs == "nothing"}

    unprotected = {route for route in _served(app) if "auth" not in _declared(app, route)}

    assert unprotected == open_routes
    assert all(ACCESS_RULES[route].reason for route in open_routes)


def test_every_authenticated_response_has_limit_headers(tenants: SampleTenants) -> None:
    without = [
        route
        for route, rule in ACCESS_RULES.items()
        if rule.needs != "nothing"
        and "RateLimit-Policy"
        not in tenants.call(*route.split(" "), BY_NAME["owner"].headers(tenants), rule.body).headers  # type: ignore[arg-type]
    ]

    assert without == []


def test_every_route_with_a_body_has_a_request_schema(app: APIFlask) -> None:
    operations = dict(_operations(app))
    takes = {route for route, operation in operations.items() if "requestBody" in operation}

    assert takes - FILES.keys() == {route for route, rule in ACCESS_RULES.items() if rule.body is not None}
    assert {route for route in operations if route.startswith("POST ")} - takes == WITHOUT_A_BODY


def test_every_authenticated_route_has_a_response_schema(app: APIFlask) -> None:
    documented = {
        route: set(operation["responses"])
        for route, operation in _operations(app)
        if operation.get("security")
    }

    assert set(documented) == {
        route.partition("?")[0] for route, rule in ACCESS_RULES.items() if rule.needs != "nothing"
    }
    assert all({"401", "403", "429", "500", "503"} <= statuses for statuses in documented.values())
    assert all(any(status.startswith("2") for status in statuses) for statuses in documented.values())


@pytest.mark.parametrize(
    "name", ["unknown", "workspace_id", "account_id", "role", "api_access", "id", "scopes_"]
)
def test_every_route_rejects_unknown_fields(tenants: SampleTenants, name: str) -> None:
    refused = {
        route: _pointers(
            tenants.call(*route.split(" "), BY_NAME["owner"].headers(tenants), rule.body | {name: "x"})  # type: ignore[arg-type]
        )
        for route, rule in ACCESS_RULES.items()
        if rule.body is not None
    }

    assert {route: pointers for route, pointers in refused.items() if pointers != [f"/{name}"]} == {}


def test_every_route_rejects_unknown_nested_fields(tenants: SampleTenants) -> None:
    inside = {
        "POST /api/ext/login": ({"client": {"name": "c", "role": "admin"}}, "/client/role"),
        "POST /api/ext/lookup": ({"subject": {"linkedin_url": PROFILE, "id": "x"}}, "/subject/id"),
        "POST /api/ext/reveal/email": ({"subject": {"email": ADDRESS, "id": "x"}}, "/subject/id"),
        "POST /api/ext/linkedin-save": ({"profile": {"linkedin_url": PROFILE, "id": "x"}}, "/profile/id"),
    }

    refused = {
        route: _pointers(
            tenants.call(
                *route.split(" "), BY_NAME["owner"].headers(tenants), (ACCESS_RULES[route].body or {}) | extra
            )  # type: ignore[arg-type]
        )
        for route, (extra, _pointer) in inside.items()
    }

    assert refused == {route: [pointer] for route, (_extra, pointer) in inside.items()}


@pytest.mark.parametrize("caller", ["colleague", "another workspace"])
@pytest.mark.parametrize("route", BY_ID)
def test_another_workspaces_resource_is_indistinguishable_from_a_missing_one(
    tenants: SampleTenants, *, caller: str, route: str
) -> None:
    rule = ACCESS_RULES[route]
    if caller == "colleague" and rule.owned_by == "the workspace's":
        pytest.skip("the workspace's things are a colleague's too")
    method, path = route.split(" ")
    name, theirs = tenants.make(path if NAMED.search(path) else str(rule.body))
    headers = BY_NAME[caller].headers(tenants) | {"X-Request-Id": "same"}

    foreign, unknown = (
        tenants.owner.client.open(
            NAMED.sub(resource_id, path),
            method=method,
            headers=headers,
            json=rule.body
            and {key: resource_id if value == f"{{{name}}}" else value for key, value in rule.body.items()},
        )
        for resource_id in (theirs, new_id(theirs[:3]))  # type: ignore[arg-type]
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.data == unknown.data
    assert _without_counts(foreign) == _without_counts(unknown)


def test_a_cursor_of_another_workspace_shows_nothing_of_it(tenants: SampleTenants) -> None:
    headers = BY_NAME["another workspace"].headers(tenants) | {"X-Request-Id": "same"}
    beside = tenants.job_id[:-1] + ("0" if tenants.job_id[-1] != "0" else "1")

    foreign, unknown = (
        tenants.owner.client.get(f"/api/ext/jobs?cursor={cursor}", headers=headers)
        for cursor in (tenants.job_id, beside)
    )

    assert foreign.data == unknown.data
    assert foreign.get_json() == {"jobs": [], "next_cursor": None}


def test_an_idempotency_key_of_another_workspace_has_no_effect(tenants: SampleTenants) -> None:
    key = {"Idempotency-Key": "one click"}
    first = tenants.call("POST", "/api/ext/reveal/email", tenants.owner.headers | key, SUBJECT)

    same = tenants.call("POST", "/api/ext/reveal/email", tenants.stranger.headers | key, SUBJECT)
    other = tenants.call(
        "POST", "/api/ext/reveal/phone", tenants.stranger.headers | {"Idempotency-Key": "two"}, SUBJECT
    )

    assert (same.status_code, other.status_code) == (202, 202)
    assert "Idempotent-Replay" not in same.headers
    assert same.get_json()["job"]["id"] != first.get_json()["job"]["id"]


def test_what_one_workspace_revealed_is_masked_for_another(tenants: SampleTenants) -> None:
    body = {"subject": {"contact_id": tenants.contact_id}}

    mine, theirs = (
        tenants.call("POST", "/api/ext/lookup", user.headers, body).get_json()
        for user in (tenants.owner, tenants.stranger)
    )

    assert [email["email"] for email in mine["revealed"]["emails"]] == [ADDRESS]
    assert theirs["revealed"] == {"emails": [], "phones": []}
    assert ADDRESS not in str(theirs)


def _token_of_a_disabled_account(tenants: SampleTenants) -> str:
    disabled = tenants.owner.colleague(email=f"{new_id('acc')}@acme.example")
    with tenants.owner.database.transaction() as session:
        accounts.disable(session, disabled.account_id, now=clock.now())
    return disabled.session_token


def _expected(rule: AccessRule, caller: CallerKind) -> set[tuple[int, str, str]]:
    """Return the documented status, code and challenge."""
    if rule.needs != "nothing" and caller.refused:
        error = "" if caller.refused == "missing_token" else ', error="invalid_token"'
        return {(401, caller.refused, f'Bearer realm="ext"{error}')}
    lacking = _lacking(rule, caller)
    if lacking:
        return {(403, lacking, "")}
    is_out_of_scope = rule.scope_to_see is not None and caller.lacks == rule.scope_to_see
    if caller.account in STRANGERS_TO[rule.owned_by] or is_out_of_scope:
        return {(404, rule.code_if_missing, "")}
    return {(status, rule.code_if_permitted, rule.challenge) for status in rule.statuses}


def _lacking(rule: AccessRule, caller: CallerKind) -> str:
    if isinstance(rule.needs, Scope):
        return "insufficient_scope" if caller.lacks == rule.needs else ""
    if caller.is_key and rule.needs in {"session", "api access", "admin"}:
        return rule.code_for_keys
    if rule.needs == "admin" and caller.account == "a colleague":
        return "admin_required"
    return "api_access_required" if rule.needs == caller.lacks == "api access" else ""


def _outcome(response: TestResponse) -> tuple[int, str, str]:
    problem = response.mimetype == "application/problem+json"
    code = response.get_json()["code"] if problem else ""
    return response.status_code, code, response.headers.get("WWW-Authenticate", "")


def _print(outcomes: dict[tuple[str, str], tuple[int, str, str]]) -> None:
    letters = {caller.name: chr(ord("a") + number) for number, caller in enumerate(CALLERS)}
    table = Table("route", *letters.values(), title="Who may do what", pad_edge=False)
    for route in ACCESS_RULES:
        table.add_row(route, *(str(outcomes[route, caller.name][0]) for caller in CALLERS))
    console = Console(width=170)
    console.print(table)
    console.print(", ".join(f"{letter}: {name}" for name, letter in letters.items()))


def _served(app: APIFlask) -> Iterator[str]:
    """Yield each method and rule, except HEAD and OPTIONS, which Flask answers for every route.

    Pages are left out: `tests/pages/test_who_may_see_what.py` has theirs.
    """
    for rule in app.url_map.iter_rules():
        if is_page(app, rule):
            continue
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield f"{method} {rule.rule}"


def _without_a_rule(app: APIFlask) -> list[str]:
    listed = {route.partition("?")[0] for route in ACCESS_RULES}
    return [
        f"{route} has no rule in ACCESS_RULES of {Path(__file__).name}: say there who may call it (a scope, "
        "'token', 'session', 'api access', or open_to_all with the reason), what it is sent, what it gives, "
        "and whose the thing is that it names."
        for route in _served(app)
        if route not in listed
    ]


def _declared(app: APIFlask, route: str) -> dict[str, Any]:
    method, _, path = route.partition(" ")
    (endpoint,) = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.rule == path and method in (rule.methods or ())
    }
    spec: dict[str, Any] = getattr(app.view_functions[endpoint], "_spec", {})
    return spec


def _operations(app: APIFlask) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in app.spec["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path.replace('{', '<').replace('}', '>')}", operation


def _pointers(response: TestResponse) -> list[str]:
    assert response.status_code == 422, response.data
    return [error["pointer"] for error in response.get_json()["errors"]]


def _without_counts(response: TestResponse) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers if name not in {"RateLimit", "Date"}]


def _count(tenants: SampleTenants) -> int:
    with tenants.owner.database.reading() as session:
        rows = jobs.latest(session, tenants.owner.workspace_id, status=None, before=None, limit=100)
    return len(rows)
