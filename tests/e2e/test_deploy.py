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

WAITING = 50
LOOKING = 4


@dataclass
class Caller:
    """A request on its own connection, and its outcome."""

    connected_at: float
    status: int = 0
    fate: str = "answered"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack without workers."""
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(tmp_path, "deploy"))
        stack = stop.enter_context(running(tmp_path, url))
        kill(stack.workers.pop())
        yield stack


def ask(stack: Stack, path: str, body: object, **headers: str) -> Caller:
    text = json.dumps(body)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\nConnection: close\r\n{lines}"
    )
    with socket.create_connection(("127.0.0.1", int(stack.base_url.rpartition(":")[2])), 30) as line:
        caller = Caller(time.monotonic())
        try:
            line.sendall(f"{head}Content-Length: {len(text)}\r\n\r\n{text}".encode())
            answer = b"".join(iter(lambda: line.recv(65536), b""))
            caller.status = int(answer.split()[1])
        except (OSError, IndexError) as error:
            caller.fate = repr(error)
    return caller


def look_until_refused(stack: Stack, person: str, token: str) -> list[Caller]:
    callers = []
    while True:
        try:
            body = {"subject": {"contact_id": person}}
            callers.append(ask(stack, "/api/ext/lookup", body, Authorization=token))
        except ConnectionRefusedError:
            return callers


def test_a_deploy_answers_everybody_who_was_let_in_and_is_soon_over(stack: Stack) -> None:
    _workspace, token = stack.workspace(grant=WAITING)
    person = stack.contacts(1)[0]
    subjects = [{"full_name": f"Waiting {n}", "company_domain": "nobody.example"} for n in range(WAITING)]
    assert stack.web is not None
    with ThreadPoolExecutor(WAITING + LOOKING) as pool:
        waiting = [
            pool.submit(
                ask,
                stack,
                "/api/ext/reveal/email",
                {"subject": subject},
                Authorization=token,
                Prefer="wait=25",
            )
            for subject in subjects
        ]
        looking = [pool.submit(look_until_refused, stack, person, token) for _ in range(LOOKING)]
        threading.Event().wait(3)
        assert not any(future.done() for future in (*waiting, *looking))

        stack.web.send_signal(signal.SIGTERM)
        told_at = time.monotonic()
        code = stack.web.wait(15)
        took = time.monotonic() - told_at

        waited = [future.result() for future in waiting]
        looked = [caller for future in looking for caller in future.result()]
    assert code == 0
    assert took < 10
    assert {(caller.status, caller.fate) for caller in waited} == {(202, "answered")}
    let_in = [caller for caller in looked if caller.connected_at < told_at]
    assert {(caller.status, caller.fate) for caller in let_in} == {(200, "answered")}
