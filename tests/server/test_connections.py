from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

from app.domain.errors import RequestTimeout
from app.server import connections
from app.server.client_networks import client_network
from app.server.connections import Connection, ConnectionRegistry, ReadPhase

FAR = ("203.0.113.7", 50000)


class Line:
    """A socket pair: the client's end and the service's registered end."""

    def __init__(self, everyone: ConnectionRegistry, peer: object = FAR) -> None:
        self.client, self._server = socket.socketpair()
        entered = everyone.register(self._server, peer)
        assert entered is not None
        self.connection: Connection = entered

    def close(self) -> None:
        self.client.close()
        self._server.close()


@pytest.fixture
def everyone() -> ConnectionRegistry:
    return ConnectionRegistry(1000)


@pytest.fixture
def line(everyone: ConnectionRegistry) -> Iterator[Line]:
    line = Line(everyone)
    yield line
    line.close()


def shorten(monkeypatch: pytest.MonkeyPatch, phase: ReadPhase, seconds: float = 0.05) -> None:
    monkeypatch.setattr(phase, "seconds", seconds)


def cuts(reason: str) -> float:
    return REGISTRY.get_sample_value("ext_connections_cut_total", {"reason": reason}) or 0


def count(everyone: ConnectionRegistry, home: str) -> int:
    return everyone._by_network[home]  # noqa: SLF001 -- the count has no public accessor


def test_sent_bytes_are_received(line: Line) -> None:
    line.client.sendall(b"GET")

    assert line.connection.recv(100) == b"GET"


def test_a_disconnected_client_yields_no_bytes(line: Line) -> None:
    line.client.close()

    assert line.connection.recv(100) == b""


@pytest.mark.parametrize("phase", [ReadPhase.HEAD, ReadPhase.BODY])
def test_a_request_that_does_not_arrive_times_out(
    line: Line, phase: ReadPhase, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, phase)
    before = cuts(phase.label)
    line.connection.begin(phase)

    with pytest.raises(RequestTimeout):
        line.connection.recv(100)

    assert line.connection.is_last
    assert cuts(phase.label) == before + 1


def read_to_the_end(connection: Connection) -> None:
    while connection.recv(1):
        pass


def test_occasional_bytes_do_not_extend_the_timeout(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, ReadPhase.BODY, 0.3)
    line.connection.begin(ReadPhase.BODY)
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.02):
            line.client.send(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    with pytest.raises(RequestTimeout):
        read_to_the_end(line.connection)
    stop.set()
    dripping.join()

    assert line.connection.is_last


def test_a_new_phase_has_a_new_timeout(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, ReadPhase.HEAD, 0.0)
    line.connection.begin(ReadPhase.HEAD)
    line.client.sendall(b"{}")

    line.connection.begin(ReadPhase.BODY)

    assert line.connection.recv(100) == b"{}"


def test_a_client_that_never_reads_times_out(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, ReadPhase.RESPONSE)
    monkeypatch.setattr(connections, "MIN_READ_BYTES_PER_SECOND", 10**9)
    before = cuts("answer")

    with pytest.raises(ConnectionAbortedError):
        line.connection.sendall(b"x" * 10_000_000)

    assert cuts("answer") == before + 1


def test_a_response_in_pieces_has_a_single_timeout(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.connection.sendall(b"first")
    late = time.monotonic() + ReadPhase.RESPONSE.seconds + 1
    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: late))

    with pytest.raises(ConnectionAbortedError):
        line.connection.sendall(b"second")


def test_a_long_response_has_a_longer_timeout(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, ReadPhase.RESPONSE, 0.0)
    received: list[bytes] = []

    def read_later() -> None:
        time.sleep(0.05)
        while piece := line.client.recv(1_000_000):
            received.append(piece)

    reading = threading.Thread(target=read_later)
    reading.start()
    line.connection.sendall(b"x" * 2_000_000)
    line.connection.end_sending()
    reading.join()

    assert sum(map(len, received)) == 2_000_000


def test_an_interim_response_does_not_end_the_body_phase(line: Line) -> None:
    line.connection.begin(ReadPhase.BODY)

    line.connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    assert line.connection.phase is ReadPhase.BODY
    assert line.client.recv(100).startswith(b"HTTP/1.1 100")


def wait_for(connection: Connection, everyone: ConnectionRegistry) -> tuple[threading.Thread, list[object]]:
    """Receive from this client in a thread; return the thread and a list that gets the outcome."""
    outcome: list[object] = []

    def wait() -> None:
        try:
            outcome.append(connection.recv(100))
        except RequestTimeout as error:
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while connection not in everyone.waited_for:
        time.sleep(0.001)
    return thread, outcome


def test_the_connection_waited_for_longest_is_evicted_first() -> None:
    everyone = ConnectionRegistry(32)  # two slots are kept free, and one connection is dropped at a time
    lines = [Line(everyone, (f"203.0.113.{number}", 1)) for number in range(30)]
    patient, outcome = wait_for(lines[1].connection, everyone)
    other, still = wait_for(lines[0].connection, everyone)
    lines[0].connection.since += 1

    lines.append(Line(everyone, ("203.0.113.99", 1)))
    patient.join(5)

    assert isinstance(outcome[0], RequestTimeout)
    assert still == []
    lines[0].client.sendall(b"here")
    other.join(5)
    assert still == [b"here"]
    for line in lines:
        line.close()


