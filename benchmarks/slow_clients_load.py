"""The slow and greedy clients of slow_clients.py, in a process of their own; it tells when all are there."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
from contextlib import suppress

DRIPPING = 500
WAITING = 1000
NOT_READING = 100
PIPELINED = 500
STARTING_AT_ONCE = 50
APART_SECONDS = 0.023
"""Between two who begin to wait: a little less than their wait for all of them."""


async def main(port: int, kind: str, tokens: list[str]) -> None:
    """Run the clients until killed."""
    client, count = {
        "dripping": (drip, DRIPPING),
        "waiting": (wait, WAITING),
        "not reading": (never_read, NOT_READING),
    }[kind]
    turns = asyncio.Semaphore(STARTING_AT_ONCE)
    there = asyncio.Semaphore(0)
    tasks = [
        asyncio.create_task(_again_and_again(client, port, n, tokens, turns, there)) for n in range(count)
    ]
    with suppress(TimeoutError):  # a server that lets not all of them in is measured as it is
        async with asyncio.timeout(40):
            for _ in range(count):
                await there.acquire()
    await asyncio.sleep(1)
    sys.stdout.write("there\n")
    sys.stdout.flush()
    await asyncio.gather(*tasks)


async def _again_and_again(client, port, number, tokens, turns, there) -> None:  # noqa: ANN001, PLR0917
    """Come back after every end."""
    while True:
        with suppress(OSError, EOFError, TimeoutError):
            await client(port, number, tokens, turns, there)
        there.release()
        await asyncio.sleep(0.5)


async def drip(port, number, tokens, turns, there) -> None:  # noqa: ANN001, ARG001
    """Send a byte of a head or of a body each second until cut off."""
    async with turns:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    there.release()
    if number % 2:
        text = b"GET /api/ext/session HTTP/1.1\r\nHost: api.example\r\nX-Padding: " + b"x" * 4000
    else:
        head = b"POST /api/ext/login HTTP/1.1\r\nHost: api.example\r\nContent-Type: application/json\r\n"
        writer.write(head + b"Content-Length: 5000\r\n\r\n")
        text = b'{"email": "' + b"x" * 4000
    gone = asyncio.create_task(reader.read())
    try:
        for position in range(len(text)):
            writer.write(text[position : position + 1])
            await writer.drain()
            await asyncio.wait([gone], timeout=1)
            if gone.done():
                return
    finally:
        gone.cancel()
        writer.close()


_BEGUN: set[int] = set()


async def wait(port, number, tokens, turns, there) -> None:  # noqa: ANN001, ARG001
    """Ask for a job that nobody does, and wait as long as one may."""
    body = json.dumps({"subject": {"full_name": f"Waiting {number}", "company_domain": "nobody.example"}})
    head = (
        "POST /api/ext/reveal/email HTTP/1.1\r\nHost: api.example\r\nContent-Type: application/json\r\n"
        f"Authorization: {tokens[number % len(tokens)]}\r\nPrefer: wait=25\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    if number not in _BEGUN:
        _BEGUN.add(number)
        await asyncio.sleep(number * APART_SECONDS)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write((head + body).encode())
    await writer.drain()
    there.release()
    try:
        answer = await reader.read()
        if not answer.startswith(b"HTTP/1.1 202"):
            sys.stderr.write(f"{answer[:200]!r}\n")
    finally:
        writer.close()


async def never_read(port, number, tokens, turns, there) -> None:  # noqa: ANN001, ARG001
    """Pipeline requests for a large answer and read nothing of it, until cut off."""
    line = socket.socket()
    line.setblocking(False)  # noqa: FBT003 -- the socket's signature
    try:
        async with turns:
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", port))
        there.release()
        for _ in range(PIPELINED):
            request = b"GET /openapi.json HTTP/1.1\r\nHost: api.example\r\n\r\n"
            await asyncio.get_running_loop().sock_sendall(line, request)
        while True:
            await asyncio.sleep(1)
            line.send(b"\r\n")
    finally:
        line.close()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    told = json.loads(sys.argv[1])
    asyncio.run(main(told["port"], told["kind"], told["tokens"]))
