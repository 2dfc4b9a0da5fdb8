"""The memory for bodies: what a request reserves, and what happens when none is left."""

from __future__ import annotations

import dataclasses
import json

import pytest
from flask import Flask
from users_support import SignedInUser

from app.server.byte_shares import ByteShares

LOOKUP = "/api/ext/lookup"
SUBJECT = json.dumps({"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}).encode()
TOTAL = 1000


@pytest.fixture
def memory(user: SignedInUser) -> ByteShares:
    """Very little memory in a process that has authenticated the user's token before."""
    app: Flask = user.client.application
    memory = ByteShares(TOTAL)
    app.extensions["services"] = dataclasses.replace(app.extensions["services"], body_memory=memory)
    user.client.get("/api/ext/session", headers=user.headers)
    return memory


def post(user: SignedInUser, body: bytes, path: str = LOOKUP) -> tuple[int, str | None]:
    response = user.client.post(path, data=body, headers=user.headers, content_type="application/json")
    return response.status_code, response.headers.get("Retry-After")


def test_the_memory_of_a_body_is_free_after_the_response(user: SignedInUser, memory: ByteShares) -> None:
    assert [post(user, SUBJECT)[0] for _ in range(TOTAL // len(SUBJECT) + 1)][-1] == 200
    assert memory.free == TOTAL


def test_the_memory_of_a_refused_body_is_free_after_the_response(
    user: SignedInUser, memory: ByteShares
) -> None:
    assert post(user, b"[]")[0] == 400
    assert memory.free == TOTAL


def test_a_workspace_with_many_bodies_is_refused_and_others_are_not(
    user: SignedInUser, memory: ByteShares
) -> None:
    memory.take(user.workspace_id, 450)

    refused = post(user, SUBJECT)
    stranger = user.client.post("/api/ext/login", json={"email": "eve@babbage.example", "password": "guess"})

    assert refused == (429, "5")
    assert stranger.status_code == 401


def test_a_full_memory_is_unavailable(user: SignedInUser, memory: ByteShares) -> None:
    memory.take("one", 500)
    memory.take("two", 250)
    memory.take("three", 125)

    assert post(user, SUBJECT) == (503, "5")


def test_a_body_without_a_length_counts_as_the_longest(user: SignedInUser, memory: ByteShares) -> None:
    response = user.client.post(
        LOOKUP, headers=user.headers | {"Transfer-Encoding": "chunked"}, content_type="application/json"
    )

    assert response.status_code == 503


def test_a_request_without_a_body_needs_no_memory(user: SignedInUser, memory: ByteShares) -> None:
    memory.take(user.workspace_id, 500)

    assert user.client.get("/api/ext/session", headers=user.headers).status_code == 200


def test_a_body_that_is_too_long_for_any_is_refused_as_such(user: SignedInUser, memory: ByteShares) -> None:
    assert post(user, b" " * 300_000)[0] == 413
    assert memory.free == TOTAL
