"""The worker in a real gunicorn, with a minimal application and short timeouts."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest
from polling import wait_until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
APP = """
import os

import gevent
from app.domain.errors import Problem

def app(environ, start):
    path = environ["PATH_INFO"]
    status, body = "200 OK", b"done"
    if path == "/body":
        try:
            body = environ["wsgi.input"].read()
        except Problem as problem:
            status, body = f"{problem.status} x", problem.code.encode()
    if path == "/slow":
        gevent.sleep(1)
    if path == "/process":
        body = str(os.getpid()).encode()
    if path == "/large":
        body = b"x" * 8_000_000
    if path == "/broken":
        raise RuntimeError("secret")
    start(status, [("Content-Length", str(len(body)))])
    return [body]
"""
CONF = """
from app.server import connections
from app.server.connections import ReadPhase

worker_class = "app.server.web_worker.TimeoutGeventWorker"
worker_connections = 32
graceful_timeout = 5
control_socket_disable = True
sendfile = False
connections.MIN_READ_BYTES_PER_SECOND = 10**9
for phase in ReadPhase:
    phase.seconds = {seconds}
ReadPhase.HEAD.grace = ReadPhase.BODY.grace = 1
"""
REAL_CONF = f"""
exec(open({str(ROOT / "gunicorn.conf.py")!r}).read())
del post_worker_init  # which needs the service's application
"""
RARE_TICKS = """
from app.server import web_worker

web_worker.TICK_SECONDS = 20
"""
PAIR_CONF = """
from app.server import web_worker

workers = 2
web_worker.LEFT_SECONDS = 0.5  # a busy machine may suspend a process for longer than the default
"""


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), 10, (source, 0))
        connection.settimeout(10)
        return connection

    def ask(self, request: bytes) -> bytes:
        """Send a request; return all that is received until the server closes."""
        with self.connect() as connection:
            connection.sendall(request)
            return read_to_end(connection)


def get(path: str, *, close: bool = True) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\n{'Connection: close' * close}\r\n\r\n".replace(
        "\r\n\r\n\r\n", "\r\n\r\n"
    ).encode()


def read_to_end(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(1_000_000):
        pieces.append(piece)
    return b"".join(pieces)


def until_cut(connection: socket.socket) -> int:
    """Return how many bytes were received until the connection was closed or reset."""
    received = 0
    with suppress(ConnectionResetError):
        while piece := connection.recv(1_000_000):
            received += len(piece)
    return received


def problem(response: bytes) -> tuple[int, str, str]:
    head, _, body = response.partition(b"\r\n\r\n")
    header_lines = head.decode().split("\r\n")
    content_type = next(header for header in header_lines if header.startswith("Content-Type"))
    assert "Connection: close" in header_lines
    return int(header_lines[0].split()[1]), json.loads(body)["code"], content_type.partition(": ")[2]


@contextmanager
def serving(folder: Path, *options: str, seconds: float = 30, configuration: str = CONF) -> Iterator[Server]:
    """Run a server with this timeout for clients, in seconds; reading has a second of grace."""
    (folder / "tiny.py").write_text(APP)
    (folder / "conf.py").write_text(configuration.format(seconds=seconds))
    log = folder / "web.log"
    path = f"{ROOT}{os.pathsep}{folder}"
    with log.open("wb") as file, socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        port, fd = listener.getsockname()[1], listener.fileno()
        command = [sys.executable, "-m", "gunicorn", "-c", str(folder / "conf.py"), "-b", f"fd://{fd}"]
        process = subprocess.Popen(
            [*command, *options, "tiny:app"],
            env=os.environ | {"PYTHONPATH": path},
            stderr=file,
            cwd=folder,
            pass_fds=[fd],
        )
    server = Server(port, process, log)
    try:
        wait_until(lambda: answers(server))
        yield server
    finally:
        process.kill()
        process.wait()


def answers(server: Server) -> bool:
    with suppress(OSError):
        return server.ask(get("/")).endswith(b"done")
    return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a very short timeout, only for tests of timeouts: a busy machine may exceed it."""
    with serving(tmp_path_factory.mktemp("web"), seconds=0.5) as server:
        yield server


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    """A server for one test, which may stop it."""
    with serving(tmp_path) as server:
        yield server


