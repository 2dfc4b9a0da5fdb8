"""/openapi.json and /docs: errors, headers and parameters that the schemas do not contain."""

from __future__ import annotations

import json
import re
from functools import wraps
from itertools import product
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, send_from_directory
from flask_swagger_ui import __file__ as swagger_ui

from app.api.docs import openapi_headers
from app.api.http import idempotency_header
from app.domain import errors
from app.domain.errors import Problem, all_problems
from app.domain.ids import EXAMPLES

ASSETS = "/docs/assets"
SPEC_VIEW = "openapi.spec"
blueprint = APIBlueprint("docs_assets", __name__, enable_openapi=False)

COMMON_ERRORS = (errors.MalformedJson, errors.RequestTimeout, errors.InternalError, errors.Unavailable)
BODY_ERRORS = (
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    errors.ValidationFailed,
)
AUTH_ERRORS = (
    errors.MissingToken,
    errors.InvalidToken,
    errors.TokenExpired,
    errors.TokenRevoked,
    errors.InsufficientScope,
    errors.RateLimited,
    errors.TooManyAttempts,
)
SUBJECTS = (errors.InsufficientIdentifiers, errors.NotAProfileUrl)
HASHES = (errors.BadHash,)
BY_PATH: dict[str, tuple[type[Problem], ...]] = {
    "/api/ext/login": (errors.InvalidCredentials, errors.AccountDisabled, errors.TooManyAttempts),
    "/api/ext/lookup": SUBJECTS,
    "/api/ext/reveal/email": (*SUBJECTS, errors.InsufficientCredits, errors.ContactNotFound),
    "/api/ext/reveal/phone": (*SUBJECTS, errors.InsufficientCredits, errors.ContactNotFound),
    "/api/ext/enrichment-request": (errors.InsufficientCredits,),
    "/api/ext/linkedin-save": (errors.NotAProfileUrl,),
    "/api/ext/company-by-hash": HASHES,
    "/api/ext/leads-by-website-hash": (*HASHES, errors.PrefixNotAllowed),
    "/api/ext/jobs": (errors.JobNotFound, errors.ValidationFailed),
    "/api/feedback": (errors.ContactNotFound,),
    "/api/keys": (errors.ApiAccessRequired,),
    "/api/keys/{key_id}": (errors.ApiAccessRequired, errors.NotFound),
    "/api/sessions/{session_id}": (errors.NotFound,),
    "/problems/{code}": (errors.NotFound,),
}
QUEUED = frozenset(
    {
        "/api/ext/reveal/email",
        "/api/ext/reveal/phone",
        "/api/ext/enrichment-request",
        "/api/ext/company-by-hash",
        "/api/ext/leads-by-website-hash",
    }
)
REPLAYABLE = QUEUED | {"/api/ext/linkedin-save", "/api/feedback", "/api/keys"}
WAITABLE = QUEUED | {"/api/ext/jobs"}

COUNTED = frozenset({"/api/ext/login"})
"""Paths with a rate limit but without a token."""

IN_PATHS: dict[str, dict[str, Any]] = {
    "key_id": {"schema": {"type": "string", "pattern": "^key_[0-9a-v]{24}$"}, "example": EXAMPLES["key"]},
    "session_id": {"schema": {"type": "string", "pattern": "^ses_[0-9a-v]{24}$"}, "example": EXAMPLES["ses"]},
    "code": {"schema": {"enum": [*all_problems()]}, "example": errors.NotFound.code},
}

IDENTIFYING_FIELDS = (
    *(("contact_id",), ("linkedin_url",), ("email",), ("phone",)),
    *product(("full_name",), ("company_domain", "company_name")),
    *product(("first_name",), ("last_name",), ("company_domain", "company_name")),
)
"""Sets of fields that identify a person (contract 2.4); null is the same as absent."""

EXACTLY_ONE = {
    "LookupSchema": ("subject", "subjects"),
    "CompanyByHashSchema": ("hash", "hashes", "prefix"),
    "LeadsByWebsiteHashSchema": ("hash", "hashes"),
}
"""Request schemas that require exactly one of these fields."""

