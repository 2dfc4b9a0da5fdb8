"""The slow and greedy clients of slow_clients.py, in a process that reports when all are connected."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
from contextlib import suppress

DRIPPING_CLIENTS = 500
WAITING_CLIENTS = 1000
NOT_READING_CLIENTS = 100
PIPELINED = 500
MAX_CONNECTING = 50
STAGGER_SECONDS = 0.023
"""Between the first requests of two waiting clients: for all of them, a little less than one wait."""


async def main(port: int, kind: str, tokens: list[str]) -> None:
    """Run the clients until killed."""
    client, count = {
        "dripping": (drip, DRIPPING_CLIENTS),
        "waiting": (wait, WAITING_CLIENTS),
        "not reading": (never_read, NOT_READING_CLIENTS),
    }[kind]
    connecting = asyncio.Semaphore(MAX_CONNECTING)
    connected = asyncio.Semaphore(0)
    tasks = [
        asyncio.create_task(_repeat(client, port, n, tokens, connecting, connected)) for n in range(count)
    ]
    with suppress(TimeoutError):  # a server that does not accept all of them is measured all the same
        async with asyncio.timeout(40):
            for _ in range(count):
                await connected.acquire()
    await asyncio.sleep(1)
    sys.stdout.write("connected\n")
    sys.stdout.flush()
    await asyncio.gather(*tasks)


async def _repeat(client, port, number, tokens, connecting, connected) -> None:  # noqa: ANN001, PLR0917
    """Reconnect whenever the connection ends."""
    while True:
        with suppress(OSError, EOFError, TimeoutError):
            await client(port, number, tokens, connecting, connected)
        connected.release()
        await asyncio.sleep(0.5)


async def drip(port, number, tokens, connecting, connected) -> None:  # noqa: ANN001, ARG001
    """Send a byte of the headers or of the body each second until the server disconnects."""
    async with connecting:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    connected.release()
    if number % 2:
        text = b"GET /api/ext/session HTTP/1.1\r\nHost: api.example\r\nX-Padding: " + b"x" * 4000
    else:
        head = b"POST /api/ext/login HTTP/1.1\r\nHost: api.example\r\nContent-Type: application/json\r\n"
        writer.write(head + b"Content-Length: 5000\r\n\r\n")
        text = b'{"email": "' + b"x" * 4000
    disconnected = asyncio.create_task(reader.read())
    try:
        for position in range(len(text)):
            writer.write(text[position : position + 1])
            await writer.drain()
            await asyncio.wait([disconnected], timeout=1)
            if disconnected.done():
                return
    finally:
        disconnected.cancel()
        writer.close()


_STARTED: set[int] = set()


async def wait(port, number, tokens, connecting, connected) -> None:  # noqa: ANN001, ARG001
    """Request a job that no worker runs, and wait as long as the service allows."""
    body = json.dumps({"subject": {"full_name": f"Waiting {number}", "company_domain": "nobody.example"}})
    head = (
        "POST /api/ext/reveal/email HTTP/1.1\r\nHost: api.example\r\nContent-Type: application/json\r\n"
        f"Authorization: {tokens[number % len(tokens)]}\r\nPrefer: wait=25\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    if number not in _STARTED:
        _STARTED.add(number)
        await asyncio.sleep(number * STAGGER_SECONDS)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write((head + body).encode())
    await writer.drain()
    connected.release()
    try:
        response = await reader.read()
        if not response.startswith(b"HTTP/1.1 202"):
            sys.stderr.write(f"{response[:200]!r}\n")
    finally:
        writer.close()


async def never_read(port, number, tokens, connecting, connected) -> None:  # noqa: ANN001, ARG001
    """Pipeline requests for a large response and read none of it, until the server disconnects."""
    connection = socket.socket()
    connection.setblocking(False)  # noqa: FBT003 -- the socket's signature
    try:
        async with connecting:
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
        connected.release()
        for _ in range(PIPELINED):
            request = b"GET /openapi.json HTTP/1.1\r\nHost: api.example\r\n\r\n"
            await asyncio.get_running_loop().sock_sendall(connection, request)
        while True:
            await asyncio.sleep(1)
            connection.send(b"\r\n")
    finally:
        connection.close()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    options = json.loads(sys.argv[1])
    asyncio.run(main(options["port"], options["kind"], options["tokens"]))
