"""Rate limits across two processes: with Redis, without it, while it hangs, and after it has recovered."""

from __future__ import annotations

import http.client
import secrets
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest
import redis
from e2e_stack import PROCESSES, ApiResponse, Stack, running
from local_servers import empty_database
from polling import wait_until

from app.domain.tokens import TokenKind, new_token

LIMIT = 20
REQUESTS = 60
MAX_GUESSES = 4
LOCAL_LIMIT = LIMIT // 4
YEAR = 360 * 24 * 3600
"""Seconds. A window of an hour could end during a test, and its counts begin to fade."""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A stack with two web processes and low limits."""
    folder = tmp_path_factory.mktemp("limits")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"limits_{worker_id}"))
        yield stop.enter_context(
            running(
                folder,
                url,
                LIMIT_LOOKUP=f"{LIMIT}/year",
                LIMIT_READ=f"{LIMIT}/year",
                LIMIT_LOGIN_ADDRESS=f"{LIMIT}/year",
                LIMIT_LOGIN_ACCOUNT=f"{MAX_GUESSES}/year",
            )
        )


@pytest.fixture(scope="module")
def header_token(limited: Stack) -> str:
    """A session whose requests are used only to read the rate limit headers."""
    return limited.create_workspace()[1]


@pytest.fixture(autouse=True)
def _reset_limits(limited: Stack, header_token: str) -> None:
    wait_until(lambda: shared_quota(limited, header_token))
    with redis.Redis(port=limited.redis_port) as client:
        client.flushall()


@pytest.fixture
def token(limited: Stack) -> str:
    """A new session, for which no requests have been counted."""
    return limited.create_workspace()[1]


def lookup(stack: Stack, token: str, **headers: str) -> ApiResponse:
    body = {"subject": {"email": "nobody@nowhere.example"}}
    return stack.call("POST", "/api/ext/lookup", body, Authorization=token, **headers)


def at_once(call: Callable[[], ApiResponse], count: int = REQUESTS) -> list[ApiResponse]:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda _n: call(), range(count)))


def statuses(responses: list[ApiResponse]) -> Counter[int]:
    return Counter(response.status for response in responses)


def quota(response: ApiResponse) -> str:
    return response.headers["RateLimit-Policy"]


def test_two_processes_together_accept_exactly_the_limit(limited: Stack, token: str) -> None:
    responses = at_once(lambda: lookup(limited, token))

    assert statuses(responses) == {200: LIMIT, 429: REQUESTS - LIMIT}


@pytest.mark.parametrize("outage", ["killed", "frozen"])
def test_without_redis_the_limit_is_stricter_and_requests_do_not_hang(limited: Stack, outage: str) -> None:
    token = limited.create_workspace()[1]
    stop, restart = outages(limited)[outage]
    at_once(lambda: lookup(limited, token), LIMIT // 2)

    stop()
    try:
        responses = at_once(lambda: lookup(limited, token))
    finally:
        restart()

    counted = statuses(responses)
    assert set(counted) == {200, 429}
    assert LOCAL_LIMIT <= counted[200] <= LOCAL_LIMIT * PROCESSES
    assert {quota(response) for response in responses} == {f'"lookup";q={LOCAL_LIMIT};w={YEAR}'}
    shared = wait_until(lambda: shared_quota(limited, token))
    assert shared == f'"lookup";q={LIMIT};w={YEAR}'


def outages(stack: Stack) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    return {
        "killed": (stack.stop_redis, stack.start_redis),
        "frozen": (
            lambda: stack.redis.send_signal(signal.SIGSTOP),
            lambda: stack.redis.send_signal(signal.SIGCONT),
        ),
    }


def shared_quota(stack: Stack, token: str) -> str | None:
    """Return the policy that both processes report, or None while they still count separately."""
    quotas = {quota(response) for response in at_once(lambda: lookup(stack, token), 16)}
    return quotas.pop() if len(quotas) == 1 and f"q={LOCAL_LIMIT}" not in str(quotas) else None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/ext/session"),
        ("HEAD", "/api/ext/session"),
        ("GET", "/api/ext/%73ession"),
        ("GET", "/api/ext/session?another=one"),
    ],
)
def test_every_spelling_of_a_request_counts_towards_the_limit(
    limited: Stack, token: str, method: str, path: str
) -> None:
    at_once(lambda: limited.call("GET", "/api/ext/session", Authorization=token), LIMIT)

    connection = http.client.HTTPConnection("127.0.0.1", int(limited.base_url.rpartition(":")[2]), timeout=30)
    with closing(connection):
        connection.request(method, path, headers={"Authorization": token, "X-Forwarded-For": "203.0.113.7"})
        status = connection.getresponse().status

    assert status == 429


def test_paths_are_case_sensitive(limited: Stack, token: str) -> None:
    assert limited.call("GET", "/api/ext/Session", Authorization=token).status == 404


def test_keys_in_redis_contain_no_personal_data(limited: Stack, token: str) -> None:
    lookup(limited, token, X_Forwarded_For="203.0.113.7")
    wrong = {"email": "somebody@customer.example", "password": "not the password"}
    limited.call("POST", "/api/ext/login", wrong)
    guess_token(limited, 7)

    with redis.Redis(port=limited.redis_port) as client:
        keys = [key.decode() for key in client.scan_iter("*")]

    counted = [key for key in keys if key.startswith("LIMITS")]
    assert len(counted) > 2
    secret = token.removeprefix("Bearer ")
    assert not [key for key in counted if "@" in key or "127.0" in key or "203.0" in key or secret in key]


@pytest.fixture
def name() -> str:
    """A user name for which no password has been guessed yet."""
    return secrets.token_hex(8)


def guess_token(stack: Stack, number: int, _name: str = "") -> ApiResponse:
    token = new_token(TokenKind.SESSION)  # well-formed but unknown
    forwarded_for = f"203.0.113.{number}"
    return stack.call(
        "GET", "/api/ext/session", Authorization=f"Bearer {token}", X_Forwarded_For=forwarded_for
    )


def guess_password(stack: Stack, number: int, name: str) -> ApiResponse:
    body = {"email": f"{name}@customer.example", "password": f"guess number {number}"}
    return stack.call("POST", "/api/ext/login", body, X_Forwarded_For=f"203.0.113.{number}")


@pytest.mark.parametrize("guess", [guess_token, guess_password])
def test_guesses_are_counted_over_both_processes_whatever_address_they_claim(
    limited: Stack, guess: Callable[[Stack, int, str], ApiResponse], name: str
) -> None:
    with ThreadPoolExecutor(4) as pool:
        responses = list(pool.map(lambda number: guess(limited, number, name), range(30)))

    limit = LIMIT if guess is guess_token else MAX_GUESSES
    assert statuses(responses) == {401: limit, 429: 30 - limit}


@pytest.mark.parametrize("guess", [guess_token, guess_password])
def test_without_redis_fewer_guesses_are_accepted(
    limited: Stack, guess: Callable[[Stack, int, str], ApiResponse], name: str
) -> None:
    limited.stop_redis()
    try:
        with ThreadPoolExecutor(4) as pool:
            responses = list(pool.map(lambda number: guess(limited, number, name), range(30)))
    finally:
        limited.start_redis()

    counted = statuses(responses)
    assert set(counted) == {401, 429}
    assert counted[401] <= (LOCAL_LIMIT if guess is guess_token else 1) * PROCESSES
