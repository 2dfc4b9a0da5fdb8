"""GET /api/contacts/<contact_id>/vcard: a person as a vCard."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Scope
from app.domain.errors import ContactNotFound, ValidationFailed
from app.features.vcards import downloads
from app.features.vcards.cards import VERSIONS
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.queries import QuerySchema
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("vcards", __name__, tag="Contacts")

CARD: dict[int | str, Any] = {
    200: {
        "description": "The card, with what the workspace revealed.",
        "content": {downloads.TYPE: {"schema": {"type": "string"}}},
    }
}


class CardQuery(QuerySchema):
    """The version of the format."""

    version = fields.String(
        load_default="4.0",
        validate=validate.OneOf(VERSIONS),
        metadata={"example": "4.0", "description": "4.0 (RFC 6350), or 3.0 (RFC 2426) for older programs."},
    )


@blueprint.get("/api/contacts/<contact_id>/vcard")
@Operation(
    errors=(ContactNotFound, ValidationFailed),
    path_parameters={"contact_id": id_parameter("con")},
    sends_file=True,
)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.READ)
@blueprint.input(CardQuery, location="query", arg_name="query")
@blueprint.doc(responses=CARD)
def get_vcard(contact_id: str, query: dict[str, Any]) -> Response:
    """Return a person whom the workspace revealed or saved as a vCard."""
    return downloads.download(contact_id, query["version"])
