"""Hooks for Schemathesis: how to sign in to this service, and checks of what every response guarantees."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import schemathesis
from schemathesis.core.failures import Failure

from app.domain.ids import EXAMPLES
from fuzz.leaks import find_leaks
from tools import http_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemathesis import AuthContext, Case, CheckContext, HookContext, Response

LOGOUT = "/api/ext/logout"
PASSWORD = "/api/password"  # noqa: S105 - the path of an endpoint
WEBHOOK_URL = "https://hooks.acme.example/contact-lookup"  # a name that does not resolve
TRANSPORT_HEADERS = {
    *("allow", "connection", "content-length", "content-type", "date", "keep-alive", "server"),
    *("transfer-encoding", "vary", "content-language"),
}
"""Headers that the server adds to any response; operations need not document them."""
CRM = {"vendor": "hubspot", "token": "fuzz"}
FILE = b"Name,Company,E-mail\nJoan Example,Acme,joan@acme.example\n"
SCHEDULE = {"name": "fuzz", "list_id": "42", "max_people": 1, "monthly_credits": 1}
FIRST_ERROR_STATUS = 400
UNPROCESSABLE = 422


class SessionAuth:
    """Sends the token of a session; Schemathesis requests a new one when it is refused."""

    def get(self, case: Case[Any], context: AuthContext) -> str:  # noqa: ARG002 - the protocol's signature
        """Sign in; return the token."""
        return _sign_in(os.environ["FUZZ_EMAIL"], os.environ["FUZZ_PASSWORD"])

    def set(self, case: Case[Any], data: str, context: AuthContext) -> None:  # noqa: ARG002 - the protocol's signature
        """Add the token to a request."""
        case.headers["Authorization"] = f"Bearer {data}"


class ChangedPasswordAuth(SessionAuth):
    """Signs in as the account whose password the requests change."""

    def get(self, case: Case[Any], context: AuthContext) -> str:  # noqa: ARG002 - the protocol's signature
        """Sign in with the current password; return the token."""
        file = _password_file()
        password = file.read_bytes().decode() if file.exists() else os.environ["FUZZ_PASSWORD"]
        return _sign_in(os.environ["FUZZ_OTHER_EMAIL"], password)


def _sign_in(email: str, password: str) -> str:
    body = {"email": email, "password": password}
    return str(_send("POST", "/api/ext/login", "", body)["access_token"])


def _send(method: str, path: str, token: str, body: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    response = http_client.send(method, os.environ["FUZZ_URL"] + path, body, headers)
    if response.status >= FIRST_ERROR_STATUS:
        raise RuntimeError(f"{method} {path} failed with status {response.status}: {response.body}")
    return response.body


def _sent(path: str, token: str) -> dict[str, Any]:
    """Send a file; return what the service made of it."""
    headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {token}"}
    response = http_client.send("POST", os.environ["FUZZ_URL"] + path, FILE, headers)
    if response.status >= FIRST_ERROR_STATUS:
        raise RuntimeError(f"POST {path} failed with status {response.status}: {response.body}")
    return dict(response.body)


def _password_file() -> Path:
    """Return the file of the last changed password, which later runs of Schemathesis need, too."""
    return Path(os.environ["FUZZ_FOLDER"]) / "password"


schemathesis.auth(refresh_interval=3600).skip_for(path=[LOGOUT, PASSWORD])(SessionAuth)
schemathesis.auth(refresh_interval=None).apply_to(path=LOGOUT)(SessionAuth)  # it ends its own session
schemathesis.auth(refresh_interval=None).apply_to(path=PASSWORD)(ChangedPasswordAuth)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:  # noqa: ARG001 - the hook's signature
    """Store a changed password."""
    if case.path == PASSWORD and response.status_code < FIRST_ERROR_STATUS and isinstance(case.body, dict):
        _password_file().write_bytes(str(case.body["new_password"]).encode())


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    """Replace the document's example ids by existing ones, and webhook URLs by one that does not resolve."""
    if isinstance(case.body, dict):
        if case.body.get("contact_id") == EXAMPLES["con"]:
            case.body |= {"contact_id": os.environ["FUZZ_CONTACT"], "email": os.environ["FUZZ_CONTACT_EMAIL"]}
        if case.body.get("add") == [EXAMPLES["con"]]:  # to a list
            case.body["add"] = [os.environ["FUZZ_CONTACT"]]
        for name in ("webhook_url", "url"):
            if str(case.body.get(name, "")).lower().startswith("https:"):
                case.body[name] = WEBHOOK_URL
    for name, value in list(case.path_parameters.items()):
        if isinstance(value, str) and value in REPLACEMENTS:  # arrays and objects are generated, too
            case.path_parameters |= REPLACEMENTS[value](name, _sign_in_again())


