"""GET /api/ext/company-filter: the signed file that says which websites and company pages are known."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response, request
from marshmallow import validate

from app.domain.callers import Scope
from app.domain.errors import CompanyFilterNotReady, ValidationFailed
from app.engine.lookups.company_filters import SIZES
from app.features.company_filter import filters
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import AsciiInteger
from app.web.services import services
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("company_filter", __name__, tag="Company by hash")

MAX_AGE_SECONDS = 600
RESPONSES: dict[int | str, Any] = {
    200: {
        "description": "The file; docs/website-privacy.md describes its format.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    304: {"description": "The file is the one of `If-None-Match`."},
}


class CompanyFilterQuery(Schema):
    """The bits of a fingerprint: with 8, one unknown website in 256 seems known; with 16, in 65,536."""

    bits = AsciiInteger(load_default=16, validate=validate.OneOf(SIZES))


@blueprint.get("/api/ext/company-filter")
@Operation(errors=(ValidationFailed, CompanyFilterNotReady), cacheable=True)
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(CompanyFilterQuery, location="query", arg_name="query")
@blueprint.doc(responses=RESPONSES)
def company_filter(query: dict[str, Any]) -> Response:
    """Return a signed filter of the known websites and company pages, the same for every caller.

    Send the `ETag` of the stored file as `If-None-Match`: the response is 304 while the file is the same.
    """
    with services().database.reading() as session:
        etag = filters.etag(session, query["bits"])
        if etag is not None and request.if_none_match.contains(etag):
            return _cacheable(Response(status=304), etag)
        found = filters.content(session, query["bits"])
    if found is None:
        raise CompanyFilterNotReady
    etag, content = found
    return _cacheable(Response(content, mimetype="application/octet-stream"), etag)


def _cacheable(response: Response, etag: str) -> Response:
    """Allow the caller's own cache to store the response, but no shared cache: it needs a token."""
    response.set_etag(etag)
    response.headers["Cache-Control"] = f"private, max-age={MAX_AGE_SECONDS}"
    response.vary.add("Authorization")
    return response
