"""Real name servers and mail servers on loopback, well-behaved and misbehaving."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiosmtpd
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from dnslib import MX, QTYPE, RCODE, RR, SOA, A, DNSRecord
from dnslib.server import DNSLogger, DNSServer
from local_servers import free_port

from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.mail.settings import MailSettings
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.mx import Mx

LOOPBACK = "127.0.0.1"
NOTHING: tuple[Any, ...] = ()
MAIL = (MX("mail.acme.com", 10),)
ZONE: dict[tuple[str, str], tuple[Any, ...]] = {
    ("acme.com", "MX"): MAIL,
    ("mail.acme.com", "A"): (A(LOOPBACK),),
}
Zone = Mapping[tuple[str, str], tuple[Any, ...]]


@dataclass
class FakeDnsServer:
    """A name server with a zone of (name, type) to records. A name without an entry does not exist."""

    zone: Zone
    ttl: int = 300
    rcode: str = "NOERROR"
    queries: list[tuple[str, str]] = field(default_factory=list)

    def resolve(self, request: DNSRecord, _handler: object) -> DNSRecord:
        name, kind = str(request.q.qname).rstrip("."), QTYPE[request.q.qtype]
        self.queries.append((name, kind))
        reply = request.reply()
        reply.header.rcode = getattr(RCODE, self.rcode)
        for record in self.zone.get((name, kind), ()):
            reply.add_answer(RR(name, request.q.qtype, ttl=self.ttl, rdata=record))
        if not reply.rr:
            reply.add_auth(
                RR("com", QTYPE.SOA, ttl=self.ttl, rdata=SOA("a.com", "b.com", (1, 1, 1, 1, self.ttl)))
            )
        if name not in {known for known, _kind in self.zone}:
            reply.header.rcode = RCODE.NXDOMAIN
        return reply


@contextmanager
def dns_server(fake: FakeDnsServer) -> Iterator[int]:
    """Run the name server over UDP; yield the port."""
    server = DNSServer(
        fake, address=LOOPBACK, port=0, logger=DNSLogger(log="-request,-reply,-truncated,-error")
    )
    thread = threading.Thread(target=server.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server.server_address[1]
    finally:
        server.stop()
        thread.join()
        server.server.server_close()


@contextmanager
def silent_dns_server() -> Iterator[int]:
    """Run a name server that receives queries and never answers; yield the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind((LOOPBACK, 0))
        yield silent.getsockname()[1]


@dataclass
class FakeMailServer:
    """A mail server's server: the successive replies to RCPT TO, by local part."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    otherwise: str = "550 5.1.1 No such user here"
    to_sender: str = "250 OK"
    recipients: list[str] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)
    hellos: list[str] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)

    async def handle_EHLO(  # noqa: N802
        self, _server: SMTP, session: Session, _envelope: Envelope, name: str, answers: list[str]
    ) -> list[str]:
        session.host_name = name
        self.hellos.append(name)
        return answers

    async def handle_MAIL(  # noqa: N802 -- aiosmtpd's
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        envelope.mail_from = address
        self.senders.append(address)
        self.peers.append(session.peer[0])
        self.encrypted.append(session.ssl is not None)
        return self.to_sender

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        self.recipients.append(address)
        envelope.rcpt_tos.append(address)
        answers = self.answers.get(address.partition("@")[0], [])
        return answers.pop(0) if len(answers) > 1 else (answers or [self.otherwise])[0]

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.data.append(envelope.content or b"")
        return "250 OK"


@contextmanager
def mail_server(fake: object, **more: Any) -> Iterator[int]:
    """Run a well-behaved SMTP server with this handler; yield the port."""
    port = free_port()
    controller = Controller(fake, LOOPBACK, port, server_hostname="mail.acme.com", **more)
    controller.start()
    try:
        yield port
    finally:
        controller.stop()


def server_tls() -> ssl.SSLContext:
    """Return a server's TLS context with an untrusted certificate for another name."""
    certificates = Path(aiosmtpd.__file__).parent / "tests" / "certs"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    return context


Conversation = Callable[[socket.socket, threading.Event], None]


