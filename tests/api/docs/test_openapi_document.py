from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator

from app.api.docs.openapi_headers import HEADERS
from app.web import cors

pytestmark = pytest.mark.any_database


@pytest.fixture
def document(client: FlaskClient) -> Any:
    return client.get("/openapi.json").json


def operations(document: Any) -> list[tuple[str, Any]]:
    return [
        (path, operation) for path, of_path in document["paths"].items() for operation in of_path.values()
    ]


def test_every_response_documents_the_common_headers(document: Any) -> None:
    responses = [
        response for _path, operation in operations(document) for response in operation["responses"].values()
    ]

    assert all(
        {"X-Request-Id", "API-Version", "Cache-Control"} <= response["headers"].keys()
        for response in responses
    )


def test_every_referenced_header_is_described(document: Any) -> None:
    referred = set(re.findall(r"#/components/headers/([\w-]+)", str(document["paths"])))

    assert referred <= document["components"]["headers"].keys()
    assert {name.removesuffix("-if-any") for name in referred} == HEADERS.keys()


def test_only_a_header_that_a_response_may_lack_is_optional(document: Any) -> None:
    headers = document["components"]["headers"]

    assert {name for name in headers if not headers[name]["required"]} == {
        f"{name}-if-any" for name in HEADERS
    }


def test_every_post_that_spends_or_writes_takes_an_idempotency_key(document: Any) -> None:
    """All but those that read, those whose repetition changes nothing, and those that return secrets once."""
    without = {
        path
        for path, of_path in document["paths"].items()
        if path.startswith("/api/") and "post" in of_path
        if "Idempotency-Key" not in {parameter["name"] for parameter in of_path["post"].get("parameters", ())}
    }

    reading = {"/api/ext/lookup", "/api/ext/company-filter/evaluate"}
    signing_in = {"/api/ext/login", "/api/ext/company-login", "/api/ext/logout", "/api/password"}
    secrets = {"/api/totp", "/api/totp/confirm", "/api/totp/disable", "/api/scim/token"}
    secrets |= {"/api/accounts/{account_id}/password-reset"}
    repeatable = {"/api/feedback/import"}  # a value that was reported is not reported again
    assert without == reading | signing_in | secrets | repeatable


def test_every_post_that_takes_an_idempotency_key_may_refuse_it(document: Any) -> None:
    for _path, operation in operations(document):
        if "Idempotency-Key" in {parameter["name"] for parameter in operation.get("parameters", ())}:
            codes = str(operation["responses"]["422"]["content"]["application/problem+json"]["schema"])
            assert "idempotency_key_reused" in codes
            assert "validation_error" in codes


def test_pages_of_allowed_origins_may_use_every_method(document: Any) -> None:
    used = {method.upper() for path, of_path in document["paths"].items() for method in of_path}

    assert used == set(cors.METHODS.split(", "))


def test_every_error_response_lists_its_codes(document: Any) -> None:
    response = document["paths"]["/api/ext/login"]["post"]["responses"]["401"]
    schema = response["content"]["application/problem+json"]["schema"] | {
        "components": document["components"]
    }
    example = response["content"]["application/problem+json"]["examples"]["invalid_credentials"]["value"]

    validator = Draft202012Validator(schema)

    assert validator.is_valid(example)
    assert not validator.is_valid(example | {"code": "not_found"})
    assert not validator.is_valid(example | {"status": 402})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("LookupSchema", {"subject": {"email": "a@b.example"}}, {}),
        (
            "LookupSchema",
            {"subjects": [{"phone": "+1"}]},
            {"subject": {"phone": "1"}, "subjects": [{"phone": "1"}]},
        ),
        ("SubjectSchema", {"full_name": "A", "company_name": "B"}, {"full_name": "A"}),
        ("SubjectSchema", {"first_name": "A", "last_name": "B", "company_domain": "c"}, {"last_name": "B"}),
        ("SubjectSchema", {"contact_id": "x", "email": None}, {"email": None}),
        ("SubjectSchema", {"linkedin_url": "x"}, {"full_name": " ", "company_name": "B"}),
        ("CompanyByHashSchema", {"prefix": "ff"}, {"prefix": "ff", "hash": "0" * 64}),
        ("LeadsByWebsiteHashSchema", {"hash": "0" * 64}, {"hash": "A" * 64}),
    ],
)
def test_the_schemas_require_identifiers_of_a_person_or_a_website(
    document: Any, name: str, good: dict[str, Any], bad: dict[str, Any]
) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}

    validator = Draft202012Validator(schema)

    assert validator.is_valid(good)
    assert not validator.is_valid(bad)


def test_prefer_and_idempotency_key_are_documented_where_they_have_an_effect(document: Any) -> None:
    offered = {
        path: {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "header"}
        for path, operation in operations(document)
        if "post" in document["paths"][path]
    }

    assert offered["/api/ext/reveal/email"] == {"Prefer", "Idempotency-Key"}
    assert offered["/api/ext/lookup"] == set()


def test_the_file_that_callers_cache_documents_its_own_headers(document: Any) -> None:
    responses = document["paths"]["/api/ext/company-filter"]["get"]["responses"]

    assert "422" in responses
    for status in ("200", "304"):
        assert responses[status]["headers"]["ETag"] == {"$ref": "#/components/headers/ETag"}
        component = responses[status]["headers"]["Cache-Control"]["$ref"].rpartition("/")[2]
        assert document["components"]["headers"][component]["schema"]["pattern"].startswith("^private")
