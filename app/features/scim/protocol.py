"""/scim/v2: the endpoints of SCIM (RFC 7644). Requests and errors have its form, not that of the API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, cast

from apiflask import APIBlueprint
from flask import Flask, Response, current_app, g, request
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.audit_actions import Actor, ActorKind
from app.domain.errors import Problem, RateLimited
from app.engine.accounts import workspaces
from app.features.scim import discovery, filters, patches, tokens
from app.features.scim.discovery import TYPES
from app.features.scim.errors import ScimError, invalid
from app.features.scim.resource_types import Find
from app.features.scim.tables import ScimToken
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.web import admission, public_urls
from app.web.bodies import body, body_memory
from app.web.failure_limits import FailureCounter
from app.web.services import services

ROOT = "/scim/v2"
MEDIA_TYPE = "application/scim+json"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
RATE = "1500/minute"
"""Requests of a workspace's provider. A first synchronisation of thousands of users comes in bursts."""
DEFAULT_COUNT = 100
MAX_BYTES = 1024 * 1024
"""The largest body: a group of about ten thousand. Some providers send all members at each change."""
_SLASHES = re.compile("/{2,}")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_KNOWN = (*TYPES, "Schemas", "ResourceTypes", "ServiceProviderConfig")
_TYPE = f"<any({','.join(TYPES)}):kind>"

blueprint = APIBlueprint("scim", __name__, url_prefix=ROOT, enable_openapi=False)


@blueprint.record_once
def _accept_extra_slashes(state: BlueprintSetupState) -> None:
    """Route `/scim/v2//Users` and `/scim/v2/Users/` as `/scim/v2/Users`.

    Providers append their paths to the address that the admin typed, with a slash at its end or without one.
    """
    app = cast("Flask", state.app)
    route = app.wsgi_app

    def routed(environ: dict[str, Any], start_response: Any) -> Any:  # noqa: ANN401 -- types of WSGI
        path = environ["PATH_INFO"]
        if path.startswith(f"{ROOT}/"):
            environ["PATH_INFO"] = _SLASHES.sub("/", path).rstrip("/")
        return route(environ, start_response)

    app.wsgi_app = routed  # type: ignore[method-assign]


@blueprint.errorhandler(ScimError)
def _refused(error: ScimError) -> Response:
    response = _response(error.as_dict(), error.status)
    if error.status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Bearer realm="scim"'
    return response


@blueprint.errorhandler(Problem)
def _problem(problem: Problem) -> Response:
    response = _response(ScimError(problem.status, problem.detail).as_dict(), problem.status)
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    return response


@blueprint.errorhandler(RequestEntityTooLarge)
def _too_large(_error: RequestEntityTooLarge) -> Response:
    return _refused(ScimError(413, f"Send at most {MAX_BYTES // 1024} KiB. PATCH the members that change."))


@blueprint.before_request
def _authenticate() -> None:
    """Require the token of a workspace; wrong ones count as guesses of their network.

    Some forms of Okta send what the admin typed: the token alone, or "Bearer" twice.
    """
    if request.method == "OPTIONS":
        return
    *schemes, text = request.headers.get("Authorization", "").split() or [""]
    failures = FailureCounter.for_client("token", services().settings.limit_login_address)
    with services().database.reading() as session:
        token = tokens.find(session, text) if {*map(str.lower, schemes)} <= {"bearer"} else None
    if token is None:
        if text.startswith(tokens.PREFIX):
            failures.add()
        raise ScimError(401, "Send 'Authorization: Bearer <token>' with the token of the page Provisioning.")
    status = services().limiter.hit(RATE, "scim", token.workspace_id)
    if not status.allowed:
        raise RateLimited(retry_after=status.reset)
    g.scim_token = token
    _admit_longer_body()


def _admit_longer_body() -> None:
    """Accept a longer body than the API does, unless it is chunked and so has no known length."""
    length = request.content_length or 0
    if not body.is_chunked(request):
        request.max_content_length = MAX_BYTES + 1
    if body.MAX_BYTES < length <= MAX_BYTES:
        body_memory.reserve(length)


@blueprint.get("")
@blueprint.post("/.search")
def search_everything() -> Response:
    """List resources of all types, by a filter; some providers test the connection with that."""
    return _list(lambda *arguments: [found for kind in TYPES.values() for found in kind.find(*arguments)])


@blueprint.get(f"/{_TYPE}")
@blueprint.post(f"/{_TYPE}/.search")
def list_resources(kind: str) -> Response:
    """List resources, by a filter and by page."""
    return _list(TYPES[kind].find)


@blueprint.post(f"/{_TYPE}")
def create_resource(kind: str) -> Response:
    """Create a resource, or take back a user who was deleted."""
    resources = TYPES[kind]
    values = resources.parse(_body())
    with _changes() as (session, workspace_id, now):
        resource_id = resources.create(session, workspace_id, values, now)
        return _one(resources.get(session, workspace_id, resource_id), HTTPStatus.CREATED)


@blueprint.get(f"/{_TYPE}/<resource_id>")
def get_resource(kind: str, resource_id: str) -> Response:
    """Return a resource."""
    with services().database.reading() as session:
        return _one(TYPES[kind].get(session, _workspace_id(), resource_id))


@blueprint.put(f"/{_TYPE}/<resource_id>")
def replace_resource(kind: str, resource_id: str) -> Response:
    """Replace a resource; what is not named is removed, except whether a user is active."""
    resources = TYPES[kind]
    values = resources.parse(_body())
    with _changes() as (session, workspace_id, now):
        resources.replace(session, workspace_id, resource_id, values, now)
        return _one(resources.get(session, workspace_id, resource_id))


@blueprint.patch(f"/{_TYPE}/<resource_id>")
def patch_resource(kind: str, resource_id: str) -> Response:
    """Change attributes of a resource."""
    resources, given = TYPES[kind], _body()
    with _changes() as (session, workspace_id, now):
        current = resources.get(session, workspace_id, resource_id)
        values = resources.parse(patches.apply(current, given, resources.shape))
        resources.replace(session, workspace_id, resource_id, values, now)
        return _one(resources.get(session, workspace_id, resource_id))


@blueprint.delete(f"/{_TYPE}/<resource_id>")
def delete_resource(kind: str, resource_id: str) -> Response:
    """Delete a group, or disable the account of a user; the resource is no longer found."""
    with _changes() as (session, workspace_id, now):
        TYPES[kind].remove(session, workspace_id, resource_id, now)
    return Response(status=HTTPStatus.NO_CONTENT)


@blueprint.get("/ServiceProviderConfig")
def service_provider_config() -> Response:
    """Return what the service supports."""
    return _response(discovery.config(_base()))


@blueprint.get("/Schemas")
def list_schemas() -> Response:
    """List the schemas."""
    return _described(discovery.schemas(_base()))


@blueprint.get("/Schemas/<urn>")
def get_schema(urn: str) -> Response:
    """Return one schema."""
    return _named(discovery.schemas(_base()), urn)


@blueprint.get("/ResourceTypes")
def list_resource_types() -> Response:
    """List the types of resources."""
    return _described(discovery.resource_types(_base()))


@blueprint.get("/ResourceTypes/<name>")
def get_resource_type(name: str) -> Response:
    """Return one type of resources."""
    return _named(discovery.resource_types(_base()), name)


@blueprint.route("", methods=_METHODS[1:], defaults={"rest": ""})
@blueprint.route("/<path:rest>", methods=_METHODS)
def other(rest: str) -> Response:
    """Refuse every other path and method."""
    if rest in {"Bulk", "Me"} or rest.startswith("Me/"):
        raise ScimError(501, "This is not supported.")
    if rest.partition("/")[0] in ("", *_KNOWN) and rest.count("/") <= 1:
        raise ScimError(405, "The path does not support this method.")
    raise ScimError(404, "There is no such endpoint.")


def _workspace_id() -> str:
    token: ScimToken = g.scim_token
    return token.workspace_id


@contextmanager
def _changes() -> Iterator[tuple[Session, str, Moment]]:
    """Open a transaction of the token; it locks the workspace, so that changes of its seats have an order."""
    token: ScimToken = g.scim_token
    with admission.suspended(), services().database.transaction() as session:
        session.actor = Actor(ActorKind.SCIM, token.id, g.get("request_id"))
        workspaces.lock(session, [token.workspace_id])
        now = database_clock.value(session)
        tokens.record_use(session, token.id, now=now)
        yield session, token.workspace_id, now