@contextmanager
def raw_server(converse: Conversation) -> Iterator[int]:
    """Run a server that handles each connection with this function; yield the port."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        with connection:
            try:
                converse(connection, over)
            except OSError:
                over.wait(0)  # the client has hung up

    def listen(server: socket.socket) -> None:
        while True:
            try:
                connection, _peer = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=handle, args=(connection,)))
            threads[-1].start()

    with socket.create_server((LOOPBACK, 0)) as server:
        listener = threading.Thread(target=listen, args=(server,))
        listener.start()
        yield server.getsockname()[1]
        over.set()
        server.shutdown(socket.SHUT_RDWR)
        listener.join()
    for thread in threads:
        thread.join()


def saying(text: bytes) -> Conversation:
    """Send this text and hang up."""
    return lambda connection, _over: connection.sendall(text)


def dripping(text: bytes) -> Conversation:
    """Send this text, then single bytes slowly without end, as a tarpit does."""

    def converse(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(text)
        while not over.wait(0.05):
            connection.sendall(b"2")

    return converse


def flooding(connection: socket.socket, over: threading.Event) -> None:
    """Send a greeting without end."""
    while not over.is_set():
        connection.sendall(b"220-welcome\r\n" * 100)


def scripted(*lines: str) -> Conversation:
    """Send the first line, then one more for each line received; then hang up."""

    def converse(connection: socket.socket, _over: threading.Event) -> None:
        received = connection.makefile("rb")
        for line in lines:
            connection.sendall(line.encode() + b"\r\n")
            received.readline()
        received.close()

    return converse


def offering_starttls(answer: bytes, *, hang_up: bool) -> Conversation:
    """Offer STARTTLS, answer it with this reply, and accept only ada's mailbox."""

    def converse(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(b"220 hi\r\n")
        answers = {b"ehlo": b"250-hi\r\n250 STARTTLS\r\n", b"star": answer}
        with connection.makefile("rb") as lines:
            for line in lines:
                verb = line[:4].lower()
                is_nobody = verb == b"rcpt" and b"<ada@" not in line
                connection.sendall(answers.get(verb, b"550 5.1.1 no\r\n" if is_nobody else b"250 OK\r\n"))
                if verb == b"star" and hang_up:
                    return

    return converse


def silent_in_tls(connection: socket.socket, over: threading.Event) -> None:
    """Offer STARTTLS, accept it, and send nothing more."""
    scripted("220 hi", "250-hi\r\n250 STARTTLS", "220 go ahead")(connection, over)
    over.wait()


def recording(received: list[bytes]) -> Conversation:
    """Record the received lines, and accept all of them."""

    def converse(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(b"220 hi\r\n")
        with connection.makefile("rb") as lines:
            for line in lines:
                received.append(line)
                connection.sendall(b"250 OK\r\n")

    return converse


def settings(port: int, dns_port: int, **changes: Any) -> MailSettings:
    """Return settings for these servers, with short timeouts."""
    values: dict[str, Any] = {
        "smtp": True,
        "sender": "probe@verifier.com",
        "helo": "verifier.com",
        "port": port,
        "pause_seconds": 0.0,
        "dns_servers": ((LOOPBACK, dns_port),),
        "dns_seconds": 1.5,
    }
    return MailSettings(**values | changes)


def mx(mail: MailSettings) -> Mx:
    """Return the provider; it treats the loopback address as public."""
    return Mx(ProviderSettings(), mail, allowed=lambda address: address == LOOPBACK)


def verify(
    provider: Mx, email: str = "ada@acme.com", ticket: str | None = None, seconds: float = 8
) -> ProviderResponse | Pending:
    request = ProviderRequest(
        field=ProviderField.VERIFICATION, subject=Subject(email=email), poll_token=ticket
    )
    return provider.call(request, seconds=seconds)


def summary(reply: ProviderResponse | Pending) -> str:
    """Return a summary of the reply: a status with its reasons, unknown, or later."""
    if isinstance(reply, Pending):
        return "later"
    return " ".join([reply.emails[0].status, *reply.emails[0].reasons]) if reply.emails else "unknown"
