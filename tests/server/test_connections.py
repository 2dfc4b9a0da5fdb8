from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

from app.domain.errors import PayloadTooLarge, RequestTimeout
from app.server import connections
from app.server.client_networks import client_network
from app.server.connections import Connection, ConnectionRegistry, ReadPhase

FAR = ("203.0.113.7", 50000)


class ConnectedClient:
    """A socket pair: the client's end and the service's registered end."""

    def __init__(self, registry: ConnectionRegistry, peer: object = FAR) -> None:
        self.socket, self._server = socket.socketpair()
        entered = registry.register(self._server, peer)
        assert entered is not None
        self.connection: Connection = entered

    def close(self) -> None:
        self.socket.close()
        self._server.close()


@pytest.fixture
def registry() -> ConnectionRegistry:
    return ConnectionRegistry(1000)


@pytest.fixture
def client(registry: ConnectionRegistry) -> Iterator[ConnectedClient]:
    client = ConnectedClient(registry)
    yield client
    client.close()


def shorten(monkeypatch: pytest.MonkeyPatch, phase: ReadPhase, seconds: float = 0.05) -> None:
    monkeypatch.setattr(phase, "seconds", seconds)


def cuts(reason: str) -> float:
    return REGISTRY.get_sample_value("ext_connections_cut_total", {"reason": reason}) or 0


def count(registry: ConnectionRegistry, network: str) -> int:
    return registry._by_network[network]  # noqa: SLF001 -- the count has no public accessor


def test_sent_bytes_are_received(client: ConnectedClient) -> None:
    client.socket.sendall(b"GET")

    assert client.connection.recv(100) == b"GET"


def test_a_disconnected_client_yields_no_bytes(client: ConnectedClient) -> None:
    client.socket.close()

    assert client.connection.recv(100) == b""


@pytest.mark.parametrize("phase", [ReadPhase.HEAD, ReadPhase.BODY])
def test_a_request_that_does_not_arrive_times_out(
    client: ConnectedClient, phase: ReadPhase, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, phase)
    before = cuts(phase.label)
    client.connection.begin(phase)

    with pytest.raises(RequestTimeout):
        client.connection.recv(100)

    assert client.connection.is_last
    assert cuts(phase.label) == before + 1


def read_to_the_end(connection: Connection) -> None:
    while connection.recv(1):
        pass


def test_occasional_bytes_do_not_extend_the_timeout(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, ReadPhase.BODY, 0.3)
    client.connection.begin(ReadPhase.BODY)
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.02):
            client.socket.send(b"x")

    dripping = threading.Thread(target=drip)
    dripping.start()
    with pytest.raises(RequestTimeout):
        read_to_the_end(client.connection)
    stop.set()
    dripping.join()

    assert client.connection.is_last


def left(connection: Connection) -> float:
    """Return for how many seconds the connection waits at most."""
    return connection._deadline - time.monotonic()  # noqa: SLF001 - the deadline has no public accessor


