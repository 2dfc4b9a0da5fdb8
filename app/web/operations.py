"""What `/openapi.json` says about a view beyond its schemas, declared on the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.domain.errors import Problem
from app.domain.ids import EXAMPLES, Prefix
from app.web.deprecation import Deprecation

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The declarations of one view, which it decorates directly below the route.

    Queued endpoints are recognized by their response schema. `errors` are added to the errors of all
    endpoints, of all with a body and of all with a token. `other_body` is the schema of a 200 response that
    contains no job. `path_parameters` describes the parameters of the path. `file_types` are the media types
    of a body that is a file, and `file_examples` has an example for some. With `sends_file`, a 200 response
    may be a CSV file. With `cacheable`, callers may cache a 200 response, which has an ETag. `deprecation`
    reaches the headers, the document, the documentation and the clients.
    """

    errors: tuple[type[Problem], ...] = ()
    takes_idempotency_key: bool = False
    sends_credits: bool = False
    other_body: dict[str, Any] | None = None
    path_parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    file_types: tuple[str, ...] = ()
    file_examples: dict[str, str] = field(default_factory=dict)
    sends_file: bool = False
    cacheable: bool = False
    deprecation: Deprecation | None = None

    def __call__(self, view: View) -> View:
        """Attach the declarations to a view, for `operation_of`."""
        view.operation = self  # type: ignore[attr-defined]  # functions accept attributes
        return view


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
