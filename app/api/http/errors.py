"""Exceptions into application/problem+json (RFC 9457): the one place."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escape_html
from itertools import islice
from typing import Any

from apiflask import APIFlask
from apiflask.exceptions import HTTPError, _ValidationError
from flask import Response, current_app, g, json
from sqlalchemy.exc import DataError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.exceptions import NotFound as NoRoute

from app.api.http import html_pages
from app.api.http.body import MAX_ERRORS, escape
from app.domain import errors
from app.domain.errors import FieldError, Problem
from app.infra.log import log


def register(app: APIFlask) -> None:
    """Answer every exception of the app as a problem, also those raised outside any view."""
    app.error_processor(_apiflask)  # first: it claims werkzeug's errors, too
    app.register_error_handler(Problem, answer)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(DataError, _refused_by_database)
    app.register_error_handler(Exception, _unexpected)


def answer(problem: Problem) -> Response:
    """Answer with the problem and its headers; to a browser, 404 outside the API is a page."""
    if problem.status == errors.NotFound.status and html_pages.prefers_html():
        return html_pages.page(problem.title, f"<p>{escape_html(problem.detail)}</p>", problem.status)
    body = problem.as_dict() | {"request_id": g.get("request_id")}
    response = current_app.response_class(
        json.dumps(body), status=problem.status, mimetype="application/problem+json"
    )
    if problem.status == errors.NotFound.status and html_pages.can_render_html():
        html_pages.vary(response)
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    if isinstance(problem, errors.InsufficientCredits):
        response.headers["X-Credits-Charged"] = "0"
        response.headers["X-Credits-Balance"] = str(problem.extra["balance"])
    if isinstance(problem, errors.Unauthorized):
        without_a_token = isinstance(problem, errors.MissingToken | errors.InvalidCredentials)
        response.headers["WWW-Authenticate"] = 'Bearer realm="ext"' + (
            "" if without_a_token else ', error="invalid_token"'
        )
    if problem.status in {errors.Unavailable.status, errors.InternalError.status}:
        log.warning("request failed", code=problem.code, exc_info=problem.__cause__)
    return response


def _http(error: HTTPException) -> Response:
    match error:
        case RequestEntityTooLarge():
            return answer(errors.PayloadTooLarge())
        case UnsupportedMediaType():
            return answer(errors.UnsupportedMediaType())
        case MethodNotAllowed():
            response = answer(errors.MethodNotAllowed())
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
            return response
        case NoRoute():
            return answer(errors.NotFound())
    if error.code is not None and error.code < errors.InternalError.status:
        return answer(errors.MalformedJson("The request could not be read."))
    return _unexpected(error)


def _apiflask(error: HTTPError) -> Response:
    if isinstance(error, _ValidationError):
        return answer(errors.ValidationFailed(errors=tuple(islice(_field_errors(error.detail), MAX_ERRORS))))
    if error.status_code == errors.Forbidden.status:
        return answer(errors.InsufficientScope())
    return answer(errors.InvalidToken())


def _field_errors(locations: dict[str, Any]) -> Iterator[FieldError]:
    for messages in locations.values():
        yield from field_errors(messages)


def field_errors(messages: Any, pointer: str = "") -> Iterator[FieldError]:  # noqa: ANN401 -- marshmallow's
    """Turn marshmallow's nested messages into JSON pointers with a sentence each."""
    if isinstance(messages, dict):
        for key, inner in messages.items():
            step = "" if key == "_schema" else f"/{escape(str(key))}"
            yield from field_errors(inner, pointer + step)
    elif isinstance(messages, list):
        for message in messages:
            yield from field_errors(message, pointer)
    else:
        yield FieldError(pointer, str(messages))


def _refused_by_database(error: DataError) -> Response:
    log.warning("the database refused a value", exc_info=error)
    return answer(errors.ValidationFailed("A value cannot be stored. Correct the request."))


def _unexpected(error: Exception) -> Response:
    log.error("unexpected error", exc_info=error)
    return answer(errors.InternalError())