def test_a_body_that_arrives_at_the_minimum_rate_may_take_longer(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MIN_SEND_BYTES_PER_SECOND", 1)
    client.connection.begin(ReadPhase.BODY)
    client.connection._deadline -= 10  # noqa: SLF001 - as if ten seconds had passed
    client.socket.sendall(b"5 bts")

    client.connection.recv(100)

    assert 14 < left(client.connection) < 15


def test_a_body_that_arrived_fast_may_not_pause_for_longer_than_another_one(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MIN_SEND_BYTES_PER_SECOND", 1)
    client.connection.begin(ReadPhase.BODY)
    client.socket.sendall(b"x" * 1000)

    client.connection.recv(1000)

    assert left(client.connection) <= ReadPhase.BODY.seconds


def test_a_body_that_arrived_while_the_process_was_busy_is_read(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, ReadPhase.BODY, 0.0)
    client.connection.begin(ReadPhase.BODY)
    client.socket.sendall(b"{}")

    assert client.connection.recv(100) == b"{}"
    with pytest.raises(RequestTimeout):
        client.connection.recv(100)


def test_a_head_that_is_too_long_is_refused(client: ConnectedClient) -> None:
    client.connection.begin(ReadPhase.HEAD)
    client.socket.sendall(b"x" * (connections.MAX_HEAD_BYTES + 1))

    client.connection.recv(connections.MAX_HEAD_BYTES)

    with pytest.raises(PayloadTooLarge):
        client.connection.recv(100)


def test_a_new_phase_has_a_new_timeout(client: ConnectedClient, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, ReadPhase.HEAD, 0.0)
    client.connection.begin(ReadPhase.HEAD)
    client.socket.sendall(b"{}")

    client.connection.begin(ReadPhase.BODY)

    assert client.connection.recv(100) == b"{}"


def test_a_client_that_never_reads_times_out(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, ReadPhase.RESPONSE)
    monkeypatch.setattr(connections, "MIN_READ_BYTES_PER_SECOND", 10**9)
    before = cuts("answer")

    with pytest.raises(ConnectionAbortedError):
        client.connection.sendall(b"x" * 10_000_000)

    assert cuts("answer") == before + 1


def test_a_response_in_pieces_has_a_single_timeout(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.connection.sendall(b"first")
    late = time.monotonic() + ReadPhase.RESPONSE.seconds + 1
    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: late))

    with pytest.raises(ConnectionAbortedError):
        client.connection.sendall(b"second")


def test_a_long_response_has_a_longer_timeout(
    client: ConnectedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, ReadPhase.RESPONSE, 0.0)
    received: list[bytes] = []

    def read_later() -> None:
        time.sleep(0.05)
        while piece := client.socket.recv(1_000_000):
            received.append(piece)

    reading = threading.Thread(target=read_later)
    reading.start()
    client.connection.sendall(b"x" * 2_000_000)
    client.connection.end_sending()
    reading.join()

    assert sum(map(len, received)) == 2_000_000


def test_an_interim_response_does_not_end_the_body_phase(client: ConnectedClient) -> None:
    client.connection.begin(ReadPhase.BODY)

    client.connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    assert client.connection.phase is ReadPhase.BODY
    assert client.socket.recv(100).startswith(b"HTTP/1.1 100")


def wait_for(connection: Connection, registry: ConnectionRegistry) -> tuple[threading.Thread, list[object]]:
    """Receive from this client in a thread; return the thread and a list that gets the outcome."""
    outcome: list[object] = []

    def wait() -> None:
        try:
            outcome.append(connection.recv(100))
        except RequestTimeout as error:
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while connection not in registry.waited_for:
        time.sleep(0.001)
    return thread, outcome


def test_the_connection_waited_for_longest_is_evicted_first() -> None:
    registry = ConnectionRegistry(32)  # two slots are kept free, and one connection is dropped at a time
    clients = [ConnectedClient(registry, (f"203.0.113.{number}", 1)) for number in range(30)]
    patient, outcome = wait_for(clients[1].connection, registry)
    other, still = wait_for(clients[0].connection, registry)
    clients[0].connection.since += 1

    clients.append(ConnectedClient(registry, ("203.0.113.99", 1)))
    patient.join(5)

    assert isinstance(outcome[0], RequestTimeout)
    assert still == []
    clients[0].socket.sendall(b"here")
    other.join(5)
    assert still == [b"here"]
    for client in clients:
        client.close()


def test_a_burst_of_connections_evicts_once() -> None:
    registry = ConnectionRegistry(160)  # ten slots are kept free, and five clients are dropped at a time
    clients = [ConnectedClient(registry, (f"203.0.113.{number}", 1)) for number in range(150)]
    registry.waited_for.update(client.connection for client in clients)

    clients += [ConnectedClient(registry, (f"198.51.100.{number}", 1)) for number in range(5)]

    assert sum(client.connection.is_aborted for client in clients) == 5
    for client in clients:
        client.close()


def test_more_connections_are_evicted_after_the_first_have_closed() -> None:
    registry = ConnectionRegistry(32)  # two slots are kept free, and one connection is dropped at a time
    clients = [ConnectedClient(registry, (f"203.0.113.{number}", 1)) for number in range(30)]
    registry.waited_for.update(client.connection for client in clients)
    clients.append(ConnectedClient(registry, ("198.51.100.1", 1)))
    [evicted] = [client for client in clients if client.connection.is_aborted]
    registry.unregister(evicted.connection)
    registry.waited_for.discard(evicted.connection)

    clients.append(ConnectedClient(registry, ("198.51.100.2", 1)))

    assert sum(client.connection.is_aborted for client in clients) == 2
    for client in clients:
        client.close()


def test_a_client_that_waits_for_the_service_is_never_evicted() -> None:
    registry = ConnectionRegistry(4)
    clients = [ConnectedClient(registry, (f"203.0.113.{number}", 1)) for number in range(4)]

    assert not any(client.connection.is_aborted for client in clients)
    for client in clients:
        client.close()


def test_one_address_gets_at_most_its_share_of_the_connections(registry: ConnectionRegistry) -> None:
    server, client = socket.socketpair()

    entered = [registry.register(server, FAR) is not None for _ in range(251)]

    assert entered == [True] * 250 + [False]
    assert registry.register(server, ("203.0.113.8", 50000)) is not None
    server.close()
    client.close()


def test_a_closed_connection_frees_its_place(registry: ConnectionRegistry, client: ConnectedClient) -> None:
    registry.unregister(client.connection)

    assert count(registry, "203.0.113.7") == 0
    assert dict(registry._by_network) == {}  # noqa: SLF001 -- nothing of a closed connection is retained


@pytest.mark.parametrize("peer", [("127.0.0.1", 1), ("::1", 1, 0, 0), "", b"", ("::ffff:127.0.0.1", 1)])
def test_loopback_addresses_are_not_limited(peer: object) -> None:
    registry = ConnectionRegistry(4)
    server, client = socket.socketpair()

    assert all(registry.register(server, peer) for _ in range(4))
    server.close()
    client.close()


def test_proxies_are_not_limited() -> None:
    registry = ConnectionRegistry(4)
    registry.by_address = False
    server, client = socket.socketpair()

    assert all(registry.register(server, FAR) for _ in range(4))
    server.close()
    client.close()


@pytest.mark.parametrize(
    ("peer", "network"),
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
def test_ipv4_is_counted_by_address_and_ipv6_by_network(peer: object, network: str) -> None:
    assert client_network(peer) == network


def test_shutdown_closes_idle_connections_at_once_and_others_after_their_grace(
    registry: ConnectionRegistry,
) -> None:
    idle, sending = ConnectedClient(registry), ConnectedClient(registry)
    idle.connection.begin(ReadPhase.IDLE)
    sending.connection.begin(ReadPhase.HEAD)
    elapsed, outcome = wait_for(idle.connection, registry)
    going_on, still = wait_for(sending.connection, registry)

    registry.close(0)
    elapsed.join(5)

    assert isinstance(outcome[0], RequestTimeout)
    assert still == []
    registry.close(ReadPhase.HEAD.grace)
    going_on.join(5)
    assert isinstance(still[0], RequestTimeout)
    idle.close()
    sending.close()


def test_a_connection_closed_by_the_shutdown_is_counted_once(
    registry: ConnectionRegistry, client: ConnectedClient
) -> None:
    client.connection.begin(ReadPhase.HEAD)
    registry.waited_for.add(client.connection)
    before = cuts("closing")

    registry.close(ReadPhase.HEAD.grace)
    registry.close(ReadPhase.HEAD.grace + 1)

    assert cuts("closing") == before + 1


def test_during_shutdown_every_response_closes_its_connection(
    registry: ConnectionRegistry, client: ConnectedClient
) -> None:
    registry.close(0)

    assert client.connection.is_last
