"""Raw requests that no HTTP client would send, and a parser for the responses."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil
from e2e_stack import Stack

TOKEN = b"@token@"
REVEAL = b"/api/ext/reveal/email"
PERSON = b'{"subject": {"full_name": "Nobody Here", "company_name": "Nowhere"}}'
SECONDS = 10
"""The timeout after which a server that does not respond counts as hanging."""


@dataclass(frozen=True)
class RawResponse:
    """The first response other than 1xx, and all received bytes."""

    status: int
    headers: dict[str, str]
    body: Any
    raw: bytes

    @property
    def code(self) -> str:
        return str(self.body["code"])


def get(
    target: bytes = b"/api/ext/session",
    *headers: bytes,
    method: bytes = b"GET",
    version: bytes = b"HTTP/1.1",
    host: bytes = b"Host: x",
    authorization: bytes = b"Authorization: Bearer " + TOKEN,
) -> bytes:
    lines = (b"%s %s %s" % (method, target, version), host, authorization, b"Connection: close", *headers)
    return b"\r\n".join((*filter(None, lines), b"", b""))


def post(body: bytes, *headers: bytes, target: bytes = REVEAL, kind: bytes = b"application/json") -> bytes:
    """Return a POST request with a Content-Length header."""
    return get(target, b"Content-Type: " + kind, *headers, method=b"POST") + body


def sized(body: bytes, *headers: bytes, target: bytes = REVEAL, kind: bytes = b"application/json") -> bytes:
    return post(body, b"Content-Length: %d" % len(body), *headers, target=target, kind=kind)


def chunked(body: bytes, *headers: bytes) -> bytes:
    return post(body, b"Transfer-Encoding: chunked", *headers)


def chunk(body: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body) + end


def exchange(stack: Stack, raw: bytes, token: str, *, half_close: bool = True) -> bytes:
    """Send a request and, if `half_close`, close the sending side; return all that the server sends."""
    with socket.create_connection(("127.0.0.1", port(stack)), timeout=SECONDS) as connection:
        with suppress(ConnectionError):  # the server may respond and close before the request is sent
            connection.sendall(raw.replace(TOKEN, token.removeprefix("Bearer ").encode()))
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        return b"".join(_received(connection))


def send(stack: Stack, raw: bytes, token: str, *, half_close: bool = True) -> RawResponse:
    received = exchange(stack, raw, token, half_close=half_close)
    head, _, body = received.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 1"):
        head, _, body = body.partition(b"\r\n\r\n")
    start, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    is_json = "json" in headers.get("content-type", "")
    content = json.loads(body[: int(headers["content-length"])]) if is_json and body else None
    return RawResponse(int(start.split()[1]), headers, content, received)


def port(stack: Stack) -> int:
    return int(stack.base_url.rpartition(":")[2])


def memory(stack: Stack) -> int:
    """Return the resident memory of the API's processes, in bytes."""
    address = f"127.0.0.1:{port(stack)}"
    return sum(
        process.memory_info().rss
        for process in psutil.process_iter(["cmdline"])
        if address in (process.info["cmdline"] or ())
    )


def _received(connection: socket.socket) -> Iterator[bytes]:
    with suppress(ConnectionResetError):
        while data := connection.recv(65536):
            yield data