def _sign_in_again() -> str:
    return _sign_in(os.environ["FUZZ_EMAIL"], os.environ["FUZZ_PASSWORD"])


def _a_named(path: str) -> Callable[[str, str], dict[str, str]]:
    return lambda name, token: {name: _send("POST", path, token, {"name": "fuzz"})["id"]}


def _a_sent(path: str) -> Callable[[str, str], dict[str, str]]:
    return lambda name, token: {name: _sent(path, token)["id"]}


def _current_session(name: str, token: str) -> dict[str, str]:
    sessions = _send("GET", "/api/sessions", token)["sessions"]
    return {name: next(session["id"] for session in sessions if session["current"])}


def _a_schedule(name: str, token: str) -> dict[str, str]:
    """Return the ids of an active schedule and its connection."""
    connections = _send("GET", "/api/crm/connections", token)["connections"]
    if not connections:
        connections = [_send("POST", "/api/crm/connections", token, CRM)["connection"]]
    connection = connections[0]
    path = f"/api/crm/connections/{connection['id']}/schedules"
    active = [one for one in _send("GET", path, token)["schedules"] if one["state"] == "active"]
    schedule = active[0] if active else _send("POST", path, token, SCHEDULE)["schedule"]
    return {"connection_id": connection["id"], name: schedule["id"]}


REPLACEMENTS = {
    EXAMPLES["key"]: _a_named("/api/keys"),
    EXAMPLES["lst"]: _a_named("/api/lists"),
    EXAMPLES["upl"]: _a_sent("/api/uploads"),
    EXAMPLES["adb"]: _a_sent("/api/address-books"),
    EXAMPLES["ses"]: _current_session,
    EXAMPLES["crs"]: _a_schedule,
}
"""Makers of what the document's example ids stand for, by example: each returns path parameters."""


@schemathesis.check
def refusal_is_a_problem(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require that an error is a problem document (RFC 9457) with the status and the request id."""
    if response.status_code < FIRST_ERROR_STATUS:
        return
    content_type = _header(response, "content-type")
    _require(case, content_type.startswith("application/problem+json"), "not a problem document")
    problem = response.json()
    _require(case, problem["status"] == response.status_code, "the status differs from that in the body")
    _require(case, problem["type"] == f"/problems/{problem['code']}", "type and code differ")
    _require(case, problem["request_id"] == _header(response, "x-request-id"), "the request ids differ")


@schemathesis.check
def refusal_has_a_reason(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require that a 422 gives its reason: in `errors`, or by a code of its own."""
    if response.status_code == UNPROCESSABLE:
        problem = response.json()
        reason = problem.get("errors") or problem["code"] != "validation_error"
        _require(case, bool(reason and problem["detail"]), "a 422 without a reason")


@schemathesis.check
def only_documented_headers(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require that the operation documents every header."""
    documented = case.operation.definition.raw["responses"].get(str(response.status_code), {})
    allowed = TRANSPORT_HEADERS | {name.lower() for name in documented.get("headers", {})}
    if documented:
        undocumented = set(response.headers) - allowed
        _require(case, not undocumented, f"undocumented headers: {sorted(undocumented)}")


@schemathesis.check
def no_internals_in_response(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require that no response contains a traceback, or a name or path of the server's code."""
    leaks = find_leaks(response.content.decode(errors="replace"), _request_text(response))
    _require(case, not leaks, f"the response exposes internals of the service: {sorted(leaks)}")


def _require(case: Case[Any], holds: bool, message: str) -> None:  # noqa: FBT001 - like an assert statement
    if not holds:
        raise Failure(operation=case.operation.label, title=message, message=message)


def _request_text(response: Response) -> str:
    """Return the path, headers and body that were sent."""
    request = response.request
    body = request.body if isinstance(request.body, bytes) else str(request.body or "").encode()
    return f"{unquote(request.url or '')} {dict(request.headers)} {body.decode(errors='replace')}"


def _header(response: Response, name: str) -> str:
    return next(iter(response.headers.get(name, [""])))
