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
from e2e_stack import PROCESSES, Answer, Stack, running
from local_servers import empty_database
from polling import wait_until

from app.domain.tokens import TokenKind, new_token

MOST = 20
REQUESTS = 60
GUESSES = 4
ALONE = MOST // 4


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
                LIMIT_LOOKUP=f"{MOST}/hour",
                LIMIT_READ=f"{MOST}/hour",
                LIMIT_LOGIN_ADDRESS=f"{MOST}/hour",
                LIMIT_LOGIN_ACCOUNT=f"{GUESSES}/hour",
            )
        )


@pytest.fixture(scope="module")
def watcher(limited: Stack) -> str:
    """A session whose requests are used only to read the rate limit headers."""
    return limited.workspace()[1]


@pytest.fixture(autouse=True)
def _nothing_counted(limited: Stack, watcher: str) -> None:
    wait_until(lambda: together(limited, watcher))
    with redis.Redis(port=limited.redis_port) as client:
        client.flushall()


@pytest.fixture
def token(limited: Stack) -> str:
    """A new session, for which no requests have been counted."""
    return limited.workspace()[1]


def lookup(stack: Stack, token: str, **headers: str) -> Answer:
    body = {"subject": {"email": "nobody@nowhere.example"}}
    return stack.call("POST", "/api/ext/lookup", body, Authorization=token, **headers)


def at_once(call: Callable[[], Answer], count: int = REQUESTS) -> list[Answer]:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda _n: call(), range(count)))


def statuses(answers: list[Answer]) -> Counter[int]:
    return Counter(answer.status for answer in answers)


def quota(answer: Answer) -> str:
    return answer.headers["RateLimit-Policy"]


def test_two_processes_together_let_exactly_so_many_through(limited: Stack, token: str) -> None:
    answers = at_once(lambda: lookup(limited, token))

    assert statuses(answers) == {200: MOST, 429: REQUESTS - MOST}


@pytest.mark.parametrize("way", ["killed", "frozen"])
def test_without_redis_the_limit_holds_more_strictly_and_nobody_waits(limited: Stack, way: str) -> None:
    token = limited.workspace()[1]
    leave, come_back = ways(limited)[way]
    at_once(lambda: lookup(limited, token), MOST // 2)

    leave()
    try:
        answers = at_once(lambda: lookup(limited, token))
    finally:
        come_back()

    counted = statuses(answers)
    assert set(counted) == {200, 429}
    assert ALONE <= counted[200] <= ALONE * PROCESSES
    assert {quota(answer) for answer in answers} == {f'"lookup";q={ALONE};w=3600'}
    shared = wait_until(lambda: together(limited, token))
    assert shared == f'"lookup";q={MOST};w=3600'


def ways(stack: Stack) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    return {
        "killed": (stack.stop_redis, stack.start_redis),
        "frozen": (
            lambda: stack.redis.send_signal(signal.SIGSTOP),
            lambda: stack.redis.send_signal(signal.SIGCONT),
        ),
    }


def together(stack: Stack, token: str) -> str | None:
    """Return the policy that both processes report, or None while they still count separately."""
    told = {quota(answer) for answer in at_once(lambda: lookup(stack, token), 16)}
    return told.pop() if len(told) == 1 and f"q={ALONE}" not in str(told) else None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/ext/session"),
        ("HEAD", "/api/ext/session"),
        ("GET", "/api/ext/%73ession"),
        ("GET", "/api/ext/session?another=one"),
    ],
)
def test_no_spelling_of_a_request_escapes_the_limit(
    limited: Stack, token: str, method: str, path: str
) -> None:
    at_once(lambda: limited.call("GET", "/api/ext/session", Authorization=token), MOST)

    line = http.client.HTTPConnection("127.0.0.1", int(limited.base_url.rpartition(":")[2]), timeout=30)
    with closing(line):
        line.request(method, path, headers={"Authorization": token, "X-Forwarded-For": "203.0.113.7"})
        status = line.getresponse().status

    assert status == 429


def test_another_case_of_a_path_is_another_path(limited: Stack, token: str) -> None:
    assert limited.call("GET", "/api/ext/Session", Authorization=token).status == 404


def test_keys_in_redis_name_nobody(limited: Stack, token: str) -> None:
    lookup(limited, token, X_Forwarded_For="203.0.113.7")
    wrong = {"email": "somebody@walkers.example", "password": "not the password"}
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


def guess_token(stack: Stack, number: int, _name: str = "") -> Answer:
    token = new_token(TokenKind.SESSION)  # well-formed but unknown
    elsewhere = f"203.0.113.{number}"
    return stack.call("GET", "/api/ext/session", Authorization=f"Bearer {token}", X_Forwarded_For=elsewhere)


def guess_password(stack: Stack, number: int, name: str) -> Answer:
    body = {"email": f"{name}@walkers.example", "password": f"guess number {number}"}
    return stack.call("POST", "/api/ext/login", body, X_Forwarded_For=f"203.0.113.{number}")


@pytest.mark.parametrize("guess", [guess_token, guess_password])
def test_guesses_are_counted_over_both_processes_wherever_they_say_they_come_from(
    limited: Stack, guess: Callable[[Stack, int, str], Answer], name: str
) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: guess(limited, number, name), range(30)))

    most = MOST if guess is guess_token else GUESSES
    assert statuses(answers) == {401: most, 429: 30 - most}


@pytest.mark.parametrize("guess", [guess_token, guess_password])
def test_without_redis_fewer_guesses_pass(
    limited: Stack, guess: Callable[[Stack, int, str], Answer], name: str
) -> None:
    limited.stop_redis()
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda number: guess(limited, number, name), range(30)))
    finally:
        limited.start_redis()

    counted = statuses(answers)
    assert set(counted) == {401, 429}
    assert counted[401] <= (ALONE if guess is guess_token else 1) * PROCESSES
