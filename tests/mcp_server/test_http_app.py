"""Bodies that the MCP server receives over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import async_support
import pytest
from starlette.types import Message, Receive, Scope, Send

from mcp_server import http_app
from mcp_server.http_app import MAX_BODY, BearerRequired, LimitedRequests

SCOPE = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"authorization", b"Bearer key_any")]}


def part(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def exchange(parts: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Send these parts and then nothing; return what the application received, and what was sent back."""
    received, sent = [], []
    remaining = list(parts)

    async def receive() -> Message:
        if not remaining:
            await asyncio.Event().wait()
        return remaining.pop(0)

    async def application(_scope: Scope, receive: Receive, _send: Send) -> None:
        while not received or received[-1]["more_body"]:
            received.append(await receive())

    async def send(message: Message) -> None:
        sent.append(message)

    async_support.run(BearerRequired(application), SCOPE, receive, send)
    return received, sent


def test_a_body_in_parts_reaches_the_application_as_it_was_sent() -> None:
    parts = [part(b"{", more=True), part(b"}", more=False)]

    assert exchange(parts) == (parts, [])


def test_a_body_that_stops_ends_with_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_app, "BODY_SECONDS", 0.01)

    received, sent = exchange([part(b"{", more=True)])

    assert received == []
    assert sent[0]["status"] == 408


def test_a_body_whose_client_disconnects_does_not_reach_the_application() -> None:
    assert exchange([part(b"{", more=True), {"type": "http.disconnect"}]) == ([], [])


def test_more_requests_than_can_wait_are_refused_until_one_of_them_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_app, "MAX_REQUESTS", 1)
    statuses: list[int] = []

    async def receive() -> Message:
        raise NotImplementedError

    async def send(message: Message) -> None:
        statuses.append(message.get("status", 0))

    async def application(_scope: Scope, _receive: Receive, _send: Send) -> None:
        if len(statuses) == 0:
            await limited(SCOPE, receive, send)

    limited = LimitedRequests(application)
    async_support.run(limited, SCOPE, receive, send)
    refused = list(statuses)
    async_support.run(limited, SCOPE, receive, send)

    assert refused == statuses == [503, 0]


def test_no_more_than_the_longest_body_is_kept() -> None:
    parts = [part(b"x" * MAX_BODY, more=True), part(b"x", more=True), part(b"x", more=False)]

    assert exchange(parts)[0] == parts
