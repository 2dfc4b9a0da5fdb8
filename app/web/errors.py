"""Error handlers: every exception becomes an application/problem+json response (RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from apiflask import APIFlask
from apiflask.exceptions import HTTPError, _ValidationError
from flask import Response, current_app, g, has_request_context, json
from sqlalchemy.exc import DataError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.exceptions import NotFound as NoRoute

from app.domain import errors
from app.domain.errors import FieldError, Problem
from app.infra.telemetry.log import log
from app.web import costs, html_pages
from app.web.bodies.body import MAX_ERRORS, escape
from app.web.languages.texts import translate


def register(app: APIFlask) -> None:
    """Register handlers for every exception of the app, including those raised outside views."""
    app.error_processor(_apiflask)  # first, because it registers itself for werkzeug's errors too
    app.register_error_handler(Problem, problem_response)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(DataError, _data_error)
    app.register_error_handler(Exception, _unexpected)


def problem_response(problem: Problem) -> Response:
    """Return the response for a problem."""
    if isinstance(problem, errors.InsufficientCredits):
        costs.hide_in(problem)
    body = localized(problem.as_dict()) | {"request_id": g.get("request_id")}
    response = current_app.response_class(
        json.dumps(body), status=problem.status, mimetype="application/problem+json"
    )
    if problem.status == errors.NotFound.status and html_pages.can_render_html():
        html_pages.vary(response)
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    if isinstance(problem, errors.InsufficientCredits) and "balance" in problem.extra:
        response.headers["X-Credits-Charged"] = "0"
        response.headers["X-Credits-Balance"] = str(problem.extra["balance"])
    if isinstance(problem, errors.Unauthorized):
        concerns_token = isinstance(problem, errors.InvalidToken | errors.TokenExpired | errors.TokenRevoked)
        response.headers["WWW-Authenticate"] = 'Bearer realm="ext"' + (
            ', error="invalid_token"' if concerns_token else ""
        )
    if problem.status in {errors.Unavailable.status, errors.InternalError.status}:
        log.warning("request failed", code=problem.code, exc_info=problem.__cause__)
    return response


def localized(problem: dict[str, Any]) -> dict[str, Any]:
    """Return problem details with their texts in the language of the request; the code stays."""
    if has_request_context():
        g.has_texts = True
    shown = problem | {name: translate(problem[name]) for name in ("title", "detail") if problem.get(name)}
    if "errors" in problem:
        shown["errors"] = [error | {"detail": translate(error["detail"])} for error in problem["errors"]]
    return shown


def _http(error: HTTPException) -> Response:
    match error:
        case RequestEntityTooLarge():
            return problem_response(errors.PayloadTooLarge())
        case UnsupportedMediaType():
            return problem_response(errors.UnsupportedMediaType())
        case MethodNotAllowed():
            response = problem_response(errors.MethodNotAllowed())
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
            return response
        case NoRoute():
            return problem_response(errors.NotFound())
    if error.code is not None and error.code < errors.InternalError.status:
        return problem_response(
            errors.MalformedJson("The request could not be parsed. Check its URL and headers against /docs.")
        )
    return _unexpected(error)


def _apiflask(error: HTTPError) -> Response:
    if isinstance(error, _ValidationError):
        return problem_response(
            errors.ValidationFailed(errors=tuple(islice(_field_errors(error.detail), MAX_ERRORS)))
        )
    if error.status_code == errors.Forbidden.status:
        return problem_response(errors.InsufficientScope())
    return problem_response(errors.InvalidToken())


def _field_errors(locations: dict[str, Any]) -> Iterator[FieldError]:
    for messages in locations.values():
        yield from field_errors(messages)


def field_errors(messages: object, pointer: str = "") -> Iterator[FieldError]:
    """Yield an error with a JSON pointer for each message."""
    if isinstance(messages, dict):
        for key, inner in messages.items():
            step = "" if key == "_schema" else f"/{escape(str(key))}"
            yield from field_errors(inner, pointer + step)
    elif isinstance(messages, list):
        for message in messages:
            yield from field_errors(message, pointer)
    else:
        yield FieldError(pointer, messages if isinstance(messages, str) else str(messages))


def _data_error(error: DataError) -> Response:
    log.warning("value rejected by the database", exc_info=error)
    detail = "A value cannot be stored. Correct the request."
    return problem_response(errors.ValidationFailed(detail, errors=(FieldError("", detail),)))


def _unexpected(error: Exception) -> Response:
    log.error("unexpected error", exc_info=error)
    return problem_response(errors.InternalError())