def test_a_burst_of_connections_evicts_once() -> None:
    everyone = ConnectionRegistry(160)  # ten slots are kept free, and five connections are dropped at a time
    lines = [Line(everyone, (f"203.0.113.{number}", 1)) for number in range(150)]
    everyone.waited_for.update(line.connection for line in lines)

    lines += [Line(everyone, (f"198.51.100.{number}", 1)) for number in range(5)]

    assert sum(line.connection.is_aborted for line in lines) == 5
    for line in lines:
        line.close()


def test_more_connections_are_evicted_after_the_first_have_closed() -> None:
    everyone = ConnectionRegistry(32)  # two slots are kept free, and one connection is dropped at a time
    lines = [Line(everyone, (f"203.0.113.{number}", 1)) for number in range(30)]
    everyone.waited_for.update(line.connection for line in lines)
    lines.append(Line(everyone, ("198.51.100.1", 1)))
    [gone] = [line for line in lines if line.connection.is_aborted]
    everyone.unregister(gone.connection)
    everyone.waited_for.discard(gone.connection)

    lines.append(Line(everyone, ("198.51.100.2", 1)))

    assert sum(line.connection.is_aborted for line in lines) == 2
    for line in lines:
        line.close()


def test_a_client_that_waits_for_the_service_is_never_evicted() -> None:
    everyone = ConnectionRegistry(4)
    lines = [Line(everyone, (f"203.0.113.{number}", 1)) for number in range(4)]

    assert not any(line.connection.is_aborted for line in lines)
    for line in lines:
        line.close()


def test_one_address_gets_at_most_its_share_of_the_connections(everyone: ConnectionRegistry) -> None:
    server, client = socket.socketpair()

    entered = [everyone.register(server, FAR) is not None for _ in range(251)]

    assert entered == [True] * 250 + [False]
    assert everyone.register(server, ("203.0.113.8", 50000)) is not None
    server.close()
    client.close()


def test_a_closed_connection_frees_its_place(everyone: ConnectionRegistry, line: Line) -> None:
    everyone.unregister(line.connection)

    assert count(everyone, "203.0.113.7") == 0
    assert dict(everyone._by_network) == {}  # noqa: SLF001 -- nothing of a closed connection is retained


@pytest.mark.parametrize("peer", [("127.0.0.1", 1), ("::1", 1, 0, 0), "", b"", ("::ffff:127.0.0.1", 1)])
def test_loopback_addresses_are_not_limited(peer: object) -> None:
    everyone = ConnectionRegistry(4)
    server, client = socket.socketpair()

    assert all(everyone.register(server, peer) for _ in range(4))
    server.close()
    client.close()


def test_proxies_are_not_limited() -> None:
    everyone = ConnectionRegistry(4)
    everyone.by_address = False
    server, client = socket.socketpair()

    assert all(everyone.register(server, FAR) for _ in range(4))
    server.close()
    client.close()


@pytest.mark.parametrize(
    ("peer", "home"),
    [
        (("203.0.113.7", 1), "203.0.113.7"),
        (("2001:db8:1:2:3::4", 1, 0, 0), "2001:0db8:0001:0002"),
        (("2001:db8:1:2:ffff::", 1, 0, 0), "2001:0db8:0001:0002"),
        (("2001:db8:1:3::4", 1, 0, 0), "2001:0db8:0001:0003"),
        (("::ffff:203.0.113.7", 1, 0, 0), "203.0.113.7"),
        (("fe80::1%eth0", 1, 0, 2), "fe80:0000:0000:0000"),
        ("", ""),
        (None, ""),
        ((), ""),
    ],
)
def test_ipv4_is_counted_by_address_and_ipv6_by_network(peer: object, home: str) -> None:
    assert client_network(peer) == home


def test_shutdown_closes_idle_connections_at_once_and_others_after_their_grace(everyone: ConnectionRegistry) -> None:
    idle, sending = Line(everyone), Line(everyone)
    idle.connection.begin(ReadPhase.IDLE)
    sending.connection.begin(ReadPhase.HEAD)
    ended, outcome = wait_for(idle.connection, everyone)
    going_on, still = wait_for(sending.connection, everyone)

    everyone.close(0)
    ended.join(5)

    assert isinstance(outcome[0], RequestTimeout)
    assert still == []
    everyone.close(ReadPhase.HEAD.grace)
    going_on.join(5)
    assert isinstance(still[0], RequestTimeout)
    idle.close()
    sending.close()


def test_a_connection_closed_by_the_shutdown_is_counted_once(everyone: ConnectionRegistry, line: Line) -> None:
    line.connection.begin(ReadPhase.HEAD)
    everyone.waited_for.add(line.connection)
    before = cuts("closing")

    everyone.close(ReadPhase.HEAD.grace)
    everyone.close(ReadPhase.HEAD.grace + 1)

    assert cuts("closing") == before + 1


def test_during_shutdown_every_response_closes_its_connection(everyone: ConnectionRegistry, line: Line) -> None:
    everyone.close(0)

    assert line.connection.is_last
