"""No URL, response or name server makes a worker connect to a forbidden address.

All connections and lookups of the process are recorded, whichever library makes them.
"""

from __future__ import annotations

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from hostile_support import PRIVATE, SPELLINGS, as_spelled, record_network
from local_servers import free_port, http_response

from workers import webhook_client
from workers.outgoing_http import run_with_timeout
from workers.webhook_client import DeliveryError, WebhookClient, WebhookResponse

HOST = "receiver.acme.com"
LOOPBACK = WebhookClient((ip_network("127.0.0.1/32"),))
PUBLIC = "93.184.215.14"
BODY = b'{"type": "job.finished"}'
METADATA = "http://169.254.169.254/latest/meta-data/"


@dataclass
class Server:
    """A server on loopback that always sends the same response and records the requests."""

    port: int
    received: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextmanager
def serving(
    response: bytes, tls: ssl.SSLContext | None = None, then: bytes = b"", pause: float = 0.0
) -> Iterator[Server]:
    """Run a server that sends `response`, then `then` repeatedly, with a pause, until the client hangs up."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener.getsockname()[1])

        def talk(connection: socket.socket) -> None:
            with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
                server.received.append(_request(wrapped))
                wrapped.sendall(response)
                while then and not over.wait(pause):
                    wrapped.sendall(then)

        def listen() -> None:
            while True:
                connection, _peer = listener.accept()
                if over.is_set():
                    connection.close()
                    return
                try:
                    talk(connection)
                except OSError:  # the client has hung up, or rejects the certificate
                    connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield server
        finally:  # else the thread would outlive a failed test, and block the end of the run
            over.set()
            socket.create_connection(listener.getsockname()).close()
            thread.join()


def _request(connection: socket.socket) -> bytes:
    """Read the whole request: a client cut off while sending might never read the response."""
    received = b""
    while not received.endswith(BODY) and (piece := connection.recv(65536)):
        received += piece
    return received


def outcome(door: WebhookClient, url: str) -> str:
    """Return the status of the response to a POST, or the reason for having none."""
    try:
        return str(door.post(url, BODY, {}).status)
    except DeliveryError as unreached:
        return unreached.reason


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Resolve names to the test's answers in order; the last one repeats."""
    real = socket.getaddrinfo

    def lead(host: str, *answers: Sequence[str]) -> list[str]:
        asked: list[str] = []

        def resolve(name: Any, port: Any, *rest: Any, **options: Any) -> Any:
            if name != host:
                return real(name, port, *rest, **options)
            asked.append(name)
            found = answers[min(len(asked), len(answers)) - 1]
            return [(2, 1, 6, "", (address, port)) for address in found]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        return asked

    return lead


def test_the_network_recorder_sees_a_connection() -> None:
    with serving(http_response(204)) as server, record_network() as seen:
        assert outcome(LOOPBACK, server.url) == "204"

    assert seen.connected == [("127.0.0.1", server.port)]
    assert "127.0.0.1" in seen.looked_up


@as_spelled
def test_a_deceptive_url_is_refused_before_any_lookup_or_connection(url: str) -> None:
    with record_network() as seen:
        assert outcome(WebhookClient(), url) == "refused"

    assert (seen.connected, seen.looked_up) == ([], [])


@pytest.mark.parametrize("name", [name for name in SPELLINGS if name.startswith(("loopback", "IPv4", "NAT"))])
def test_allowed_loopback_is_accepted_in_one_spelling_only(name: str) -> None:
    with serving(http_response(204)) as server, record_network() as seen:
        url = SPELLINGS[name].rstrip("/").replace("https:", "http:") + f":{server.port}/"
        result = outcome(LOOPBACK, url)

    assert result == ("204" if name == "loopback" else "refused")
    assert seen.connected == [("127.0.0.1", server.port)] * (name == "loopback")


@pytest.mark.parametrize("address", PRIVATE)
@pytest.mark.parametrize("beside", [(), (PUBLIC,)])
def test_a_name_with_one_private_address_is_not_called(
    names: Callable[..., list[str]], address: str, beside: tuple[str, ...]
) -> None:
    """This includes CNAME and DNAME: only the final addresses are checked."""
    asked = names(HOST, (*beside, address))

    with record_network() as seen:
        assert outcome(WebhookClient(), f"https://{HOST}/done") == "refused"

    assert (seen.connected, asked) == ([], [HOST])


