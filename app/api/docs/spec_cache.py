"""/openapi.json, written once: it is large, the same for everybody, and anybody may ask for it."""

from __future__ import annotations

from functools import wraps

from apiflask import APIFlask
from flask import Response

VIEW = "openapi.spec"


def cache_spec(app: APIFlask) -> None:
    """Keep the document as the bytes that are sent; writing it takes as long as ten lookups."""
    view = app.view_functions[VIEW]
    written: list[bytes] = []

    @wraps(view)
    def document() -> Response:
        if not written:
            written.append(app.make_response(view()).get_data())
        return app.response_class(written[0], mimetype=app.config["JSON_SPEC_MIMETYPE"])

    app.view_functions[VIEW] = document
