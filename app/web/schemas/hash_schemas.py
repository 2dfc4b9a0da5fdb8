"""Schemas and checks of hashed websites, shared by the two endpoints that accept them."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validate

from app.domain.errors import BadHash, FieldError
from app.domain.messages import Message
from app.domain.normal.hashes import parse_hash
from app.web.schemas.fields import ResponseSchema, StrictSchema

MAX_HASHES = 8
EXAMPLE = "c23b5b0d7a1e0a4d5e1c9cfb0a6e6e1d93b5c2a7f4c1e8d9b0a7f6e5d4c3b2a1"
OPRF_KEY_EXAMPLE = "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e"  # RFC 9497, A.1.2
PATTERN = "^[0-9a-f]{64}$"
KEY_METADATA = {
    "example": OPRF_KEY_EXAMPLE,
    "description": "The public key in the header of the company filter.",
}


def hexadecimal(*, metadata: dict[str, str], **options: Any) -> fields.String:
    """Return a field of 64 lower-case hexadecimal digits."""
    pattern = validate.Regexp(PATTERN + r"\Z", error="Send exactly 64 lower-case hexadecimal digits.")
    return fields.String(validate=pattern, metadata={"pattern": PATTERN} | metadata, **options)


class HashesSchema(StrictSchema):
    """The hash of a website, or several candidates for it, most specific first."""

    hash = fields.String(
        metadata={"example": EXAMPLE, "description": "64 lower-case hexadecimal digits.", "pattern": PATTERN}
    )
    hashes = fields.List(
        fields.String(metadata={"pattern": PATTERN}),
        validate=validate.Length(min=1, max=MAX_HASHES),
        metadata={"example": [EXAMPLE], "description": "The first known hash is used."},
    )


class PatternSchema(ResponseSchema):
    """The pattern of a company's e-mail addresses."""

    pattern = fields.String(metadata={"example": "{first}.{last}"})
    confidence = fields.Float(metadata={"example": 0.92})
    sample_size = fields.Integer(metadata={"example": 12})


def one_of(data: dict[str, Any], *names: str) -> None:
    """Raise ValidationError unless exactly one of the fields is present."""
    if sum(name in data for name in names) != 1:
        raise ValidationError(Message("Send exactly one of {names}.", names=", ".join(names)))


def all_hashes(data: dict[str, Any]) -> list[str]:
    """Return the hashes of a request without duplicates."""
    by_pointer = (
        {"/hash": data["hash"]}
        if "hash" in data
        else {f"/hashes/{index}": text for index, text in enumerate(data["hashes"])}
    )
    invalid = [
        FieldError(pointer, problem.detail)
        for pointer, text in by_pointer.items()
        if (problem := _problem(text)) is not None
    ]
    if invalid:
        raise BadHash(errors=tuple(invalid))
    return list(dict.fromkeys(by_pointer.values()))


def _problem(text: str) -> BadHash | None:
    try:
        parse_hash(text)
    except BadHash as problem:
        return problem
    return None
