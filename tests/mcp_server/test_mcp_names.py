"""Tools and their parameters are named as the endpoints and fields of the API; former names work."""

from __future__ import annotations

import json
from typing import Any

import async_support
import pytest
from mcp import Client
from mcp_types import Tool
from pytest_httpserver import HTTPServer

from mcp_server import former_names
from mcp_server.server import build
from mcp_server.settings import Settings
from tools.clients import document

HASHED = {"company_by_website": "company_by_hash", "leads_by_website": "leads_by_website_hash"}
"""Tools that take a website itself, and send its hashes: another thing than the endpoint takes."""
CALLS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "lookup": (
        {"people": [{"email": "a@b.example"}]},
        "/api/ext/lookup",
        {"subjects": [{"email": "a@b.example"}]},
    ),
    "enrich": (
        {"companies": [{"domain": "acme.example"}], "max_credits": 1, "estimate_only": True},
        "/api/ext/enrichment-request",
        {
            "entity": "company",
            "items": [{"company": {"domain": "acme.example"}}],
            "max_credits": 1,
            "dry_run": True,
        },
    ),
    "save_profile": (
        {"profile": {"linkedin_url": "https://www.linkedin.com/in/ada"}, "list_name": "Leads"},
        "/api/ext/linkedin-save",
        {"profile": {"linkedin_url": "https://www.linkedin.com/in/ada"}, "list": "Leads"},
    ),
    "search_people": (
        {"company_domain": "acme.example", "max_credits": 0, "estimate_only": True},
        "/api/people-searches",
        {"company_domain": "acme.example", "limit": 25, "page": 1, "max_credits": 0, "dry_run": True},
    ),
}
ESTIMATE = {"estimate": {"credits_min": 0, "credits_max": 1, "summary": "1 company"}}


def listed() -> dict[str, Tool]:
    """Return the tools of a server by name."""

    async def run() -> list[Tool]:
        async with Client(build(Settings("http://127.0.0.1:1", "key_test"))) as client:
            return list((await client.list_tools()).tools)

    return {tool.name: tool for tool in async_support.run(run)}


def operations() -> dict[str, set[str]]:
    """Return the fields and parameters of each operation, by the name that its path gives a tool."""
    api = json.loads(document.PATH.read_text())
    found: dict[str, set[str]] = {}
    for path, item in api["paths"].items():
        name = path.removeprefix("/api/").removeprefix("ext/").replace("/", "_").replace("-", "_")
        for operation in item.values():
            fields = {parameter["name"] for parameter in operation.get("parameters", [])}
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"].get("$ref", "").removeprefix(document.REFERENCE)
                fields |= set(api["components"]["schemas"].get(schema, {}).get("properties", {}))
            found[name] = found.get(name, set()) | fields
    return found


def test_every_tool_has_the_name_of_its_endpoint() -> None:
    endpoints = operations()

    assert [name for name in listed() if HASHED.get(name, name) not in endpoints] == []


def test_every_parameter_has_the_name_of_a_field() -> None:
    endpoints = operations()

    others = {
        name: set(tool.input_schema["properties"]) - endpoints[HASHED.get(name, name)]
        for name, tool in listed().items()
    }

    assert {name: names for name, names in others.items() if names} == {name: {"website"} for name in HASHED}


def test_a_former_name_stands_for_one_that_is_listed() -> None:
    tools = listed()

    assert set(former_names.TOOLS.values()) <= tools.keys()
    assert not former_names.TOOLS.keys() & tools.keys()
    for tool, renamed in former_names.PARAMETERS.items():
        assert set(renamed.values()) <= set(tools[tool].input_schema["properties"])


@pytest.mark.parametrize("former", CALLS)
def test_a_call_by_former_names_sends_what_one_by_the_present_names_sends(
    httpserver: HTTPServer, former: str
) -> None:
    arguments, path, sent = CALLS[former]
    httpserver.expect_request("/api/ext/session").respond_with_json({"credits": {"balance": 1}})
    httpserver.expect_request(path, json=sent).respond_with_json(ESTIMATE)

    async def run() -> bool:
        async with Client(build(Settings(httpserver.url_for("").rstrip("/"), "key_test"))) as client:
            return bool((await client.call_tool(former, arguments)).is_error)

    assert async_support.run(run) is False
    httpserver.check_assertions()
