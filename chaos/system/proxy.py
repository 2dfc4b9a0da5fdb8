"""A TCP proxy between the service and one of its servers, which can simulate network failures."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from enum import StrEnum

from tools.services.ports import LOOPBACK

CHUNK = 65536
NO_LINGER = struct.pack("ii", 1, 0)  # closing a socket with this SO_LINGER value sends RST (socket(7))


class Mode(StrEnum):
    """What the proxy does: forward, delay every chunk, reset connections, or forward nothing."""

    PASS = "pass"  # noqa: S105 - no password
    LATENCY = "latency"
    RESET = "reset"
    BLACKHOLE = "blackhole"


class Proxy:
    """Forwards connections to `upstream`, a port of this machine, in a thread of its own.

    In mode BLACKHOLE connections are accepted and stay open, but neither data nor the end of a connection
    passes. Data sent in that time arrives once the mode changes, as after TCP's retransmissions.
    """

    def __init__(self, upstream: int) -> None:
        self._upstream = upstream
        self._mode = Mode.PASS
        self._latency = 0.0
        self._loop = asyncio.new_event_loop()
        self._may_pass = asyncio.Event()
        self._may_pass.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def start(self) -> int:
        """Listen on a free loopback port; return the port."""
        self._thread.start()
        starting = asyncio.start_server(self._accept, LOOPBACK, 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def set(self, mode: Mode, *, latency: float = 0.0) -> None:
        """Change the mode of open and new connections; `latency` is in seconds, for LATENCY."""
        asyncio.run_coroutine_threadsafe(self._set(mode, latency), self._loop).result()

    def stop(self) -> None:
        """Reset every connection, and stop listening."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _set(self, mode: Mode, latency: float) -> None:
        self._mode, self._latency = mode, latency
        if mode is Mode.BLACKHOLE:
            self._may_pass.clear()
        else:
            self._may_pass.set()
        if mode is Mode.RESET:
            for writer in list(self._writers):
                _reset(writer)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._writers.add(writer)
        with suppress(
            OSError, asyncio.CancelledError
        ):  # reset, or the server is down: either ends in the reset below
            await self._may_pass.wait()
            if self._mode is not Mode.RESET:
                await self._forward(reader, writer)
        self._writers.discard(writer)
        _reset(writer)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward bytes in both directions until one side closes."""
        upstream_reader, upstream_writer = await asyncio.open_connection(LOOPBACK, self._upstream)
        self._writers.add(upstream_writer)
        pumps = [
            asyncio.create_task(self._pump(reader, upstream_writer)),
            asyncio.create_task(self._pump(upstream_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self._writers.discard(upstream_writer)
            upstream_writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            chunk = await reader.read(CHUNK)
            if self._mode is Mode.LATENCY:
                await asyncio.sleep(self._latency)
            await self._may_pass.wait()
            if not chunk:
                return
            writer.write(chunk)
            await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()
