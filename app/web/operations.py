"""What `/openapi.json` says about a view beyond its schemas, declared on the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.domain.errors import Problem
from app.domain.ids import EXAMPLES, Prefix

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operation:
    """The declarations of one view; queued endpoints are recognized by their response schema.

    `errors` are added to the errors of all endpoints, of all with a body and of all with a token.
    `other_body` is the schema of a 200 response that contains no job. `path_parameters` describes the
    parameters of the path. `file_types` are the media types of a body that is a file. With `sends_file`, a
    200 response may be a CSV file. With `cacheable`, the caller may cache a 200 response, which has an ETag.
    """

    errors: tuple[type[Problem], ...] = ()
    takes_idempotency_key: bool = False
    sends_credits: bool = False
    other_body: dict[str, Any] | None = None
    path_parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    file_types: tuple[str, ...] = ()
    sends_file: bool = False
    cacheable: bool = False


def documented(
    *errors: type[Problem],
    takes_idempotency_key: bool = False,
    sends_credits: bool = False,
    other_body: dict[str, Any] | None = None,
    path_parameters: dict[str, dict[str, Any]] | None = None,
    file_types: tuple[str, ...] = (),
    sends_file: bool = False,
    cacheable: bool = False,
) -> Callable[[View], View]:
    """Declare the fields of `Operation` for a view; place it directly below the route."""
    operation = Operation(
        errors,
        takes_idempotency_key,
        sends_credits,
        other_body,
        path_parameters or {},
        file_types,
        sends_file,
        cacheable,
    )

    def decorate(view: View) -> View:
        view.operation = operation  # type: ignore[attr-defined]  # functions accept attributes
        return view

    return decorate


def operation_of(view: Callable[..., Any]) -> Operation:
    """Return the declarations of a view; a view without any has the errors of all endpoints."""
    operation: Operation = getattr(view, "operation", Operation())
    return operation


def id_parameter(prefix: Prefix) -> dict[str, Any]:
    """Return the description of a path parameter that is an id of this type."""
    return {
        "schema": {"type": "string", "pattern": f"^{prefix}_[0-9a-v]{{24}}$"},
        "example": EXAMPLES[prefix],
    }