def test_a_name_is_resolved_once_and_its_first_address_called(
    names: Callable[..., list[str]],
) -> None:
    """DNS rebinding: the operator's allowed network stands for a public one, 127.0.0.2 for a private one."""
    with serving(http_response(204)) as server, record_network() as seen:
        asked = names(HOST, ["127.0.0.1"], ["127.0.0.2"])
        result = outcome(LOOPBACK, f"http://{HOST}:{server.port}/")

    assert (result, asked) == ("204", [HOST])
    assert seen.connected == [("127.0.0.1", server.port)]
    assert f"Host: {HOST}:{server.port}".encode() in server.received[0]


def test_a_punycode_name_is_resolved_as_written(names: Callable[..., list[str]]) -> None:
    """Python's own codec encodes `straße.de` as `strasse.de`, which is another domain (RFC 5895)."""
    asked = names("xn--strae-oqa.de", ["127.0.0.1"])

    with serving(http_response(204)) as server:
        outcome(LOOPBACK, f"http://xn--strae-oqa.de:{server.port}/")
        outcome(LOOPBACK, f"http://straße.de:{server.port}/")

    assert asked == ["xn--strae-oqa.de"] * 2
    assert [b"Host: xn--strae-oqa.de:" in received for received in server.received] == [True, True]


def test_a_slow_name_server_is_limited_by_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(webhook_client, "RESOLVE_SECONDS", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked, **_options: [over.wait(30)][:0])

    result = outcome(WebhookClient(), f"https://{HOST}/")
    over.set()

    assert result == "timeout"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
@pytest.mark.parametrize(
    "where", [METADATA, "itself", "another port", "//169.254.169.254/", "file:///etc/passwd"]
)
def test_no_redirect_is_followed(status: int, where: str) -> None:
    with serving(http_response(200)) as other:
        places = {"itself": "/", "another port": other.url}
        with (
            serving(
                http_response(status, f"Location: {places.get(where, where)}", "Refresh: 0; url=/")
            ) as server,
            record_network() as seen,
        ):
            result = outcome(LOOPBACK, server.url)

    assert result == str(status)
    assert (seen.connected, len(server.received)) == ([("127.0.0.1", server.port)], 1)


BOMB = gzip.compress(b"\0" * 10_000_000)
ANSWERS = {
    "huge": (http_response(200, body=b"x" * 5_000_000), "200"),
    "gzip bomb": (http_response(200, "Content-Encoding: gzip", body=BOMB), "200"),
    "bomb in a bomb": (http_response(200, "Content-Encoding: gzip, gzip", body=gzip.compress(BOMB)), "200"),
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "connection"),
    "length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "200",
    ),
    "length below 0": (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "connection"),
    "no such status": (b"HTTP/1.1 99999 No\r\n\r\n", "connection"),
    "HTTP/0.9": (b"<html>hello</html>", "connection"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "connection"),
    "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n", "connection"),
    "NUL in a header": (b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n", "connection"),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: redis\r\n\r\n", "connection"),
    "wait for ever": (http_response(503, "Retry-After: " + "9" * 400), "503"),
    "wait since ever": (http_response(503, "Retry-After: Thu, 01 Jan 0000 00:00:00 GMT"), "503"),
}


@pytest.mark.parametrize(("response", "result"), ANSWERS.values(), ids=ANSWERS)
def test_a_hostile_response_is_a_response_or_an_error_and_leads_nowhere(response: bytes, result: str) -> None:
    with serving(response) as server, record_network() as seen:
        assert outcome(LOOPBACK, server.url) == result

    assert seen.connected == [("127.0.0.1", server.port)]