EXTRA_RESPONSES: dict[str, dict[str, Any]] = {
    "/api/ext/jobs": {
        "title": "The latest jobs",
        "type": "object",
        "required": ["jobs", "next_cursor"],
        "properties": {
            "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/JobSchema"}},
            "next_cursor": {"type": ["string", "null"]},
        },
    },
    "/api/ext/enrichment-request": {
        "title": "The estimate of a dry run",
        "type": "object",
        "required": ["estimate"],
        "properties": {
            "estimate": {
                "type": "object",
                "properties": {
                    name: {"type": "integer"}
                    for name in ("credits_min", "credits_max", "owned", "suppressed", "ineligible")
                },
            }
        },
    },
}
"""Other bodies of a 200 response: without `id`, and with `dry_run`."""

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code", "request_id", "retryable"],
    "properties": {
        "type": {"type": "string", "examples": ["/problems/validation_error"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "request_id": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "retry_after": {"type": "integer", "description": "Seconds."},
        "required": {"type": "integer", "description": "Credits that the request costs."},
        "balance": {"type": "integer", "description": "Credits that the workspace has."},
    },
}


def configure(app: APIFlask) -> None:
    """Configure the document, and a docs page that works without internet access."""
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        VALIDATION_ERROR_STATUS_CODE=422,
        AUTO_VALIDATION_ERROR_RESPONSE=False,
        AUTO_AUTH_ERROR_RESPONSE=False,
        AUTO_404_RESPONSE=False,
        AUTO_OPERATION_ID=True,
        SPEC_PROCESSOR_PASS_OBJECT=False,
        DOCS_FAVICON=f"{ASSETS}/favicon-32x32.png",
        SWAGGER_UI_CSS=f"{ASSETS}/swagger-ui.css",
        SWAGGER_UI_BUNDLE_JS=f"{ASSETS}/swagger-ui-bundle.js",
        SWAGGER_UI_STANDALONE_PRESET_JS=f"{ASSETS}/swagger-ui-standalone-preset.js",
    )
    app.config["SERVERS"] = [{"url": "/"}]
    app.register_blueprint(blueprint)
    app.spec_processor(finalize_spec)


@blueprint.get(f"{ASSETS}/<path:name>")
def asset(name: str) -> Response:
    """Return a file of the docs page."""
    return send_from_directory(swagger_ui.rpartition("/")[0] + "/dist", name)


def cache_spec(app: APIFlask) -> None:
    """Serve /openapi.json from memory after its first generation, which takes as long as ten lookups."""
    view = app.view_functions[SPEC_VIEW]
    cached: list[bytes] = []

    @wraps(view)
    def document() -> Response:
        if not cached:
            cached.append(app.make_response(view()).get_data())
        return app.response_class(cached[0], mimetype=app.config["JSON_SPEC_MIMETYPE"])

    app.view_functions[SPEC_VIEW] = document


def finalize_spec(spec: Any) -> Any:  # noqa: ANN401 -- APIFlask's signature: the document as a dictionary
    """Return the document with the errors, headers and parameters of every operation."""
    components = spec.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["headers"] = openapi_headers.components()
    for name, keys in EXACTLY_ONE.items():
        components["schemas"][name]["oneOf"] = [{"required": [key]} for key in keys]
    request_schemas = _request_schemas(spec)
    for name, schema in components["schemas"].items():
        if name not in request_schemas:  # responses may get new fields at any time
            schema.pop("additionalProperties", None)
    components["schemas"]["SubjectSchema"]["anyOf"] = [
        {"required": [*names], "properties": {name: {"type": "string"} for name in names}}
        for names in IDENTIFYING_FIELDS
    ]
    for path, operations in spec["paths"].items():
        for operation in operations.values():
            _add_problems(path, operation)
            _add_variants(path, operation)
            _add_parameters(path, operation)
            _add_headers(path, operation)
    return spec


