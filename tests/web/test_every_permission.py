"""Every route of the API and of the pages, with the permissions that it requires, or with none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import feature_tests
import pytest
from access_support import Maker
from apiflask import APIFlask
from contact_page_support import reveal
from users_support import SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.permissions import Permission
from app.engine.accounts import api_keys, permissions
from app.infra import clock
from app.web import costs

EXPORT, PHONES, PUSH = Permission.EXPORT, Permission.REVEAL_PHONES, Permission.PUSH
COSTS, UPLOAD = Permission.SEE_COSTS, Permission.START_UPLOADS
SUBJECT = {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}
_ENRICHMENT = {"entity": "person", "fields": ["phone"], "items": [{"subject": SUBJECT}]}
_LIST = {"data": b"Email\r\nada@acme.com\r\n", "content_type": "text/csv"}
_MAPPING = {"columns": ["email"], "fields": ["phone"]}
_PUSH = {"contact_ids": [f"con_{'0' * 24}"], "connection_id": f"crm_{'0' * 24}"}
REQUIRED: dict[str, tuple[tuple[Permission, ...], dict[str, Any]]] = {
    "POST /api/ext/reveal/phone": ((PHONES,), {"json": {"subject": SUBJECT}}),
    "POST /api/ext/enrichment-request": ((PHONES,), {"json": _ENRICHMENT}),
    "POST /api/verifications/lists": ((UPLOAD,), {**_LIST, "query_string": "dry_run=true"}),
    "GET /api/verifications/<verification_id>/result": ((EXPORT,), {"query_string": "format=json"}),
    "GET /api/contacts/<contact_id>/vcard": ((EXPORT,), {}),
    "GET /api/contacts": ((EXPORT,), {"query_string": "format=csv"}),
    "GET /api/jobs": ((EXPORT, COSTS), {"query_string": "format=csv"}),
    "GET /api/usage": ((COSTS, EXPORT), {"query_string": "format=csv"}),
    "GET /api/limits": ((COSTS,), {}),
    "POST /api/uploads": ((UPLOAD,), _LIST),
    "PUT /api/uploads/<upload_id>/mapping": ((PHONES,), {"json": _MAPPING}),
    "POST /api/uploads/<upload_id>/start": ((UPLOAD,), {"json": {}}),
    "GET /api/uploads/<upload_id>/result": ((EXPORT,), {"query_string": "format=json"}),
    "POST /api/crm/pushes": ((PUSH,), {"json": _PUSH}),
    "POST /reveal": ((PHONES,), {"data": {"field": "phone", **SUBJECT}}),
    "GET /contacts/download": ((EXPORT,), {}),
    "GET /contacts/<contact_id>/vcard": ((EXPORT,), {}),
    "GET /history.csv": ((EXPORT, COSTS), {}),
    "GET /history.xlsx": ((EXPORT, COSTS), {}),
    "GET /usage": ((COSTS,), {}),
    "GET /usage/<by>.csv": ((COSTS, EXPORT), {}),
    "GET /usage/<by>.xlsx": ((COSTS, EXPORT), {}),
    "POST /uploads": ((UPLOAD,), _LIST),
    "POST /uploads/<upload_id>/mapping": ((PHONES,), {"data": _MAPPING}),
    "POST /uploads/<upload_id>/start": ((UPLOAD,), {}),
    "GET /uploads/<upload_id>/result": ((EXPORT,), {}),
    "POST /crm/pushes": ((PUSH,), {}),
    "GET /verifications/<verification_id>/download": ((EXPORT,), {}),
}
"""The routes that require permissions, in the order of their checks, and a request that needs them."""
_MAKERS: dict[str, Maker] = {"by": lambda *_: "day", "contact_id": lambda user, _: reveal(user).id}
UNRESTRICTED = frozenset(Path(__file__).with_name("unrestricted_routes.txt").read_text().split("\n")) - {""}
"""The other routes: they do none of it, or for admins only, or by a function that a route above has, too."""
REFUSED_WITHOUT = frozenset({"UsageFiguresSchema", "UsageRowSchema", "ForecastSchema"})
"""Schemas with costs whose endpoints refuse whoever may not see them; the forecast is for admins, who may."""


@pytest.fixture
def member(app: APIFlask) -> SignedInUser:
    return create_user(app)


def allow(user: SignedInUser, *allowed: Permission) -> None:
    with user.database.transaction() as session:
        changes = {one: one in allowed for one in Permission}
        permissions.set_of_account(session, user.account_id, changes)


def call(user: SignedInUser, route: str, request: dict[str, Any], token: str | None = None) -> TestResponse:
    method, _, path = route.partition(" ")
    makers = {name: make for part in feature_tests.parts("access") for name, make in part.MAKERS.items()}
    for name, make in (_MAKERS | makers).items():
        path = path.replace(f"<{name}>", make(user, "")) if f"<{name}>" in path else path
    client = user.client.application.test_client()
    headers = {"Sec-Fetch-Site": "same-origin", "Prefer": "respond-async"}
    if path.startswith("/api/"):
        headers |= bearer(token or user.session_token)
    else:
        client.set_cookie("session", user.session_token)
    with client.open(path, method=method, headers=headers, **request) as response:
        response.get_data()
        return response


def refusal(response: TestResponse) -> str | None:
    body = response.get_json() if response.is_json else {}
    is_refused = response.status_code == 403 and body["code"] == "permission_denied"
    return str(body["permission"]) if is_refused else None


def served(app: APIFlask) -> set[str]:
    return {
        f"{method} {rule.rule}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


def test_every_route_is_said_to_require_a_permission_or_none(app: APIFlask) -> None:
    assert served(app) - REQUIRED.keys() - UNRESTRICTED == set()
    assert REQUIRED.keys() & UNRESTRICTED == set()


@pytest.mark.parametrize("route", REQUIRED)
def test_a_route_refuses_whoever_lacks_its_permission(
    app: APIFlask, member: SignedInUser, route: str
) -> None:
    if route not in served(app):
        pytest.skip("the feature was deleted")
    needed, request = REQUIRED[route]
    seen = []

    for number in range(len(needed) + 1):
        allow(member, *needed[:number])
        seen.append(refusal(call(member, route, request)))

    assert seen == [*needed, None]


@pytest.mark.parametrize("route", [route for route in REQUIRED if " /api/" in route])
def test_a_key_has_less_than_its_account_if_it_was_made_so(
    app: APIFlask, member: SignedInUser, route: str
) -> None:
    if route not in served(app):
        pytest.skip("the feature was deleted")
    with member.database.transaction() as session:
        _, token = api_keys.create(
            session,
            member.account_id,
            name="k",
            scopes=Scope,
            permissions=(),
            expires_at=None,
            now=clock.now(),
        )
    needed, request = REQUIRED[route]

    response = call(member, route, request, token)

    assert refusal(response) == needed[0]
    assert "This API key may not" in response.get_json()["detail"]


@pytest.mark.parametrize("route", [route for route in REQUIRED if " /api/" in route])
def test_a_key_never_has_more_than_its_account(app: APIFlask, member: SignedInUser, route: str) -> None:
    if route not in served(app):
        pytest.skip("the feature was deleted")
    token = member.make_key()
    allow(member)

    assert refusal(call(member, route, REQUIRED[route][1], token)) == REQUIRED[route][0][0]


def test_every_cost_in_a_response_may_be_null(app: APIFlask) -> None:
    with app.app_context():
        schemas = app.spec["components"]["schemas"]

    never_null = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, described in _properties(schema)
        if field in costs.FIELDS and "null" not in described.get("type", ())
    ]

    assert {each for each in never_null if each.partition(".")[0] not in REFUSED_WITHOUT} == {
        "Problem.balance"
    }


def _properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()
