"""Shutdown of the API: SIGTERM while some callers wait for jobs and others send lookups."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e_stack import Stack, kill, running
from local_servers import empty_database

WAITING_CALLERS = 50
LOOKUP_CALLERS = 4


@dataclass
class Caller:
    """A request on its own connection, and its outcome."""

    connected_at: float
    status: int = 0
    outcome: str = "answered"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack without workers."""
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(tmp_path, "deploy"))
        stack = stop.enter_context(running(tmp_path, url))
        kill(stack.workers.pop())
        yield stack


def send(stack: Stack, path: str, body: object, **headers: str) -> Caller:
    text = json.dumps(body)
    header_lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\n{header_lines}"
    )
    with socket.create_connection(("127.0.0.1", int(stack.base_url.rpartition(":")[2])), 30) as connection:
        caller = Caller(time.monotonic())
        try:
            connection.sendall(f"{head}Content-Length: {len(text)}\r\n\r\n{text}".encode())
            response = b"".join(iter(lambda: connection.recv(65536), b""))
            caller.status = int(response.split()[1])
        except (OSError, IndexError) as error:
            caller.outcome = repr(error)
    return caller


def look_up_until_refused(stack: Stack, person: str, token: str) -> list[Caller]:
    callers = []
    while True:
        try:
            body = {"subject": {"contact_id": person}}
            callers.append(send(stack, "/api/ext/lookup", body, Authorization=token))
        except ConnectionRefusedError:
            return callers


def test_sigterm_answers_every_accepted_request_and_ends_within_ten_seconds(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=WAITING_CALLERS)
    person = stack.create_contacts(1)[0]
    subjects = [
        {"full_name": f"Waiting {n}", "company_domain": "nobody.example"} for n in range(WAITING_CALLERS)
    ]
    assert stack.web is not None
    with ThreadPoolExecutor(WAITING_CALLERS + LOOKUP_CALLERS) as pool:
        waiting = [
            pool.submit(
                send,
                stack,
                "/api/ext/reveal/email",
                {"subject": subject},
                Authorization=token,
                Prefer="wait=25",
            )
            for subject in subjects
        ]
        looking = [pool.submit(look_up_until_refused, stack, person, token) for _ in range(LOOKUP_CALLERS)]
        threading.Event().wait(3)
        assert not any(future.done() for future in (*waiting, *looking))

        stack.web.send_signal(signal.SIGTERM)
        signalled_at = time.monotonic()
        exit_code = stack.web.wait(15)
        seconds = time.monotonic() - signalled_at

        waiting_callers = [future.result() for future in waiting]
        lookup_callers = [caller for future in looking for caller in future.result()]
    assert exit_code == 0
    assert seconds < 10
    assert {(caller.status, caller.outcome) for caller in waiting_callers} == {(202, "answered")}
    accepted = [caller for caller in lookup_callers if caller.connected_at < signalled_at]
    assert {(caller.status, caller.outcome) for caller in accepted} == {(200, "answered")}