def _body() -> Mapping[str, Any]:
    value = body.parse(body.receive(request))
    if not isinstance(value, dict):
        raise ScimError(400, "Send one JSON object.", "invalidSyntax")
    if errors := body.bad_values(value):
        raise invalid(errors[0].detail)
    return value


def _list(find: Find) -> Response:
    query = _query()
    wanted = str(query.get("filter") or "").strip()
    start = max(_number(query, "startIndex", 1), 1)
    count = max(_number(query, "count", DEFAULT_COUNT), 0)
    parsed = filters.parse(wanted) if wanted else None
    with services().database.reading() as session:
        found = find(session, _workspace_id(), parsed)
    page = found[start - 1 :][: min(count, discovery.MAX_RESULTS)]
    shown = [_projected(_located(resource)) for resource in page]
    return _response(_listed(shown, total=len(found), start=start))


def _described(resources: list[dict[str, Any]]) -> Response:
    if "filter" in request.args:
        raise ScimError(403, "Filters are not supported here.")
    return _response(_listed(resources, total=len(resources), start=1))


def _named(resources: list[dict[str, Any]], name: str) -> Response:
    found = next((resource for resource in resources if resource["id"] == name), None)
    if found is None:
        raise ScimError(404, "There is no such resource.")
    return _response(found)


def _listed(resources: list[dict[str, Any]], *, total: int, start: int) -> dict[str, Any]:
    return {
        "schemas": [LIST],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(resources),
        "Resources": resources,
    }


def _one(resource: dict[str, Any], status: int = 200) -> Response:
    located = _located(resource)
    response = _response(_projected(located), status)
    response.headers["Location" if status == HTTPStatus.CREATED else "Content-Location"] = located["meta"][
        "location"
    ]
    return response


def _located(resource: dict[str, Any]) -> dict[str, Any]:
    kind = resource["meta"]["resourceType"]
    location = f"{_base()}/{kind}s/{resource['id']}"
    located = {**resource, "meta": {**resource["meta"], "location": location}}
    if "members" in resource:
        users_at = f"{_base()}/Users"
        located["members"] = [{**one, "$ref": f"{users_at}/{one['value']}"} for one in resource["members"]]
    return located


def _projected(resource: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that the query asks for (RFC 7644, section 3.9)."""
    wanted, left_out = _paths("attributes"), _paths("excludedAttributes")
    shown = {}
    for name, value in resource.items():
        key = name.lower()
        is_always_there = key in {"id", "schemas"}
        if is_always_there or not wanted or wanted.get(key) == set():
            gone = left_out.get(key)
            if gone is None or is_always_there:
                shown[name] = value
            elif gone:
                shown[name] = _inner(value, gone, keeps=False)
        elif key in wanted:
            shown[name] = _inner(value, wanted[key], keeps=True)
    return shown


def _inner(value: Any, names: set[str], *, keeps: bool) -> Any:  # noqa: ANN401 -- JSON
    """Return a complex value with these attributes only, or without them."""
    if isinstance(value, list):
        return [_inner(item, names, keeps=keeps) for item in value]
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if (name.lower() in names) is keeps}
    return value


def _paths(name: str) -> dict[str, set[str]]:
    """Return the attributes in a parameter, each with its inner ones; the whole attribute has none."""
    found: dict[str, set[str]] = {}
    given = _query().get(name) or ""
    for path in given if isinstance(given, list) else str(given).split(","):
        outer, _, inner = filters.plain_path(str(path).strip()).lower().partition(".")
        if outer:
            found.setdefault(outer, set()).update({inner} if inner else ())
    return found


def _query() -> Mapping[str, Any]:
    """Return what a request asks for: in its URL, or in the body of a search (RFC 7644, section 3.4.3)."""
    return _body() if request.path.endswith("/.search") else request.args


def _number(query: Mapping[str, Any], name: str, default: int) -> int:
    given = query.get(name)
    try:
        return default if given in {None, ""} else int(str(given)[:10])
    except ValueError as error:
        raise invalid(f"{name} is a number.") from error


def _base() -> str:
    return public_urls.absolute(ROOT)


def _response(content: Mapping[str, Any], status: int = 200) -> Response:
    return current_app.response_class(json.dumps(content), status=status, mimetype=MEDIA_TYPE)