@pytest.mark.parametrize(
    ("response", "drops", "result"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536, "200"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", "200"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", "connection"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000, "connection"),
    ],
)
def test_an_endless_response_is_limited(
    monkeypatch: pytest.MonkeyPatch, response: bytes, drops: bytes, result: str
) -> None:
    monkeypatch.setattr(webhook_client, "TIMEOUT_SECONDS", 1.0)

    with serving(response, then=drops) as server:
        assert outcome(LOOPBACK, server.url) == result


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"])
def test_proxies_of_the_environment_are_ignored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would resolve the name a second time, and is itself in the private network."""
    with serving(http_response(200)) as proxy, serving(http_response(204)) as server:
        monkeypatch.setenv(name, proxy.url)
        with record_network() as seen:
            assert outcome(LOOPBACK, server.url) == "204"
            assert outcome(LOOPBACK, f"https://127.0.0.1:{free_port()}/") == "connection"

    assert ("127.0.0.1", proxy.port) not in seen.connected


@dataclass(frozen=True)
class Certificates:
    """Generated certificates: for `HOST` by an authority and self-signed, and one for another host."""

    folder: Path

    def make(self) -> None:
        self._openssl("req -x509 -days 2 -keyout ca.key -out ca.pem -subj /CN=authority", new=True)
        self._openssl(f"req -x509 -days 2 -keyout self.key -out self.pem -subj /CN={HOST}", new=True)
        for name, host, days in (("good", HOST, 2), ("expired", HOST, -1), ("other", "evil.com", 2)):
            (self.folder / "names").write_text(f"subjectAltName=DNS:{host}\n")
            self._openssl(f"req -keyout {name}.key -out request.pem -subj /CN={host}", new=True)
            self._openssl(
                f"x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days {days}"
                f" -extfile names -out {name}.pem"
            )

    def server(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context

    def trusting(self) -> ssl.SSLContext:
        """Return a client context that trusts only this authority."""
        return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))

    def _openssl(self, command: str, *, new: bool = False) -> None:
        key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes" if new else ""
        words = ["openssl", *command.split(), *key.split()]
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates with")
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    made.make()
    return made


@pytest.mark.parametrize(
    ("certificate", "result"),
    [("good", "204"), ("other", "connection"), ("expired", "connection"), ("self", "connection")],
)
def test_nothing_is_sent_to_a_host_with_a_wrong_certificate(
    certificates: Certificates,
    names: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    certificate: str,
    result: str,
) -> None:
    """The connection goes to an address, but the certificate must match the host name."""
    monkeypatch.setattr(webhook_client, "ssl_context", certificates.trusting)
    names(HOST, ["127.0.0.1"])

    with serving(http_response(204), certificates.server(certificate)) as server:
        assert outcome(LOOPBACK, f"https://{HOST}:{server.port}/") == result

    assert len(server.received) == (result == "204")


@pytest.mark.parametrize(
    ("repeats", "pause", "result"), [(1000, 0.0, "connection"), (1, 0.05, "timeout")], ids=["long", "slow"]
)
def test_an_endless_response_over_tls_is_limited(
    certificates: Certificates,
    names: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    *,
    repeats: int,
    pause: float,
    result: str,
) -> None:
    monkeypatch.setattr(webhook_client, "ssl_context", certificates.trusting)
    monkeypatch.setattr(webhook_client, "TIMEOUT_SECONDS", 1.0)
    names(HOST, ["127.0.0.1"])
    drops = b"HTTP/1.1 100 Continue\r\n\r\n" * repeats

    with serving(b"", certificates.server("good"), then=drops, pause=pause) as server:
        url = f"https://{HOST}:{server.port}/"
        found = run_with_timeout(20, lambda: outcome(LOOPBACK, url))

    assert found == result


def test_a_certificate_of_an_unknown_authority_is_refused(
    certificates: Certificates, names: Callable[..., list[str]]
) -> None:
    names(HOST, ["127.0.0.1"])

    with serving(http_response(204), certificates.server("good")) as server:
        assert outcome(LOOPBACK, f"https://{HOST}:{server.port}/") == "connection"

    assert server.received == []


def test_concurrent_posts_do_not_mix() -> None:
    answers: list[WebhookResponse] = []
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(http_response(200 + number))) for number in range(8)]
        threads = [
            threading.Thread(target=lambda url=server.url: answers.append(LOOPBACK.post(url, BODY, {})))
            for server in servers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(answer.status for answer in answers) == list(range(200, 208))