def _request_schemas(spec: dict[str, Any]) -> set[str]:
    """Return the names of the schemas used in request bodies."""
    schemas = spec["components"]["schemas"]
    bodies = [op.get("requestBody") for operations in spec["paths"].values() for op in operations.values()]
    found: set[str] = set()
    pending = _references(bodies)
    while pending:
        name = pending.pop()
        found.add(name)
        pending |= _references(schemas[name]) - found
    return found


def _references(part: object) -> set[str]:
    return set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(part, default=str)))


def _add_problems(path: str, operation: dict[str, Any]) -> None:
    kinds = [*COMMON_ERRORS, *BY_PATH.get(path, ())]
    if "requestBody" in operation:
        kinds += BODY_ERRORS
        operation["requestBody"]["required"] = True
    if operation.get("security"):
        kinds += AUTH_ERRORS
    if _is_replayable(path, operation):
        kinds.append(errors.IdempotencyKeyReused)
    by_status: dict[int, list[type[Problem]]] = {}
    for kind in all_problems().values():
        if kind in kinds:
            by_status.setdefault(kind.status, []).append(kind)
    for status, problems in by_status.items():
        operation["responses"].setdefault(str(status), _error_response(status, problems))


def _error_response(status: int, problems: list[type[Problem]]) -> dict[str, Any]:
    """Return the OpenAPI response of a status: a problem with one of these codes."""
    properties = {"status": {"const": status}, "code": {"enum": [kind.code for kind in problems]}}
    return {
        "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in problems),
        "content": {
            "application/problem+json": {
                "schema": {"allOf": [{"$ref": "#/components/schemas/Problem"}, {"properties": properties}]},
                "examples": {kind.code: {"value": _example(kind)} for kind in problems},
            }
        },
    }


def _example(kind: type[Problem]) -> dict[str, Any]:
    problem = (
        errors.InsufficientCredits(required=1, balance=0)
        if kind is errors.InsufficientCredits
        else kind(retry_after=30 if issubclass(kind, errors.TooMany) else None)
    )
    return problem.as_dict() | {"request_id": "req_5f2c9d0a7be14f6c8a3d1e90"}


def _add_variants(path: str, operation: dict[str, Any]) -> None:
    """Add the alternative bodies of a 200, and the 202 of an unfinished job."""
    responses = operation["responses"]
    if path in WAITABLE:
        responses["202"] = {
            "description": "Not finished yet: the same schema. Poll Location after Retry-After seconds.",
            "content": responses["200"]["content"],
        }
    if path in EXTRA_RESPONSES:
        content = responses["200"]["content"]["application/json"]
        responses["200"]["content"] = {
            "application/json": {"schema": {"oneOf": [content["schema"], EXTRA_RESPONSES[path]]}}
        }


def _add_parameters(path: str, operation: dict[str, Any]) -> None:
    parameters = operation.setdefault("parameters", [])
    for parameter in parameters:
        if parameter["in"] == "path":
            parameter.update(IN_PATHS.get(parameter["name"], {}))
    if path in WAITABLE:
        parameters.append(
            _parameter("Prefer", "`wait=N` (seconds, at most 25) or `respond-async` (RFC 7240).")
            | {"example": "wait=10"}
        )
    if _is_replayable(path, operation):
        key = _parameter(
            "Idempotency-Key",
            "1 to 255 printable characters, such as a new UUID for each request; a replay returns the result "
            "of the first request.",
        )
        key["schema"] |= {"minLength": 1, "maxLength": 255, "pattern": idempotency_header.PATTERN}
        parameters.append(key)


def _add_headers(path: str, operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        response["headers"] = openapi_headers.for_response(
            status,
            limited=bool(operation.get("security")) or path in COUNTED,
            waited_for=path in WAITABLE,
            spends=path in WAITABLE or path == "/api/feedback",
            may_be_free=path in EXTRA_RESPONSES,
            replayable=_is_replayable(path, operation),
        )


def _is_replayable(path: str, operation: dict[str, Any]) -> bool:
    return path in REPLAYABLE and "requestBody" in operation


def _parameter(name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }
