"""Clients that stop in the middle of a body: what they cost the API, and what others notice."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from e2e_stack import Stack, is_ready, running
from local_servers import empty_database
from polling import wait_until

MB = 1_000_000
CONNECTIONS = 20
SENT = 6 * MB
GROWTH = 40 * MB
"""Less than half of what was sent; the API kept all of it in memory."""
BOUNDARY = b"unfinished"
PART = b'--unfinished\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n'


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("unfinished")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"unfinished_{worker_id}"))
        settings = {"WEB_CONCURRENCY": "1", "SPOOL_MAX_MB": "400"}
        yield stop.enter_context(running(folder, url, **settings))


def start_upload(
    stop: ExitStack, stack: Stack, token: str, *, sent: int = SENT, form: bool = False
) -> socket.socket:
    """Send a part of an upload of twice as many bytes; return its connection."""
    kind = "multipart/form-data; boundary=unfinished" if form else "text/csv"
    head = (
        f"POST /api/uploads HTTP/1.1\r\nHost: api\r\nAuthorization: {token}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {2 * sent}\r\n\r\n"
    )
    port = int(stack.base_url.rpartition(":")[2])
    connection = stop.enter_context(socket.create_connection(("127.0.0.1", port), 30))
    connection.sendall(head.encode() + (PART if form else b"") + b"x" * sent)
    return connection


def spooled(stack: Stack) -> int:
    """Return the bytes of the files without a name that the API has on the disk of its spool."""
    device = Path(stack.environment["SPOOL_FOLDER"]).stat().st_dev
    size = 0
    for web in processes(stack):
        for entry in Path(f"/proc/{web.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                file = entry.stat()
                size += file.st_size if not file.st_nlink and file.st_dev == device else 0
    return size


def processes(stack: Stack) -> list[psutil.Process]:
    assert stack.web is not None
    web = psutil.Process(stack.web.pid)
    return [web, *web.children(recursive=True)]


def memory(stack: Stack) -> int:
    return sum(web.memory_full_info().uss for web in processes(stack))


def status(connection: socket.socket) -> int:
    return int(connection.recv(65_536).split()[1])


@pytest.mark.parametrize("form", [False, True])
def test_unfinished_uploads_are_on_disk_and_not_in_memory(stack: Stack, *, form: bool) -> None:
    tokens = [stack.create_workspace()[1] for _ in range(CONNECTIONS)]
    before = memory(stack)

    with ExitStack() as stop:
        for token in tokens:
            start_upload(stop, stack, token, form=form)
        wait_until(lambda: spooled(stack) > CONNECTIONS * SENT * 0.9)
        grown = memory(stack) - before

    assert grown < GROWTH
    wait_until(lambda: spooled(stack) == 0)


def test_a_workspace_that_leaves_its_uploads_unfinished_is_refused_and_another_uploads(stack: Stack) -> None:
    greedy, another = (stack.create_workspace()[1] for _ in range(2))

    with ExitStack() as stop:
        unfinished = [start_upload(stop, stack, greedy, sent=8 * MB) for _ in range(14)]
        refused = status(unfinished[-1])
        whole = start_upload(stop, stack, another, sent=MB)
        whole.sendall(b"x" * MB)
        accepted = status(whole)

    assert (refused, accepted) == (429, 201)


def test_a_killed_api_leaves_no_file(stack: Stack) -> None:
    _workspace, token = stack.create_workspace()
    _master, worker = processes(stack)

    with ExitStack() as stop:
        start_upload(stop, stack, token)
        wait_until(lambda: spooled(stack) > SENT * 0.9)
        os.kill(worker.pid, signal.SIGKILL)
        wait_until(lambda: not worker.is_running())

    assert list(Path(stack.environment["SPOOL_FOLDER"]).iterdir()) == []
    wait_until(lambda: spooled(stack) == 0)
    wait_until(lambda: is_ready(stack))


def test_a_stranger_takes_no_room(stack: Stack) -> None:
    shutil.rmtree(stack.environment["SPOOL_FOLDER"], ignore_errors=True)

    with ExitStack() as stop:
        refused = status(start_upload(stop, stack, "Bearer ses_unknown"))

    assert refused == 401
    assert not Path(stack.environment["SPOOL_FOLDER"]).exists()
