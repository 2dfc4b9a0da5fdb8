"""Access control: every route and method that the application serves, requested by every kind of caller.

`-s` prints the table. The routes come from the application; this module states what each of them requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from apiflask import APIBlueprint, APIFlask
from jobs_support import LIFETIME
from rich.console import Console
from rich.table import Table
from settings_support import change_settings
from sqlalchemy import update
from stored_support import a_company, a_contact, an_email
from users_support import PASSWORD, SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.core.accounts import accounts, api_keys, sessions
from app.core.accounts.accounts import Account
from app.core.accounts.api_keys import ApiKey
from app.core.accounts.sessions import LoginSession
from app.core.jobs import jobs
from app.core.ledger import reveals
from app.domain.callers import Scope
from app.domain.ids import new_id
from app.domain.tokens import TokenKind, new_token
from app.infra import clock

ADDRESS = "ada@acme.com"
PROFILE = "https://www.linkedin.com/in/ada-lovelace"
HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class Line:
    """What a route requires, the body to send, the expected statuses, and the owner of its resource.

    `seen_with` is the scope without which an API key gets a 404 for the resource.
    """

    needs: Literal["nothing", "token", "session", "api access"] | Scope
    gives: frozenset[int]
    body: dict[str, Any] | None = None
    whose: Literal["everybody's", "the workspace's", "the account's"] = "everybody's"
    missing: str = "not_found"
    to_a_key: str = "insufficient_scope"
    seen_with: Scope | None = None
    reason: str = ""


def open_to_all(reason: str, *gives: int, body: dict[str, Any] | None = None) -> Line:
    return Line("nothing", frozenset(gives or {200}), body, reason=reason)


def line(needs: Any, *gives: int, **more: Any) -> Line:
    return Line(needs, frozenset(gives), **more)


SUBJECT = {"subject": {"linkedin_url": PROFILE}}
LINES = {
    "POST /api/ext/login": open_to_all(
        "it hands out tokens; failures are limited by network and by e-mail",
        body={"email": "ada@acme.example", "password": PASSWORD},
    ),
    "GET /api/ext/session": line("token", 200),
    "POST /api/ext/logout": line("session", 204),
    "POST /api/ext/lookup": line(Scope.LOOKUP, 200, body=SUBJECT),
    "POST /api/ext/reveal/email": line(Scope.REVEAL, 202, body=SUBJECT),
    "POST /api/ext/reveal/phone": line(Scope.REVEAL, 202, body=SUBJECT),
    "POST /api/ext/enrichment-request": line(
        Scope.ENRICH, 202, body={"entity": "person", "items": [SUBJECT]}
    ),
    "POST /api/ext/linkedin-save": line(Scope.SAVE, 200, 201, body={"profile": {"linkedin_url": PROFILE}}),
    "POST /api/ext/company-by-hash": line(Scope.LOOKUP, 202, body={"hash": HASH}),
    "POST /api/ext/leads-by-website-hash": line(Scope.LOOKUP, 202, body={"hash": HASH}),
    "GET /api/ext/jobs": line("token", 200),
    "GET /api/ext/jobs?id={job_id}": line(
        "token", 202, whose="the workspace's", missing="job_not_found", seen_with=Scope.REVEAL
    ),
    "POST /api/feedback": line(
        Scope.REVEAL,
        200,
        body={"contact_id": "{contact_id}", "email": ADDRESS, "kind": "bounce"},
        whose="the workspace's",
        missing="contact_not_found",
    ),
    "POST /api/keys": line("api access", 201, body={"name": "CRM"}, to_a_key="api_access_required"),
    "GET /api/keys": line("session", 200, to_a_key="api_access_required"),
    "DELETE /api/keys/<key_id>": line("session", 204, whose="the account's", to_a_key="api_access_required"),
    "GET /api/sessions": line("session", 200),
    "DELETE /api/sessions": line("session", 204),
    "DELETE /api/sessions/<session_id>": line("session", 204, whose="the account's"),
    "POST /api/password": line("session", 204, body={"current_password": PASSWORD, "new_password": PASSWORD}),
    "GET /": open_to_all("it says where the documentation is"),
    "GET /healthz": open_to_all("it says only that the process answers"),
    "GET /readyz": open_to_all("load balancers have no token; it names no one", 200, 503),
    "GET /metrics": open_to_all("METRICS_TOKEN, or loopback without one; to anybody else it is a 404"),
    "GET /problems": open_to_all("it is documentation"),
    "GET /problems/<code>": open_to_all("it is documentation"),
    "GET /openapi.json": open_to_all("it is documentation"),
    "GET /docs": open_to_all("it is documentation"),
    "GET /docs/assets/<path:name>": open_to_all("files of the documentation page"),
    "GET /docs/oauth2-redirect": open_to_all("a file of the documentation page"),
}
"""By method, rule and, where it selects the resource, query."""


@dataclass(frozen=True, slots=True)
class Who:
    """A kind of caller: its headers, and the error that it always gets or the permission that it lacks."""

    name: str
    headers: Callable[[World], dict[str, str]]
    refused: str = ""
    is_key: bool = False
    lacks: Scope | Literal["api access"] | None = None
    account: Literal["the owner", "a colleague", "a stranger"] = "the owner"


@dataclass(slots=True)
class World:
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
            made, text = api_keys.create(
                session, self.owner.account_id, name="k", scopes=scopes, expires_at=None, now=now
            )
            session.execute(update(ApiKey).where(ApiKey.id == made.id).values(**changes or _SAME_KEY))
        return made.id, text

    def a_session_id(self) -> str:
        with self.owner.database.transaction() as session:
            return sessions.start(
                session, self.owner.account_id, network=b"", lifetime=LIFETIME, now=clock.now()
            )[0].id

    def call(self, method: str, place: str, headers: dict[str, str], body: Any = None) -> TestResponse:
        """Send a request to existing resources of the owner."""
        path = place.replace("<code>", "not_found").replace("<path:name>", "swagger-ui.css")
        if "<key_id>" in path:
            path = path.replace("<key_id>", self.key(*Scope)[0])
        if "<session_id>" in path:
            path = path.replace("<session_id>", self.a_session_id())
        path = path.replace("{job_id}", self.job_id)
        if body and body.get("contact_id") == "{contact_id}":
            body = body | {"contact_id": self.contact_id}
        headers = headers | {"Prefer": "respond-async"}
        with self.owner.client.open(path, method=method, headers=headers, json=body) as answer:
            answer.get_data()
            return answer


_SAME = {"client_name": None}
_SAME_KEY = {"name": "k"}
LONG_AGO = timedelta(days=1000)
CALLERS = (
    Who("owner", lambda world: bearer(world.session_token(world.owner))),
    Who("key with every scope", lambda world: bearer(world.key(*Scope)[1]), is_key=True),
    *(
        Who(
            f"key without {lacking}",
            lambda world, lacking=lacking: bearer(  # type: ignore[misc]
                world.key(*(each for each in Scope if each is not lacking))[1]
            ),
            is_key=True,
            lacks=lacking,
        )
        for lacking in Scope
    ),
    Who("colleague", lambda world: bearer(world.session_token(world.colleague)), account="a colleague"),
    Who(
        "colleague without API access",
        lambda world: bearer(world.session_token(world.without_access)),
        account="a colleague",
        lacks="api access",
    ),
    Who("another workspace", lambda world: bearer(world.session_token(world.stranger)), account="a stranger"),
    Who("nobody", lambda _world: {}, "missing_token"),
    Who("malformed token", lambda _world: bearer("ses_" + "0" * 49), "invalid_token"),
    Who("unknown session token", lambda _world: bearer(new_token(TokenKind.SESSION)), "invalid_token"),
    Who("unknown key", lambda _world: bearer(new_token(TokenKind.API_KEY)), "invalid_token"),
    Who(
        "session idle too long",
        lambda world: bearer(world.session_token(world.owner, last_used_at=clock.now() - LONG_AGO)),
        "token_expired",
    ),
    Who(
        "session past its end",
        lambda world: bearer(world.session_token(world.owner, expires_at=clock.now())),
        "token_expired",
    ),
    Who(
        "ended session",
        lambda world: bearer(world.session_token(world.owner, revoked_at=clock.now())),
        "token_revoked",
    ),
    Who("expired key", lambda world: bearer(world.key(*Scope, expires_at=clock.now())[1]), "token_expired"),
    Who("revoked key", lambda world: bearer(world.key(*Scope, revoked_at=clock.now())[1]), "token_revoked"),
    Who("disabled account", lambda world: bearer(_of_a_disabled_account(world)), "token_revoked"),
)
STRANGERS_TO: dict[str, set[str]] = {
    "everybody's": set(),
    "the workspace's": {"a stranger"},
    "the account's": {"a stranger", "a colleague"},
}
BY_NAME = {who.name: who for who in CALLERS}


@pytest.fixture
def world(app: APIFlask) -> World:
    change_settings(app, limit_login_address="100000/minute", limit_login_account="100000/minute")
    owner = create_user(app)
    stranger = create_user(app, email="eve@babbage.example")
    colleague = owner.colleague()
    without_access = owner.colleague(email="grace@acme.example", api_access=False)
    with owner.database.transaction() as session:
        known = session.get_one(Account, owner.account_id).password_hash
        session.execute(update(Account).values(password_hash=known))
        contact = a_contact(session, a_company(session))
        an_email(session, contact, ADDRESS)
        reveals.acquire_field(
            session,
            workspace_id=owner.workspace_id,
            contact_id=contact.id,
            field="email",
            job_id=new_id("job"),
            price=0,
            now=clock.now(),
        )
    made = World(app, owner, colleague, without_access, stranger, contact.id)
    asked = made.call("POST", "/api/ext/reveal/email", owner.headers, {"subject": {"email": "b@acme.com"}})
    made.job_id = asked.get_json()["job"]["id"]
    return made


def test_every_caller_gets_the_specified_status_on_every_route(world: World) -> None:
    found = {
        (place, who.name): _said(world.call(*place.split(" "), who.headers(world), each.body))  # type: ignore[arg-type]
        for place, each in LINES.items()
        for who in CALLERS
    }

    _print(found)
    wrong = [
        f"{place} by {name}: {said}, not {sorted(_expected(LINES[place], BY_NAME[name]))}"
        for (place, name), said in found.items()
        if said not in _expected(LINES[place], BY_NAME[name])
    ]
    assert wrong == []


def test_head_requires_the_same_access_as_get(world: World) -> None:
    places = [place.partition(" ")[2] for place, each in LINES.items() if place.startswith("GET ")]

    different = [
        (place, who.name)
        for place in places
        for who in (BY_NAME["owner"], BY_NAME["nobody"], BY_NAME["another workspace"])
        if world.call("HEAD", place, who.headers(world)).status_code
        != world.call("GET", place, who.headers(world)).status_code
    ]

    assert different == []


def test_options_needs_no_token_and_changes_nothing(world: World) -> None:
    before = _count(world)

    answers = {
        place: world.call("OPTIONS", place.partition(" ")[2], {}).status_code
        for place in LINES
        if "?" not in place
    }

    assert set(answers.values()) == {200}
    assert _count(world) == before


def test_every_route_has_an_access_rule(app: APIFlask) -> None:
    assert _without_a_line(app) == []


def test_a_route_without_an_access_rule_fails_with_instructions(app: APIFlask) -> None:
    blueprint = APIBlueprint("new", __name__)
    blueprint.put("/api/new")(lambda: "")
    app.register_blueprint(blueprint)

    (sentence,) = _without_a_line(app)

    assert sentence.startswith("PUT /api/new has no line in LINES")


def test_every_access_rule_belongs_to_a_route(app: APIFlask) -> None:
    assert {place.partition("?")[0] for place in LINES} <= set(_served(app))


def test_every_open_route_has_a_reason(app: APIFlask) -> None:
    open_routes = {place for place, each in LINES.items() if each.needs == "nothing"}

    unprotected = {place for place in _served(app) if "auth" not in _declared(app, place)}

    assert unprotected == open_routes
    assert all(LINES[place].reason for place in open_routes)


def test_every_authenticated_response_has_limit_headers(world: World) -> None:
    without = [
        place
        for place, each in LINES.items()
        if each.needs != "nothing"
        and "RateLimit-Policy"
        not in world.call(*place.split(" "), BY_NAME["owner"].headers(world), each.body).headers  # type: ignore[arg-type]
    ]

    assert without == []


def test_every_route_with_a_body_has_a_request_schema(app: APIFlask) -> None:
    operations = dict(_operations(app))
    takes = {place for place, operation in operations.items() if "requestBody" in operation}

    assert takes == {place for place, each in LINES.items() if each.body is not None}
    assert {place for place in operations if place.startswith("POST ")} - takes == {"POST /api/ext/logout"}


def test_every_authenticated_route_has_a_response_schema(app: APIFlask) -> None:
    told = {
        place: set(operation["responses"])
        for place, operation in _operations(app)
        if operation.get("security")
    }

    assert set(told) == {place.partition("?")[0] for place, each in LINES.items() if each.needs != "nothing"}
    assert all({"401", "403", "429", "500", "503"} <= statuses for statuses in told.values())
    assert all(any(status.startswith("2") for status in statuses) for statuses in told.values())


@pytest.mark.parametrize(
    "name", ["unknown", "workspace_id", "account_id", "role", "api_access", "id", "scopes_"]
)
def test_every_route_rejects_unknown_fields(world: World, name: str) -> None:
    refused = {
        place: _pointers(
            world.call(*place.split(" "), BY_NAME["owner"].headers(world), each.body | {name: "x"})  # type: ignore[arg-type]
        )
        for place, each in LINES.items()
        if each.body is not None
    }

    assert {place: pointers for place, pointers in refused.items() if pointers != [f"/{name}"]} == {}


def test_every_route_rejects_unknown_nested_fields(world: World) -> None:
    inside = {
        "POST /api/ext/login": ({"client": {"name": "c", "role": "admin"}}, "/client/role"),
        "POST /api/ext/lookup": ({"subject": {"linkedin_url": PROFILE, "id": "x"}}, "/subject/id"),
        "POST /api/ext/reveal/email": ({"subject": {"email": ADDRESS, "id": "x"}}, "/subject/id"),
        "POST /api/ext/linkedin-save": ({"profile": {"linkedin_url": PROFILE, "id": "x"}}, "/profile/id"),
    }

    refused = {
        place: _pointers(
            world.call(*place.split(" "), BY_NAME["owner"].headers(world), (LINES[place].body or {}) | more)  # type: ignore[arg-type]
        )
        for place, (more, _pointer) in inside.items()
    }

    assert refused == {place: [pointer] for place, (_more, pointer) in inside.items()}


@pytest.mark.parametrize("caller", ["colleague", "another workspace"])
@pytest.mark.parametrize(
    ("method", "path", "thing", "body"),
    [
        ("DELETE", "/api/keys/{}", "key", None),
        ("DELETE", "/api/sessions/{}", "session", None),
        ("GET", "/api/ext/jobs?id={}", "job", None),
        ("POST", "/api/feedback", "contact", {"email": ADDRESS, "kind": "bounce"}),
    ],
)
def test_another_workspaces_resource_is_indistinguishable_from_a_missing_one(
    world: World, *, caller: str, method: str, path: str, thing: str, body: dict[str, Any] | None
) -> None:
    if caller == "colleague" and thing in {"job", "contact"}:
        pytest.skip("the workspace's things are a colleague's too")
    theirs = {
        "key": world.key(*Scope)[0],
        "session": world.a_session_id(),
        "job": world.job_id,
        "contact": world.contact_id,
    }[thing]
    headers = BY_NAME[caller].headers(world) | {"X-Request-Id": "same"}

    foreign, unknown = (
        world.owner.client.open(
            path.format(one), method=method, headers=headers, json=body and body | {"contact_id": one}
        )
        for one in (theirs, new_id(theirs[:3]))  # type: ignore[arg-type]
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.data == unknown.data
    assert _without_counts(foreign) == _without_counts(unknown)


def test_a_cursor_of_another_workspace_shows_nothing_of_it(world: World) -> None:
    headers = BY_NAME["another workspace"].headers(world) | {"X-Request-Id": "same"}
    beside = world.job_id[:-1] + ("0" if world.job_id[-1] != "0" else "1")

    foreign, unknown = (
        world.owner.client.get(f"/api/ext/jobs?cursor={cursor}", headers=headers)
        for cursor in (world.job_id, beside)
    )

    assert foreign.data == unknown.data
    assert foreign.get_json() == {"jobs": [], "next_cursor": None}


def test_an_idempotency_key_of_another_workspace_has_no_effect(world: World) -> None:
    key = {"Idempotency-Key": "one click"}
    first = world.call("POST", "/api/ext/reveal/email", world.owner.headers | key, SUBJECT)

    same = world.call("POST", "/api/ext/reveal/email", world.stranger.headers | key, SUBJECT)
    other = world.call(
        "POST", "/api/ext/reveal/phone", world.stranger.headers | {"Idempotency-Key": "two"}, SUBJECT
    )

    assert (same.status_code, other.status_code) == (202, 202)
    assert "Idempotent-Replay" not in same.headers
    assert same.get_json()["job"]["id"] != first.get_json()["job"]["id"]


def test_what_one_workspace_revealed_is_masked_for_another(world: World) -> None:
    body = {"subject": {"contact_id": world.contact_id}}

    mine, theirs = (
        world.call("POST", "/api/ext/lookup", user.headers, body).get_json()
        for user in (world.owner, world.stranger)
    )

    assert [each["email"] for each in mine["revealed"]["emails"]] == [ADDRESS]
    assert theirs["revealed"] == {"emails": [], "phones": []}
    assert ADDRESS not in str(theirs)


def _of_a_disabled_account(world: World) -> str:
    disabled = world.owner.colleague(email=f"{new_id('acc')}@acme.example")
    with world.owner.database.transaction() as session:
        accounts.disable(session, disabled.account_id, now=clock.now())
    return disabled.session_token


def _expected(wanted: Line, who: Who) -> set[tuple[int, str, str]]:
    """Return the documented status, code and challenge."""
    if wanted.needs != "nothing" and who.refused:
        error = "" if who.refused == "missing_token" else ', error="invalid_token"'
        return {(401, who.refused, f'Bearer realm="ext"{error}')}
    lacking = _lacking(wanted, who)
    if lacking:
        return {(403, lacking, "")}
    is_out_of_scope = wanted.seen_with is not None and who.lacks == wanted.seen_with
    if who.account in STRANGERS_TO[wanted.whose] or is_out_of_scope:
        return {(404, wanted.missing, "")}
    return {(status, "", "") for status in wanted.gives}


def _lacking(wanted: Line, who: Who) -> str:
    if isinstance(wanted.needs, Scope):
        return "insufficient_scope" if who.lacks == wanted.needs else ""
    if who.is_key and wanted.needs in {"session", "api access"}:
        return wanted.to_a_key
    return "api_access_required" if wanted.needs == who.lacks == "api access" else ""


def _said(answer: TestResponse) -> tuple[int, str, str]:
    problem = answer.mimetype == "application/problem+json"
    code = answer.get_json()["code"] if problem else ""
    return answer.status_code, code, answer.headers.get("WWW-Authenticate", "")


def _print(found: dict[tuple[str, str], tuple[int, str, str]]) -> None:
    letters = {who.name: chr(ord("a") + number) for number, who in enumerate(CALLERS)}
    table = Table("route", *letters.values(), title="Who may do what", pad_edge=False)
    for place in LINES:
        table.add_row(place, *(str(found[place, who.name][0]) for who in CALLERS))
    console = Console(width=170)
    console.print(table)
    console.print(", ".join(f"{letter}: {name}" for name, letter in letters.items()))


def _served(app: APIFlask) -> Iterator[str]:
    """Yield each method and rule, except HEAD and OPTIONS, which Flask answers for every route."""
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield f"{method} {rule.rule}"


def _without_a_line(app: APIFlask) -> list[str]:
    known = {place.partition("?")[0] for place in LINES}
    return [
        f"{place} has no line in LINES of {Path(__file__).name}: say there who may call it (a scope, "
        "'token', 'session', 'api access', or open_to_all with the reason), what it is sent, what it gives, "
        "and whose the thing is that it names."
        for place in _served(app)
        if place not in known
    ]


def _declared(app: APIFlask, place: str) -> dict[str, Any]:
    method, _, path = place.partition(" ")
    (endpoint,) = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.rule == path and method in (rule.methods or ())
    }
    found: dict[str, Any] = getattr(app.view_functions[endpoint], "_spec", {})
    return found


def _operations(app: APIFlask) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, operations in app.spec["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path.replace('{', '<').replace('}', '>')}", operation


def _pointers(answer: TestResponse) -> list[str]:
    assert answer.status_code == 422, answer.data
    return [error["pointer"] for error in answer.get_json()["errors"]]


def _without_counts(answer: TestResponse) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers if name not in {"RateLimit", "Date"}]


def _count(world: World) -> int:
    with world.owner.database.reading() as session:
        listed = jobs.latest(session, world.owner.workspace_id, status=None, before=None, limit=100)
    return len(listed)
