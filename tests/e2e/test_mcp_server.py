"""The MCP server, called by the library's client over stdio and over HTTP, in front of a running service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import async_support
import httpx2
import pytest
from e2e_stack import ROOT, Stack, kill, spawn
from local_servers import free_port
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from polling import wait_until

FOUND = {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}
SLOW = {"linkedin_url": "https://www.linkedin.com/in/sandbox-slow"}
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TOOLS = {
    *("session", "lookup", "reveal_email", "reveal_phone", "enrichment_request", "linkedin_save"),
    *("company_by_website", "leads_by_website", "people_searches", "people", "verifications", "jobs"),
}


def create_key(stack: Stack, grant: int, **options: Any) -> str:
    """Create a workspace with credits, and return an API key of it."""
    _workspace, token = stack.create_workspace(grant=grant)
    response = stack.call("POST", "/api/keys", {"name": "agent", **options}, Authorization=token)
    assert response.status == 201
    return str(response.body["key"])


def call_over_stdio(stack: Stack, key: str, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """Start the server as a client does, make these calls one after the other, and return the results."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_server"],
        cwd=ROOT,
        env={"CONTACT_LOOKUP_URL": stack.base_url, "CONTACT_LOOKUP_KEY": key},
    )

    async def run() -> list[CallToolResult]:
        async with Client(stdio_client(server)) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return async_support.run(run)


@pytest.fixture(scope="module")
def mcp_url(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an MCP server over HTTP in front of the stack."""
    port = free_port()
    environment = {**os.environ, "CONTACT_LOOKUP_URL": stack.base_url}
    log: Path = tmp_path_factory.mktemp("mcp") / "mcp.log"
    process = spawn("mcp_server", "--http", "--port", str(port), log=log, environment=environment)
    wait_until(lambda: post(f"http://127.0.0.1:{port}/mcp", {})[0] == 401, 30)
    yield f"http://127.0.0.1:{port}/mcp"
    kill(process)
    assert not [word for word in ("key_", "Sandbox", "sandbox") if word in log.read_text()]


def post(url: str, message: dict[str, Any], **headers: str) -> tuple[int, str]:
    """Send a JSON-RPC message as it is; return the status and the body, or 0 if nothing listens."""
    request = urllib.request.Request(url, json.dumps(message).encode())
    accepted = "application/json, text/event-stream"
    for name, value in ({"Content-Type": "application/json", "Accept": accepted} | headers).items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, ""


def call_over_http(url: str, key: str, name: str, arguments: dict[str, Any], call_id: int) -> dict[str, Any]:
    """Call a tool with this call id, as a client that sends it again would; return its structured result."""
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params}
    status, body = post(url, message, Authorization=f"Bearer {key}")
    assert status == 200, body
    (data,) = (line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {"))
    result: dict[str, Any] = json.loads(data)["result"]
    return result


def balance(stack: Stack, key: str) -> int:
    session = stack.call("GET", "/api/ext/session", Authorization=f"Bearer {key}").body
    return int(session["credits"]["balance"])


def test_a_reveal_over_stdio_says_what_it_cost_and_a_second_one_is_free(stack: Stack) -> None:
    key = create_key(stack, 5)

    first, second = call_over_stdio(stack, key, *[("reveal_email", {"subject": FOUND})] * 2)

    assert first.structured_content is not None
    assert second.structured_content is not None
    assert first.structured_content["cost"] == {"charged": 1, "balance": 4, "reserved": 0}
    assert first.structured_content["answer"]["result"]["emails"][0]["email"] == "found@sandbox.example"
    assert first.structured_content["summary"] == "Found. It cost 1 credit. 4 credits left."
    assert second.structured_content["cost"] == {"charged": 0, "balance": 4, "reserved": 0}


def test_every_endpoint_is_a_tool_that_works(stack: Stack) -> None:
    key = create_key(stack, 20)
    profile = {"linkedin_url": "https://www.linkedin.com/in/mcp-ada", "company": {"name": "Acme"}}
    items = [{"subject": FOUND, "client_reference": "row-1"}]
    enrichment = {"entity": "person", "items": items, "fields": ["email"], "max_credits": 3}

    results = call_over_stdio(
        stack,
        key,
        ("session", {}),
        ("lookup", {"subjects": [FOUND]}),
        ("reveal_phone", {"subject": FOUND}),
        ("enrichment_request", {**enrichment, "dry_run": True}),
        ("enrichment_request", enrichment),
        ("linkedin_save", {"profile": profile, "list": "Prospects"}),
        ("company_by_website", {"website": "https://www.sandbox.example/about"}),
        ("leads_by_website", {"website": "sandbox.example", "has": ["email"], "limit": 5}),
        ("people_searches", {"company_domain": "sandbox.example", "max_credits": 0}),
    )

    assert [result.is_error for result in results] == [False] * len(results)
    contents = [result.structured_content or {} for result in results]
    assert [content["cost"]["charged"] for content in contents] == [0, 0, 1, 0, 1, 0, 0, 0, 0]
    assert {content["finished"] for content in contents} == {True}
    assert contents[-1]["cost"]["balance"] == balance(stack, key) == 18


def test_a_call_that_is_sent_again_over_http_costs_once(stack: Stack, mcp_url: str) -> None:
    key = create_key(stack, 5)
    arguments = {"subject": {"full_name": "Found Sandbox", "company_domain": "sandbox.example"}}

    first = call_over_http(mcp_url, key, "reveal_email", arguments, 7)
    repeated = call_over_http(mcp_url, key, "reveal_email", arguments, 7)
    another = call_over_http(mcp_url, key, "reveal_email", arguments, 8)

    contents = [result["structuredContent"] for result in (first, repeated, another)]
    assert [content["cost"]["charged"] for content in contents] == [1, 0, 0]
    assert [content["repeated"] for content in contents] == [False, True, False]
    assert balance(stack, key) == 4


def test_a_call_that_is_sent_forty_times_at_once_costs_once(stack: Stack, mcp_url: str) -> None:
    key = create_key(stack, 5)

    with ThreadPoolExecutor(40) as threads:
        results = list(
            threads.map(
                lambda _number: call_over_http(mcp_url, key, "reveal_phone", {"subject": FOUND}, 3), range(40)
            )
        )

    assert {result["isError"] for result in results} == {False}
    assert balance(stack, key) == 4


@pytest.mark.parametrize("handshake", ["legacy", "auto"])
def test_the_librarys_client_over_http_uses_the_callers_own_key(
    stack: Stack, mcp_url: str, handshake: str
) -> None:
    keys = [create_key(stack, 5), create_key(stack, 9)]

    async def balance_of(key: str) -> int:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
            Client(streamable_http_client(mcp_url, http_client=http), mode=handshake) as client,
        ):
            result = await client.call_tool("session", {})
            return int((result.structured_content or {})["cost"]["balance"])

    assert [async_support.run(balance_of, key) for key in keys] == [5, 9]


def test_without_credits_a_reveal_is_an_error_that_says_what_to_do(stack: Stack) -> None:
    key = create_key(stack, 0)

    (result,) = call_over_stdio(stack, key, ("reveal_email", {"subject": FOUND}))

    assert result.is_error
    assert "402 insufficient_credits" in str(result.content)
    assert "Required: 1 credits; balance: 0." in str(result.content)


def test_a_key_with_a_cap_of_three_spends_three_credits_under_forty_calls_at_once(
    stack: Stack, mcp_url: str
) -> None:
    key = create_key(stack, 100, spending_cap=3)
    people = [{"subject": {"contact_id": contact}} for contact in stack.create_contacts(40)]

    with ThreadPoolExecutor(40) as threads:
        results = list(
            threads.map(
                lambda number: call_over_http(mcp_url, key, "reveal_email", people[number], number), range(40)
            )
        )

    refusals = [result["content"][0]["text"] for result in results if result["isError"]]
    assert len(refusals) == 37
    assert all("402 spending_limit_reached" in text for text in refusals)
    assert all("The spending cap of this API key is 3" in text for text in refusals)
    assert balance(stack, key) == 97


def test_a_key_without_the_scope_is_refused_with_the_sentence_of_the_api(stack: Stack, mcp_url: str) -> None:
    key = create_key(stack, 5, scopes=["lookup"])

    result = call_over_http(mcp_url, key, "reveal_email", {"subject": FOUND}, 1)

    assert result["isError"]
    assert "403 insufficient_scope" in result["content"][0]["text"]


def test_the_tools_declare_what_they_do_and_take(mcp_url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    status, body = post(mcp_url, message, Authorization="Bearer key_any")

    (data,) = (line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {"))
    tools = {tool["name"]: tool for tool in json.loads(data)["result"]["tools"]}
    spending = {name for name, tool in tools.items() if tool["annotations"]["openWorldHint"]}
    reading = {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]}
    assert status == 200
    assert tools.keys() == TOOLS
    assert spending == {
        "reveal_email",
        "reveal_phone",
        "enrichment_request",
        "people_searches",
        "verifications",
    }
    assert reading == TOOLS - spending - {"linkedin_save"}
    assert {tool["annotations"]["destructiveHint"] for tool in tools.values()} == {False}
    assert "context" not in tools["lookup"]["inputSchema"]["properties"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Basic a2V5"}, 401),
        ({"Authorization": "Bearer key_any", "Origin": "https://attacker.example"}, 403),
        ({"Authorization": "Bearer key_any", "Host": "attacker.example"}, 421),
        ({"Authorization": "Bearer key_any", "Origin": "http://127.0.0.1:80@attacker.example"}, 403),
        ({"Authorization": "Bearer key_any", "Origin": "http://localhost:80.attacker.example"}, 403),
        ({"Authorization": "Bearer key_any", "Host": "127.0.0.1:80@attacker.example"}, 421),
        ({"Authorization": "Bearer key_any", "Host": "localhost:80.attacker.example"}, 421),
    ],
)
def test_a_request_without_a_key_or_from_a_foreign_page_is_refused(
    mcp_url: str, headers: dict[str, str], status: int
) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}

    assert post(mcp_url, message, **headers)[0] == status


def test_without_a_key_the_server_says_which_setting_is_missing(stack: Stack) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "mcp_server"],
        cwd=ROOT,
        env={"CONTACT_LOOKUP_URL": stack.base_url},
        capture_output=True,
        text=True,
        check=False,
    )

    assert completed.returncode == 2
    assert "CONTACT_LOOKUP_KEY" in completed.stderr
