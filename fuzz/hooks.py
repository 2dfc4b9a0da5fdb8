"""What Schemathesis cannot know of this service: how to sign in, and what every answer promises."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemathesis
from schemathesis.core.failures import Failure

from app.domain.ids import EXAMPLES
from tools import http_client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemathesis import AuthContext, Case, CheckContext, HookContext, Response

LOGOUT = "/api/ext/logout"
PASSWORD = "/api/password"  # noqa: S105 - the address of an endpoint
WEBHOOK_URL = "https://hooks.acme.example/contact-lookup"  # a name that leads nowhere
TRANSPORT_HEADERS = {
    *("allow", "connection", "content-length", "content-type", "date", "keep-alive", "server"),
    *("transfer-encoding", "vary"),
}
"""Headers that the server adds by itself, which no operation needs to document."""
LEAKS = ("Traceback (most recent call last)", "sqlalchemy", "psycopg", 'File "/', "site-packages")
FIRST_ERROR_STATUS = 400
UNPROCESSABLE = 422


class SessionAuth:
    """Sends a session's token; Schemathesis asks for another one when it is refused."""

    def get(self, case: Case[Any], context: AuthContext) -> str:  # noqa: ARG002 - the protocol's signature
        """Begin a session."""
        return _sign_in()

    def set(self, case: Case[Any], data: str, context: AuthContext) -> None:  # noqa: ARG002 - the protocol's signature
        """Send its token."""
        case.headers["Authorization"] = f"Bearer {data}"


class ChangedPasswordAuth(SessionAuth):
    """Signs in as the account whose password is changed all the time."""

    def get(self, case: Case[Any], context: AuthContext) -> str:  # noqa: ARG002 - the protocol's signature
        """Begin a session with the password as it is by now."""
        changed = _password_file().read_bytes().decode() if _password_file().exists() else ""
        return _sign_in(os.environ["FUZZ_OTHER_EMAIL"], changed)


def _sign_in(email: str = "", password: str = "") -> str:
    who = {
        "email": email or os.environ["FUZZ_EMAIL"],
        "password": password or os.environ["FUZZ_PASSWORD"],
    }
    return str(_send("POST", "/api/ext/login", "", who)["access_token"])


def _send(method: str, path: str, token: str, body: dict[str, str] | None = None) -> Any:  # noqa: ANN401 - JSON
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = http_client.send(method, os.environ["FUZZ_URL"] + path, body, headers)
    if answer.status >= FIRST_ERROR_STATUS:
        raise RuntimeError(f"{method} {path} was answered {answer.status}: {answer.body}")
    return answer.body


def _password_file() -> Path:
    """Give the file of the password as it was changed last, for the next run of Schemathesis, too."""
    return Path(os.environ["FUZZ_FOLDER"]) / "password"


schemathesis.auth(refresh_interval=3600).skip_for(path=[LOGOUT, PASSWORD])(SessionAuth)
schemathesis.auth(refresh_interval=None).apply_to(path=LOGOUT)(
    SessionAuth
)  # it ends the session it is sent with
schemathesis.auth(refresh_interval=None).apply_to(path=PASSWORD)(ChangedPasswordAuth)


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:  # noqa: ARG001 - the hook's signature
    """Remember a password that was changed."""
    if case.path == PASSWORD and response.status_code < FIRST_ERROR_STATUS and isinstance(case.body, dict):
        _password_file().write_bytes(str(case.body["new_password"]).encode())


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    """Let what the document gives as examples exist, and let nothing leave this machine."""
    if isinstance(case.body, dict):
        if case.body.get("contact_id") == EXAMPLES["con"]:
            case.body |= {"contact_id": os.environ["FUZZ_CONTACT"], "email": os.environ["FUZZ_CONTACT_EMAIL"]}
        if str(case.body.get("webhook_url", "")).lower().startswith("https:"):
            case.body["webhook_url"] = WEBHOOK_URL
    if EXAMPLES["key"] in case.path_parameters.values():
        case.path_parameters["key_id"] = _send("POST", "/api/keys", _sign_in(), {"name": "fuzz"})["id"]
    if EXAMPLES["ses"] in case.path_parameters.values():
        begun = _send("GET", "/api/sessions", _sign_in())["sessions"]
        case.path_parameters["session_id"] = next(each["id"] for each in begun if each["current"])


@schemathesis.check
def refusal_is_a_problem(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require of every refusal a problem (RFC 9457) that repeats the status and the id."""
    if response.status_code < FIRST_ERROR_STATUS:
        return
    _require(case, _header(response, "content-type").startswith("application/problem+json"), "not a problem")
    told = response.json()
    _require(case, told["status"] == response.status_code, "the status is another than in the body")
    _require(case, told["type"] == f"/problems/{told['code']}", "type and code differ")
    _require(case, told["request_id"] == _header(response, "x-request-id"), "the request's id differs")


@schemathesis.check
def refusal_has_a_reason(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Require that a 422 says what is wrong: in `errors`, or by a code of its own."""
    if response.status_code == UNPROCESSABLE:
        told = response.json()
        why = told.get("errors") or told["code"] != "validation_error"
        _require(case, bool(why and told["detail"]), "nothing says what is wrong")


@schemathesis.check
def only_documented_headers(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Allow no header that the operation does not tell of."""
    documented = case.operation.definition.raw["responses"].get(str(response.status_code), {})
    known = TRANSPORT_HEADERS | {name.lower() for name in documented.get("headers", {})}
    if documented:
        _require(case, not (extra := set(response.headers) - known), f"undocumented headers: {sorted(extra)}")


@schemathesis.check
def no_internals_in_response(context: CheckContext, response: Response, case: Case[Any]) -> None:  # noqa: ARG001 - a check's signature
    """Allow no traceback, query or path of the server in an answer."""
    text = response.content.decode(errors="replace")
    _require(case, not any(leak in text for leak in LEAKS), "the answer shows the inside of the service")


def _require(case: Case[Any], holds: bool, message: str) -> None:  # noqa: FBT001 - as `assert` has it
    if not holds:
        raise Failure(operation=case.operation.label, title=message, message=message)


def _header(response: Response, name: str) -> str:
    values: Iterator[str] = iter(response.headers.get(name, [""]))
    return next(values)
