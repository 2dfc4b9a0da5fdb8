from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from chaos.system.proxy import Mode, Proxy
from tools.services import ports

Connect = Callable[[], socket.socket]


def serve(listener: socket.socket) -> None:
    """Echo every connection."""
    with suppress(OSError):
        while True:
            connection, _address = listener.accept()
            threading.Thread(target=echo, args=(connection,), daemon=True).start()


def echo(connection: socket.socket) -> None:
    with suppress(OSError), connection:
        while chunk := connection.recv(1024):
            connection.sendall(chunk)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        proxy = Proxy(listener.getsockname()[1])
        yield proxy
        proxy.stop()
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def connect(proxy: Proxy) -> Iterator[Connect]:
    port = proxy.start()
    connections: list[socket.socket] = []

    def open_connection() -> socket.socket:
        connections.append(socket.create_connection((ports.LOOPBACK, port), timeout=10))
        return connections[-1]

    yield open_connection
    for connection in connections:
        connection.close()


def test_data_is_forwarded_both_ways(connect: Connect) -> None:
    connection = connect()

    connection.sendall(b"hello")

    assert connection.recv(5) == b"hello"


def test_latency_delays_every_chunk_both_ways(connect: Connect, proxy: Proxy) -> None:
    connection = connect()
    proxy.set(Mode.LATENCY, latency=0.1)
    started = time.monotonic()

    connection.sendall(b"hello")

    assert connection.recv(5) == b"hello"
    assert time.monotonic() - started >= 0.2


def test_a_reset_closes_open_connections(connect: Connect, proxy: Proxy) -> None:
    connection = connect()
    connection.sendall(b"hello")
    connection.recv(5)

    proxy.set(Mode.RESET)

    with pytest.raises(ConnectionResetError):
        connection.recv(5)


def test_a_reset_also_refuses_new_connections(connect: Connect, proxy: Proxy) -> None:
    first = connect()
    first.sendall(b"hello")
    first.recv(5)
    proxy.set(Mode.RESET)

    with pytest.raises(ConnectionError):
        connect().recv(5)


def test_a_black_hole_holds_data_back_until_the_mode_changes(connect: Connect, proxy: Proxy) -> None:
    connection = connect()
    connection.sendall(b"hello")
    connection.recv(5)
    proxy.set(Mode.BLACKHOLE)
    connection.sendall(b"again")
    connection.settimeout(0.2)
    with pytest.raises(TimeoutError):
        connection.recv(5)
    connection.settimeout(10)

    proxy.set(Mode.PASS)

    assert connection.recv(5) == b"again"


def read_one_byte(port: int) -> bytes:
    with socket.create_connection((ports.LOOPBACK, port), timeout=10) as connection:
        return connection.recv(1)


def test_a_connection_to_a_server_that_is_down_is_reset() -> None:
    proxy = Proxy(ports.any_free())
    port = proxy.start()

    with pytest.raises(ConnectionResetError):  # at once, or a moment later
        read_one_byte(port)

    proxy.stop()
