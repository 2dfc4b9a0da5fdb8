"""POST /api/ext/company-filter/evaluate: evaluate blinded hashes with the key of the company filter."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Scope
from app.domain.errors import FieldError, FilterKeyUnknown, ValidationFailed
from app.infra.crypto import oprf
from app.infra.crypto.oprf import InvalidElement
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema, StrictSchema
from app.web.schemas.hash_schemas import KEY_METADATA, MAX_HASHES, OPRF_KEY_EXAMPLE, hexadecimal
from app.web.services import services
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("company_filter_evaluation", __name__, tag="Company by hash")

BLINDED = "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945"  # RFC 9497, A.1.2
EVALUATED = "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e"
PROOF = (
    "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd06"
    "6d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d"
)


class EvaluationSchema(StrictSchema):
    """Blinded hashes, and the public key of the filter that they are looked up in."""

    key = hexadecimal(required=True, metadata=KEY_METADATA)
    blinded = fields.List(
        hexadecimal(metadata={"description": "An element of ristretto255 but the identity."}),
        required=True,
        validate=validate.Length(min=1, max=MAX_HASHES),
        metadata={"example": [BLINDED]},
    )


class EvaluatedSchema(ResponseSchema):
    """The evaluated elements, in the order of the request."""

    evaluated = fields.List(fields.String(), required=True, metadata={"example": [EVALUATED]})
    proof = fields.String(
        required=True, metadata={"example": PROOF, "description": "That the key was used for all of them."}
    )


@blueprint.post("/api/ext/company-filter/evaluate")
@Operation(errors=(FilterKeyUnknown,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.EVALUATE)
@blueprint.input(EvaluationSchema, arg_name="body", example={"key": OPRF_KEY_EXAMPLE, "blinded": [BLINDED]})
@blueprint.output(EvaluatedSchema)
def evaluate(body: dict[str, Any]) -> Response:
    """Evaluate blinded hashes with the key of the company filter: VOPRF(ristretto255, SHA-512) of RFC 9497.

    The service does not learn the hashes. The output for a hash is looked up in the filter in its place.
    """
    key = oprf.of_public_key(services().settings, body["key"])
    try:
        elements, proof = key.evaluate([bytes.fromhex(text) for text in body["blinded"]])
    except InvalidElement as error:
        detail = "Not an element of ristretto255, or its identity."
        raise ValidationFailed(errors=(FieldError(f"/blinded/{error.index}", detail),)) from None
    return json_response({"evaluated": [element.hex() for element in elements], "proof": proof.hex()})
