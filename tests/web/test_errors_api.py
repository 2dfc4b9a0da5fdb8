from __future__ import annotations

import pytest
from apiflask import APIFlask, HTTPError
from flask.testing import FlaskClient
from sqlalchemy.exc import DataError
from structlog.testing import capture_logs
from werkzeug.exceptions import (
    BadGateway,
    Conflict,
    RequestEntityTooLarge,
    RequestURITooLarge,
    UnsupportedMediaType,
)

from app.api.docs.openapi_errors import LIMIT
from app.domain import errors
from app.domain.errors import FieldError, Problem, all_problems
from app.web.errors import field_errors

pytestmark = pytest.mark.any_database

PROBLEM_JSON = "application/problem+json"


@pytest.fixture
def raising(own_app: APIFlask) -> APIFlask:
    """The application with a view that raises the error in `app.extensions["raise"]`."""

    @own_app.get("/raise")
    def view() -> None:
        raise own_app.extensions["raise"]

    return own_app


def answer(app: APIFlask, error: Exception, **headers: str) -> tuple[int, dict[str, object], dict[str, str]]:
    app.extensions["raise"] = error
    response = app.test_client().get("/raise", headers=headers)
    assert response.mimetype == PROBLEM_JSON
    assert response.json is not None
    return response.status_code, response.json, dict(response.headers)


def make(kind: type[Problem]) -> Problem:
    if kind is errors.ValidationFailed:
        return errors.ValidationFailed(errors=(FieldError("/limit", "Not a number."),))
    if kind is errors.InsufficientCredits:
        return errors.InsufficientCredits(required=3, balance=2)
    if kind is errors.SpendingLimitReached:
        return errors.SpendingLimitReached(3, 20, LIMIT)
    if kind is errors.PurposeRequired:
        return errors.PurposeRequired(["recruiting"])
    return kind()


@pytest.mark.parametrize("code", all_problems())
def test_every_problem_has_its_status_and_code_in_the_response(raising: APIFlask, code: str) -> None:
    kind = all_problems()[code]

    status, body, headers = answer(raising, make(kind), **{"X-Request-Id": "req-1"})

    assert status == body["status"] == kind.status
    assert (body["code"], body["type"]) == (code, f"/problems/{code}")
    assert body["request_id"] == headers["X-Request-Id"] == "req-1"


def test_retry_after_is_in_the_body_and_in_a_header(raising: APIFlask) -> None:
    _status, body, headers = answer(raising, errors.RateLimited(retry_after=7))

    assert (body["retry_after"], headers["Retry-After"]) == (7, "7")


def test_an_unavailable_service_says_when_to_try_again(raising: APIFlask) -> None:
    _status, body, headers = answer(raising, errors.Unavailable())

    assert (body["retry_after"], headers["Retry-After"]) == (1, "1")


@pytest.mark.parametrize(
    ("error", "challenge"),
    [
        (errors.MissingToken(), 'Bearer realm="ext"'),
        (errors.InvalidCredentials(), 'Bearer realm="ext"'),
        (errors.TotpRequired(), 'Bearer realm="ext"'),
        (errors.InvalidTotp(), 'Bearer realm="ext"'),
        (errors.CompanySignInFailed(), 'Bearer realm="ext"'),
        (errors.InvalidToken(), 'Bearer realm="ext", error="invalid_token"'),
        (errors.TokenExpired(), 'Bearer realm="ext", error="invalid_token"'),
    ],
)
def test_a_401_has_an_authentication_challenge(raising: APIFlask, error: Problem, challenge: str) -> None:
    assert answer(raising, error)[2]["WWW-Authenticate"] == challenge


def test_only_a_401_has_an_authentication_challenge(raising: APIFlask) -> None:
    assert "WWW-Authenticate" not in answer(raising, errors.InsufficientScope())[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Conflict(), "malformed_json"),
        (RequestURITooLarge(), "malformed_json"),
        (UnsupportedMediaType(), "unsupported_media_type"),
        (RequestEntityTooLarge(), "payload_too_large"),
        (HTTPError(401), "invalid_token"),
        (HTTPError(403), "insufficient_scope"),
        (BadGateway(), "internal_error"),
    ],
)
def test_errors_raised_by_flask_become_problems(raising: APIFlask, error: Exception, code: str) -> None:
    status, body, _headers = answer(raising, error)

    assert (status, body["code"]) == (all_problems()[code].status, code)


def test_a_wrong_method_gets_the_allowed_ones(client: FlaskClient) -> None:
    response = client.get("/api/ext/login")

    assert (response.status_code, response.mimetype) == (405, PROBLEM_JSON)
    assert "POST" in response.headers["Allow"]


def test_an_unexpected_error_is_a_500_without_details(raising: APIFlask) -> None:
    with capture_logs() as events:
        status, body, _headers = answer(raising, LookupError("ada@acme.com"))

    assert (status, body["code"]) == (500, "internal_error")
    assert "ada@acme.com" not in str(body)
    assert "unexpected error" in {event["event"] for event in events}


def test_a_value_rejected_by_the_database_is_a_validation_error(raising: APIFlask) -> None:
    status, body, _headers = answer(
        raising, DataError("SELECT 'ada@acme.com'", None, Exception("ada@acme.com"))
    )

    assert (status, body["code"]) == (422, "validation_error")
    assert "ada@acme.com" not in str(body)


def test_an_unreachable_database_is_logged_with_the_cause(raising: APIFlask) -> None:
    problem = errors.Unavailable()
    problem.__cause__ = OSError("ada@acme.com")

    with capture_logs() as events:
        status, _body, _headers = answer(raising, problem)

    assert status == 503
    assert [(event["code"], event["exc_info"]) for event in events if event["event"] == "request failed"] == [
        ("unavailable", problem.__cause__)
    ]


def test_schema_errors_become_json_pointers() -> None:
    messages = {
        "subject": {"email": ["Not valid."], "_schema": ["Too little."]},
        "items": {0: {"a/b": ["One.", "Two."]}},
        "_schema": "All wrong.",
    }

    assert list(field_errors(messages)) == [
        FieldError("/subject/email", "Not valid."),
        FieldError("/subject", "Too little."),
        FieldError("/items/0/a~1b", "One."),
        FieldError("/items/0/a~1b", "Two."),
        FieldError("", "All wrong."),
    ]