def test_an_incomplete_head_gets_408(impatient: Server) -> None:
    response = impatient.ask(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")

    assert problem(response) == (408, "request_timeout", "application/problem+json")


def test_a_missing_body_gets_408_from_the_application(impatient: Server) -> None:
    response = impatient.ask(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")

    assert response.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in response
    assert response.endswith(b"request_timeout")


def test_an_incomplete_chunked_body_gets_408(impatient: Server) -> None:
    response = impatient.ask(
        b"POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
    )

    assert response.endswith(b"request_timeout")


def test_a_silent_connection_is_closed_without_a_response(impatient: Server) -> None:
    assert impatient.ask(b"") == b""


def test_a_connection_serves_several_requests(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(get("/", close=False))
        first = connection.recv(1000)
        connection.sendall(get("/"))
        second = read_to_end(connection)

    assert b"Connection: keep-alive" in first
    assert b"Connection: close" in second
    assert second.endswith(b"done")


def test_an_idle_connection_is_closed_without_a_response(impatient: Server) -> None:
    response = impatient.ask(get("/", close=False))

    assert response.count(b"HTTP/1.1") == 1
    assert response.endswith(b"done")


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    response = server.ask(get("/", close=False) * 9 + get("/"))

    assert response.count(b"HTTP/1.1 200 OK") == 10


def test_a_client_that_does_not_read_is_disconnected(impatient: Server) -> None:
    with impatient.connect() as connection:
        connection.sendall(get("/large"))
        time.sleep(2)  # longer than every timeout of this server
        received = until_cut(connection)

    assert received < 8_000_000
    assert answers(impatient)


def test_a_response_sent_before_the_end_of_the_body_can_be_read(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n"

    response = server.ask(head + b"x" * 10_000_000)

    assert response.endswith(b"done")


def test_a_small_unread_body_does_not_close_the_connection(server: Server) -> None:
    unwanted = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000

    response = server.ask(unwanted + get("/"))

    assert response.count(b"HTTP/1.1 200 OK") == 2


def test_a_malformed_request_gets_a_problem(server: Server) -> None:
    assert problem(server.ask(b"\x16\x03\x01\x02\r\n\r\n"))[:2] == (400, "malformed_json")


def test_a_head_that_is_too_long_gets_a_problem(server: Server) -> None:
    response = server.ask(b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n")

    assert problem(response)[:2] == (413, "payload_too_large")


def test_an_error_outside_the_application_has_no_details(server: Server) -> None:
    response = server.ask(get("/broken"))

    assert problem(response)[:2] == (500, "internal_error")
    assert b"secret" not in response


def test_one_address_cannot_hold_all_connections(server: Server) -> None:
    connections = [server.connect("127.0.0.2") for _ in range(9)]

    refused = read_to_end(connections[-1])

    assert problem(refused)[:2] == (429, "rate_limited")
    assert b"\r\nRetry-After: 10\r\n" in refused
    assert answers(server)
    for connection in connections:
        connection.close()


def test_a_new_client_is_served_while_slow_clients_hold_every_connection(tmp_path: Path) -> None:
    with serving(tmp_path) as patient, ExitStack() as slow:
        for _ in range(60):
            slow.enter_context(patient.connect()).send(b"GET")

        assert answers(patient)


def test_shutdown_answers_requests_in_flight_and_closes_idle_connections(mortal: Server) -> None:
    with ThreadPoolExecutor() as pool, mortal.connect() as idle, mortal.connect() as slow:
        idle.sendall(get("/", close=False))
        assert b"keep-alive" in idle.recv(1000)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        in_flight = [pool.submit(mortal.ask, get("/slow", close=False)) for _ in range(5)]
        time.sleep(0.3)

        mortal.process.send_signal(signal.SIGTERM)
        slow.sendall(b"\r\n")

        assert [response.result().endswith(b"done") for response in in_flight] == [True] * 5
        assert all(b"Connection: close" in response.result() for response in in_flight)
        assert read_to_end(slow).endswith(b"done")
        assert mortal.process.wait(5) == 0


def test_shutdown_disconnects_slow_clients_in_time(mortal: Server) -> None:
    with mortal.connect() as connection:
        connection.sendall(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")
        time.sleep(0.1)

        mortal.process.send_signal(signal.SIGTERM)

        assert read_to_end(connection).endswith(b"request_timeout")
        assert mortal.process.wait(5) == 0


def test_an_idle_worker_stops_without_waiting_for_its_next_tick(tmp_path: Path) -> None:
    with serving(tmp_path, configuration=CONF + RARE_TICKS) as server:
        server.process.send_signal(signal.SIGTERM)

        assert server.process.wait(4) == 0  # gunicorn would kill the worker after five seconds


def test_a_reload_fails_no_request(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as server, ThreadPoolExecutor() as pool:
        slow = [pool.submit(server.ask, get("/slow")) for _ in range(5)]
        time.sleep(0.3)

        server.process.send_signal(signal.SIGHUP)
        quick = [answers(server) for _ in range(200)]

        assert quick == [True] * 200
        assert all(response.result().endswith(b"done") for response in slow)


def test_a_worker_is_patched_like_the_process_that_forks_it(tmp_path: Path) -> None:
    with serving(tmp_path, configuration=REAL_CONF) as server:
        log = server.log.read_text()

    assert "Booting worker" in log
    assert "Warning" not in log


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Server]:
    """A server with two processes and the service's settings."""
    with serving(tmp_path, "--workers", "2", configuration=REAL_CONF + PAIR_CONF) as server:
        with ExitStack() as open_connections:
            wait_until(lambda: len(set(processes_of(server, open_connections, 10))) > 1)
        yield server


def processes_of(server: Server, open_connections: ExitStack, count: int) -> list[int]:
    """Open connections that stay open, one after the other; return the process that serves each."""
    processes = []
    for _ in range(count):
        connection = open_connections.enter_context(closing(HTTPConnection("127.0.0.1", server.port, 10)))
        connection.request("GET", "/process")
        processes.append(int(connection.getresponse().read()))
    return processes


def test_connections_that_stay_open_are_spread_over_the_processes(pair: Server) -> None:
    with ExitStack() as open_connections:
        processes = Counter(processes_of(pair, open_connections, 40))

    assert len(processes) == 2
    assert min(processes.values()) >= 10


def test_a_process_with_fewer_connections_that_does_not_respond_delays_none(pair: Server) -> None:
    with ExitStack() as open_connections:
        suspended, other = Counter(processes_of(pair, open_connections, 10))
        os.kill(suspended, signal.SIGSTOP)
        try:
            processes = processes_of(pair, open_connections, 10)
        finally:
            os.kill(suspended, signal.SIGCONT)

    assert processes == [other] * 10


def test_a_process_that_replaces_a_killed_one_gets_the_next_connections(pair: Server) -> None:
    with ExitStack() as open_connections:
        killed, other = Counter(processes_of(pair, open_connections, 20))
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: set(processes_of(pair, open_connections, 1)) - {other})

        processes = processes_of(pair, open_connections, 6)

    assert processes.count(other) <= 2
