"""Every process refuses a revoked token or key as soon as the revoking call has been answered."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import psutil
import pytest
from e2e_stack import PASSWORD, PROCESSES, Stack, operate
from polling import wait_until

EVERY_SECONDS = 0.05
Revoke = Callable[[], int]


@dataclass
class Poll:
    """Polls one process every 50 ms with a token; records the time and status of each response."""

    connection: http.client.HTTPConnection
    authorization: str
    seen: list[tuple[float, int]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stopped.wait(EVERY_SECONDS):
            asked_at = time.monotonic()
            self.connection.request("GET", "/api/ext/session", headers={"Authorization": self.authorization})
            with self.connection.getresponse() as response:
                response.read()
            self.seen.append((asked_at, response.status))

    def accepted_since(self, moment: float) -> list[float]:
        return [asked_at - moment for asked_at, status in self.seen if asked_at > moment and status != 401]


@pytest.fixture(scope="module")
def connections(stack: Stack) -> Iterator[list[http.client.HTTPConnection]]:
    """One persistent connection to each of the processes."""
    with ExitStack() as stop:
        found: dict[int, http.client.HTTPConnection] = {}

        def connect() -> bool:
            address = stack.base_url.removeprefix("http://")
            connection = stop.enter_context(closing(http.client.HTTPConnection(address, timeout=30)))
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            found.setdefault(_process_behind(connection), connection)
            return len(found) == PROCESSES

        wait_until(connect)
        yield list(found.values())


def logout(stack: Stack, session: str) -> tuple[str, Revoke]:
    return session, lambda: stack.call("POST", "/api/ext/logout", Authorization=session).status


def end_a_session(stack: Stack, session: str) -> tuple[str, Revoke]:
    listed = stack.call("GET", "/api/sessions", Authorization=session).body["sessions"]
    path = f"/api/sessions/{listed[0]['id']}"
    other = _sign_in(stack, session)
    return session, lambda: stack.call("DELETE", path, Authorization=other).status


def end_other_sessions(stack: Stack, session: str) -> tuple[str, Revoke]:
    other = _sign_in(stack, session)
    return session, lambda: stack.call("DELETE", "/api/sessions", Authorization=other).status


def revoke_a_key(stack: Stack, session: str) -> tuple[str, Revoke]:
    made = _key(stack, session)
    return (
        f"Bearer {made['key']}",
        lambda: stack.call("DELETE", f"/api/keys/{made['id']}", Authorization=session).status,
    )


def change_the_password(stack: Stack, session: str) -> tuple[str, Revoke]:
    body = {"current_password": PASSWORD, "new_password": f"{PASSWORD}, again"}
    return session, lambda: stack.call("POST", "/api/password", body, Authorization=session).status


def disable_the_account(stack: Stack, session: str) -> tuple[str, Revoke]:
    return session, _command(stack, "disable", session)


def sign_the_account_out(stack: Stack, session: str) -> tuple[str, Revoke]:
    return session, _command(stack, "sign-out", session)


def take_api_access_away(stack: Stack, session: str) -> tuple[str, Revoke]:
    return f"Bearer {_key(stack, session)['key']}", _command(stack, "revoke-api-access", session)


@pytest.mark.parametrize(
    "way",
    [
        logout,
        end_a_session,
        end_other_sessions,
        revoke_a_key,
        change_the_password,
        disable_the_account,
        sign_the_account_out,
        take_api_access_away,
    ],
)
def test_what_is_revoked_is_accepted_for_no_time_by_any_process(
    stack: Stack,
    connections: list[http.client.HTTPConnection],
    way: Callable[[Stack, str], tuple[str, Revoke]],
) -> None:
    _workspace, session = stack.workspace()
    authorization, revoke = way(stack, session)
    polls = [Poll(connection, authorization) for connection in connections]

    with ThreadPoolExecutor(PROCESSES) as threads:
        running_polls = [threads.submit(poll.run) for poll in polls]
        wait_until(lambda: all(len(poll.seen) > 3 for poll in polls))
        before = [status for poll in polls for _, status in poll.seen[:3]]
        status = revoke()
        answered_at = time.monotonic()
        wait_until(lambda: all(poll.seen[-1][0] > answered_at + 5 * EVERY_SECONDS for poll in polls))
        for poll in polls:
            poll.stopped.set()
    for each in running_polls:
        each.result()

    assert (before, status) == ([200] * 6, 204)
    assert [poll.accepted_since(answered_at) for poll in polls] == [[]] * PROCESSES


def test_a_request_that_waits_is_not_answered_to_a_session_that_ended_meanwhile_and_its_job_goes_on(
    stack: Stack,
) -> None:
    _workspace, session = stack.workspace(grant=5)
    again = _sign_in(stack, session)
    body = {"subject": {"full_name": "Slow Sandbox", "company_domain": "sandbox.example"}}

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(
            stack.call, "POST", "/api/ext/reveal/email", body, Authorization=session, Prefer="wait=25"
        )
        wait_until(lambda: stack.call("GET", "/api/ext/jobs", Authorization=again).body["jobs"])
        stack.call("POST", "/api/ext/logout", Authorization=session)
        refused = waiting.result()

    (job,) = stack.call("GET", "/api/ext/jobs", Authorization=again).body["jobs"]
    polled = stack.call("GET", f"/api/ext/jobs?id={job['id']}", Authorization=again, Prefer="wait=25")
    assert (refused.status, refused.code) == (401, "token_revoked")
    assert "result" not in refused.body
    assert (polled.body["job"]["outcome"], polled.body["credits"]["charged"]) == ("found", 1)


def _process_behind(connection: http.client.HTTPConnection) -> int:
    """Return the id of the server process that accepted the connection."""
    port = connection.sock.getsockname()[1]
    for process in psutil.Process().children(recursive=True):
        if any(one.raddr and one.raddr.port == port for one in process.net_connections("tcp")):
            return process.pid
    pytest.fail("no process has taken the connection")


def _sign_in(stack: Stack, session: str) -> str:
    body = {"email": _email(stack, session), "password": PASSWORD}
    token = stack.call("POST", "/api/ext/login", body).body["access_token"]
    return f"Bearer {token}"


def _key(stack: Stack, session: str) -> dict[str, str]:
    made: dict[str, str] = stack.call("POST", "/api/keys", {"name": "walk"}, Authorization=session).body
    return made


def _email(stack: Stack, session: str) -> str:
    email: str = stack.call("GET", "/api/ext/session", Authorization=session).body["account"]["email"]
    return email


def _command(stack: Stack, word: str, session: str) -> Revoke:
    """Return a function that runs the operator's command and returns 204, as the endpoints do."""
    email = _email(stack, session)

    def run() -> int:
        operate(stack.environment, "accounts", word, email)
        return 204

    return run
