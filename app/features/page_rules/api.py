"""GET /api/ext/page-rules: the signed rules by which the extension reads the people of a page."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, request
from flask.blueprints import BlueprintSetupState
from marshmallow import fields

from app.domain.callers import Scope
from app.features.page_rules import rules_file
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.services import services
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("page_rules", __name__, tag="Page rules")

MAX_AGE_SECONDS = 600
RESPONSES: dict[int | str, Any] = {304: {"description": "The rules are those of `If-None-Match`."}}


class PageRulesSchema(ResponseSchema):
    """The rules and their signature."""

    rules = fields.String(
        required=True,
        metadata={
            "example": '{"version":2026112901,"off":[],"apps":[],"sites":[],"generic":[],"words":{}}',
            "description": "A JSON text, as it is signed; docs/page-lists.md describes its fields.",
        },
    )
    signature = fields.String(
        required=True,
        metadata={
            "example": f"{'A' * 86}==",
            "description": (
                "The Ed25519 signature of the text in UTF-8, in base64; `page_rules_key` is the key."
            ),
        },
    )


@blueprint.record
def _require_valid_rules(state: BlueprintSetupState) -> None:
    """Refuse to start with a file that cannot be used, instead of failing at the first download."""
    rules_file.signed(state.app.extensions["services"].settings)


@blueprint.get("/api/ext/page-rules")
@Operation(cacheable=True)
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.output(PageRulesSchema)
@blueprint.doc(responses=RESPONSES)
def page_rules() -> Response:
    """Return the signed rules that say which elements of a page are people, the same for every caller.

    Send the `ETag` of the stored rules as `If-None-Match`: the response is 304 while they are the same.
    """
    signed = rules_file.signed(services().settings)
    if request.if_none_match.contains(signed.etag):
        return _cacheable(Response(status=304), signed.etag)
    return _cacheable(json_response({"rules": signed.rules, "signature": signed.signature}), signed.etag)


def _cacheable(response: Response, etag: str) -> Response:
    """Allow the caller's own cache to store the response, but no shared cache: it needs a token."""
    response.set_etag(etag)
    response.headers["Cache-Control"] = f"private, max-age={MAX_AGE_SECONDS}"
    response.vary.add("Authorization")
    return response
