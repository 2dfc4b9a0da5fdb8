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
from e2e_stack import PASSWORD, PROCESSES, Stack, run_flask
from polling import wait_until

EVERY_SECONDS = 0.05
Revoke = Callable[[], int]


@dataclass
class Poller:
    """Polls one process every 50 ms with a token; records the time and status of each response."""

    connection: http.client.HTTPConnection
    authorization: str
    responses: list[tuple[float, int]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stopped.wait(EVERY_SECONDS):
            sent_at = time.monotonic()
            self.connection.request("GET", "/api/ext/session", headers={"Authorization": self.authorization})
            with self.connection.getresponse() as response:
                response.read()
            self.responses.append((sent_at, response.status))

    def accepted_since(self, moment: float) -> list[float]:
        return [sent_at - moment for sent_at, status in self.responses if sent_at > moment and status != 401]


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
    key = _key(stack, session)
    return (
        f"Bearer {key['key']}",
        lambda: stack.call("DELETE", f"/api/keys/{key['id']}", Authorization=session).status,
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
    "method",
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
def test_every_process_refuses_a_revoked_token_at_once(
    stack: Stack,
    connections: list[http.client.HTTPConnection],
    method: Callable[[Stack, str], tuple[str, Revoke]],
) -> None:
    _workspace, session = stack.create_workspace()
    authorization, revoke = method(stack, session)
    pollers = [Poller(connection, authorization) for connection in connections]

    with ThreadPoolExecutor(PROCESSES) as threads:
        running = [threads.submit(poller.run) for poller in pollers]
        wait_until(lambda: all(len(poller.responses) > 3 for poller in pollers))
        before = [status for poller in pollers for _, status in poller.responses[:3]]
        status = revoke()
        answered_at = time.monotonic()
        wait_until(
            lambda: all(poller.responses[-1][0] > answered_at + 5 * EVERY_SECONDS for poller in pollers)
        )
        for poller in pollers:
            poller.stopped.set()
    for future in running:
        future.result()

    assert (before, status) == ([200] * 6, 204)
    assert [poller.accepted_since(answered_at) for poller in pollers] == [[]] * PROCESSES


def test_a_waiting_request_is_refused_once_its_session_has_ended_and_its_job_continues(
    stack: Stack,
) -> None:
    _workspace, session = stack.create_workspace(grant=5)
    again = _sign_in(stack, session)
    body = {"subject": {"contact_id": stack.create_contacts(1)[0]}}

    with ThreadPoolExecutor(1) as threads:
        with stack.suspended_workers():
            waiting = threads.submit(
                stack.call, "POST", "/api/ext/reveal/email", body, Authorization=session, Prefer="wait=25"
            )
            (job,) = wait_until(lambda: stack.call("GET", "/api/ext/jobs", Authorization=again).body["jobs"])
            stack.call("POST", "/api/ext/logout", Authorization=session)
            path = f"/api/ext/jobs?id={job['id']}"
            stack.call(
                "GET", path, Authorization=again, Prefer="wait=2"
            )  # tokens are rechecked after a second
        refused = waiting.result()

    polled = stack.call("GET", path, Authorization=again, Prefer="wait=25")
    assert (refused.status, refused.code) == (401, "token_revoked")
    assert "result" not in refused.body
    assert (polled.body["job"]["outcome"], polled.body["credits"]["charged"]) == ("found", 1)


def _process_behind(connection: http.client.HTTPConnection) -> int:
    """Return the id of the server process that accepted the connection."""
    port = connection.sock.getsockname()[1]
    for process in psutil.Process().children(recursive=True):
        if any(item.raddr and item.raddr.port == port for item in process.net_connections("tcp")):
            return process.pid
    pytest.fail("no server process has this connection")


def _sign_in(stack: Stack, session: str) -> str:
    body = {"email": _email(stack, session), "password": PASSWORD}
    token = stack.call("POST", "/api/ext/login", body).body["access_token"]
    return f"Bearer {token}"


def _key(stack: Stack, session: str) -> dict[str, str]:
    key: dict[str, str] = stack.call("POST", "/api/keys", {"name": "test"}, Authorization=session).body
    return key


def _email(stack: Stack, session: str) -> str:
    email: str = stack.call("GET", "/api/ext/session", Authorization=session).body["account"]["email"]
    return email


def _command(stack: Stack, command: str, session: str) -> Revoke:
    """Return a function that runs the operator's command and returns 204, as the endpoints do."""
    email = _email(stack, session)

    def run() -> int:
        run_flask(stack.environment, "accounts", command, email)
        return 204

    return run
