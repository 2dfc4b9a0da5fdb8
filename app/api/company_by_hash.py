"""POST /api/ext/company-by-hash: find a company by the hash of its website or profile, free of charge."""

from __future__ import annotations

import secrets
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.domain.callers import Scope
from app.domain.errors import BadHash, FieldError, FilterKeyUnknown, PrefixNotAllowed
from app.domain.ids import EXAMPLES
from app.domain.kinds import Kind
from app.domain.messages import Message
from app.domain.normal.hashes import parse_prefix
from app.engine.jobs.submission import JobRequest
from app.engine.lookups.company_overviews import HashKind
from app.infra.crypto import oprf
from app.web.jobs.job_requests import submit_and_wait
from app.web.operations import Operation
from app.web.rate_limits import Policy, count, limited
from app.web.schemas.contact_schemas import CompanySchema
from app.web.schemas.fields import ResponseSchema, exactly_one
from app.web.schemas.hash_schemas import (
    EXAMPLE,
    KEY_METADATA,
    HashesSchema,
    PatternSchema,
    all_hashes,
    hexadecimal,
    one_of,
)
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("company_by_hash", __name__, tag="Company by hash")


class CompanyByHashSchema(HashesSchema):
    """The hash of a website or company profile, or the first digits of it or of its output."""

    json_schema = exactly_one("hash", "hashes", "prefix") | {"dependentRequired": {"key": ["prefix"]}}
    kind = fields.String(
        load_default=HashKind.WEBSITE.value, validate=validate.OneOf([kind.value for kind in HashKind])
    )
    prefix = fields.String(
        metadata={
            "example": EXAMPLE[:2],
            "description": "Exactly `hash_lookup.prefix_length` digits; all matches are returned.",
            "pattern": "^[0-9a-f]+$",
        }
    )
    key = hexadecimal(
        metadata=KEY_METADATA
        | {"description": "The public key of a keyed company filter: the prefix is that of an output."}
    )

    @validates_schema
    def _exactly_one(self, data: dict[str, Any], **_options: Any) -> None:
        one_of(data, "hash", "hashes", "prefix")
        if "key" in data and "prefix" not in data:
            raise ValidationError("Send it with 'prefix' only.", "key")

    @post_load
    def _request(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        if "prefix" not in data:
            return {"kind": data["kind"], "hashes": all_hashes(data)}
        return {name: data[name] for name in ("kind", "prefix", "key") if name in data}


class KnownCompanySchema(CompanySchema):
    """A company, with statistics about its people."""

    email_pattern = fields.Nested(PatternSchema, allow_none=True)
    contacts_count = fields.Integer(metadata={"example": 42})
    departments = fields.List(fields.String(), metadata={"example": ["engineering", "sales"]})


class ShortCompanySchema(ResponseSchema):
    """A company as an element of a list."""

    id = fields.String(metadata={"example": EXAMPLES["com"]})
    name = fields.String(allow_none=True, metadata={"example": "Acme Engines"})
    domain = fields.String(allow_none=True, metadata={"example": "acme.example"})
    contacts_count = fields.Integer(metadata={"example": 42})


class RangeMatchSchema(ResponseSchema):
    """A hash without its prefix; the company is null if the hash is padding.

    With a key: the id of a card without its prefix, and the sealed card, which is random if it is padding.
    """

    suffix = fields.String(metadata={"example": EXAMPLE[2:]})
    company = fields.Nested(ShortCompanySchema, allow_none=True)
    sealed = fields.String(
        metadata={
            "example": "bm9uY2VjYXJkdGFn",
            "description": "The nonce, the encrypted company and the tag of AES-256-GCM, in base64.",
        }
    )


class CompanyByHashResultSchema(ResponseSchema):
    """The company of the hashes, or every match of the prefix, padded with random ones."""

    matched_hash = fields.String(metadata={"example": EXAMPLE})
    company = fields.Nested(KnownCompanySchema)
    prefix = fields.String(metadata={"example": EXAMPLE[:2]})
    key = fields.String(metadata=KEY_METADATA | {"description": "The key of the request."})
    matches = fields.List(fields.Nested(RangeMatchSchema))
    padding = fields.String(metadata={"example": "5f2c9d", "description": "Random; ignore it."})


class CompanyByHashResponseSchema(JobResponseSchema):
    """The job, and the company once the job has finished."""

    result = fields.Nested(CompanyByHashResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


@blueprint.post("/api/ext/company-by-hash")
@Operation(errors=(BadHash, PrefixNotAllowed, FilterKeyUnknown))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.LOOKUP)
@blueprint.input(CompanyByHashSchema, arg_name="body", example={"hash": EXAMPLE})
@blueprint.output(CompanyByHashResponseSchema)
def company_by_hash(body: dict[str, Any]) -> Response:
    """Find the company of a website or company profile by its hash.

    A full hash identifies its website to anyone who hashes all domains; a prefix is shared by many. A
    prefix request is deleted once its result has been sent. With a keyed company filter, send its key and the
    prefix of an output: only the output opens the company among the matches.
    """
    private = "prefix" in body
    if private:
        _check_prefix(body["prefix"], body.get("key"))
        count(Policy.PREFIX)
    request = JobRequest(
        kind=Kind.COMPANY_BY_HASH,
        workspace_id=caller().workspace_id,
        account_id=None if private else caller().account_id,
        request=body,
        # A random value prevents deduplication: a caller must not learn that a prefix was requested before.
        dedup_key=body | ({"once": secrets.token_hex()} if private else {}),
    )
    return submit_and_wait(request, private=private)


def _check_prefix(prefix: str, key: str | None) -> None:
    settings = services().settings
    try:
        parse_prefix(prefix, settings.hash_prefix_length)
    except BadHash as problem:
        detail = Message(
            "{reason} GET /api/ext/session has the number in hash_lookup.prefix_length.",
            reason=problem.detail,
        )
        raise BadHash(detail, errors=(FieldError("/prefix", detail),)) from None
    if key is not None:
        oprf.of_public_key(settings, key)
    elif settings.company_filter_oprf_key is not None:  # all prefixes of hashes together list the companies
        detail = Message(
            "The company filter is keyed: send 'key' and the prefix of an output, or 'hash' or 'hashes'."
        )
        raise PrefixNotAllowed(detail, errors=(FieldError("/prefix", detail),))
