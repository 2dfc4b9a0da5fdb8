"""/openapi.json and /docs: errors, headers and parameters that the schemas do not contain."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial, wraps
from hashlib import sha256
from typing import Any

from apiflask import APIBlueprint, APIFlask
from flask import Response, send_from_directory
from flask_swagger_ui import __file__ as swagger_ui

from app.api.docs import openapi_errors, openapi_headers
from app.domain.errors import IdempotencyKeyReused, Problem, ValidationFailed
from app.web.bodies import idempotency_header, received_files
from app.web.operations import Operation, operation_of
from app.web.schemas.fields import StrictSchema
from app.web.schemas.job_schemas import JobResponseSchema

ASSETS = "/docs/assets"
SPEC_VIEW = "openapi.spec"
blueprint = APIBlueprint("docs_assets", __name__, enable_openapi=False)


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
        DOCS_DECORATORS=[_with_policy],
        DOCS_FAVICON=f"{ASSETS}/favicon-32x32.png",
        SWAGGER_UI_CSS=f"{ASSETS}/swagger-ui.css",
        SWAGGER_UI_BUNDLE_JS=f"{ASSETS}/swagger-ui-bundle.js",
        SWAGGER_UI_STANDALONE_PRESET_JS=f"{ASSETS}/swagger-ui-standalone-preset.js",
    )
    public_url = app.extensions["services"].settings.public_url
    app.config["SERVERS"] = [{"url": url} for url in (public_url, "/") if url]
    app.register_blueprint(blueprint)
    app.spec_processor(partial(finalize_spec, app))


def _with_policy(view: Callable[[], str]) -> Callable[[], Response]:
    """Limit what the page may load and be embedded in; it runs the scripts of this server and its own."""

    @wraps(view)
    def page() -> Response:
        html = view()
        scripts, styles = (" ".join(_digests(html, tag)) for tag in ("script", "style"))
        response = Response(html, mimetype="text/html")
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' {styles}; "
            "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return response

    return page


def _digests(html: str, tag: str) -> Iterator[str]:
    """Yield the digests of the page's own scripts or styles, as a policy has them."""
    for text in re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL):
        yield f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


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


def finalize_spec(app: APIFlask, spec: Any) -> Any:  # noqa: ANN401 -- APIFlask's signature: the document as a dictionary
    """Return the document with the errors, headers and parameters of every operation."""
    components = spec.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = openapi_errors.PROBLEM
    components["headers"] = openapi_headers.components()
    for request_schema in _subclasses(StrictSchema):
        components["schemas"].get(request_schema.__name__, {}).update(request_schema.json_schema)
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in map(str.lower, rule.methods or ()):
            if method in spec["paths"].get(path, {}):
                _complete(spec["paths"][path][method], app.view_functions[rule.endpoint])
    return spec


def _subclasses(schema: type[StrictSchema]) -> Iterator[type[StrictSchema]]:
    for subclass in schema.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _complete(entry: dict[str, Any], view: Callable[..., Any]) -> None:
    """Add to an operation of the document what its view declares."""
    operation = operation_of(view)
    if operation.file_types:
        entry["requestBody"] = {
            "content": {name: _file(name, operation.file_examples.get(name)) for name in operation.file_types}
        }
    response_schema = view._spec.get("response", {}).get("schema")  # type: ignore[attr-defined]  # noqa: SLF001 -- APIFlask has no public access to it
    queued = isinstance(response_schema, JobResponseSchema)
    takes_key = operation.takes_idempotency_key or (queued and "requestBody" in entry)
    _add_errors(entry, operation, takes_key=takes_key)
    _add_bodies(entry, operation, queued=queued)
    _add_parameters(entry, operation, queued=queued, takes_key=takes_key)
    for status, response in entry["responses"].items():
        declared = response.get("headers", {}) if status == "200" else {}
        response["headers"] = declared | openapi_headers.for_response(
            status,
            limited="429" in entry["responses"],
            waits=queued,
            sends_credits=queued or operation.sends_credits,
            credits_optional=operation.other_body is not None,
            takes_key=takes_key,
            sends_file=operation.sends_file,
            cacheable=operation.cacheable,
        )


def _file(media_type: str, example: str | None) -> dict[str, Any]:
    """Return the schema of a file as a whole body, or as a part of a form, and the example."""
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    if media_type == received_files.FORM:
        properties = {received_files.PART: file}
        return {"schema": {"type": "object", "required": [received_files.PART], "properties": properties}}
    return {"schema": file} | ({"example": example} if example else {})


def _add_errors(entry: dict[str, Any], operation: Operation, *, takes_key: bool) -> None:
    kinds: list[type[Problem]] = [*openapi_errors.COMMON, *operation.errors]
    if "requestBody" in entry:
        kinds += openapi_errors.WITH_BODY
        entry["requestBody"]["required"] = True
    if entry.get("security"):
        kinds += openapi_errors.WITH_TOKEN
    if takes_key:
        kinds += (ValidationFailed, IdempotencyKeyReused)  # of a key with other characters, or another body
    for status, response in openapi_errors.responses(kinds).items():
        entry["responses"].setdefault(status, response)


def _add_bodies(entry: dict[str, Any], operation: Operation, *, queued: bool) -> None:
    """Add the 202 of an unfinished job, and the other bodies of a 200."""
    responses = entry["responses"]
    if queued:
        responses["202"] = {
            "description": "Not finished yet: the same schema. Poll Location after Retry-After seconds.",
            "content": responses["200"]["content"],
        }
    if operation.other_body is not None:
        schema = responses["200"]["content"]["application/json"]["schema"]
        responses["200"]["content"] = {
            "application/json": {"schema": {"oneOf": [schema, operation.other_body]}}
        }
    if operation.sends_file:
        responses["200"]["content"].setdefault("text/csv", {"schema": {"type": "string"}})
        workbook = {"schema": {"type": "string", "format": "binary"}}
        responses["200"]["content"].setdefault(received_files.XLSX, workbook)


def _add_parameters(entry: dict[str, Any], operation: Operation, *, queued: bool, takes_key: bool) -> None:
    parameters = entry.setdefault("parameters", [])
    for parameter in parameters:
        if parameter["in"] == "path":
            parameter.update(operation.path_parameters.get(parameter["name"], {}))
    if queued:
        parameters.append(
            _parameter("Prefer", "`wait=N` (seconds, at most 25) or `respond-async` (RFC 7240).")
            | {"example": "wait=10"}
        )
    if takes_key:
        key = _parameter(
            "Idempotency-Key",
            "1 to 255 printable characters, such as a new UUID for each request; a replay returns the result "
            "of the first request.",
        )
        key["schema"] |= {"minLength": 1, "maxLength": 255, "pattern": idempotency_header.PATTERN}
        parameters.append(key)


def _parameter(name: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }
