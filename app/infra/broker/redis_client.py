"""Redis clients with explicit timeouts and without automatic retries.

The library spends half of a command's processor time on its retries, on statistics that are not used, and on
checking a pooled connection. A reveal sends four commands, so the client here does without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from queue import Empty
from typing import Any, cast

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from app.infra.circuit_breaker import CircuitBreaker

CONNECT_SECONDS = 0.3
ANSWER_SECONDS = 0.3
CONNECTIONS = 50


class _Pool(BlockingConnectionPool):
    """The library's pool, which can also lend a connection without checking it."""

    def lend(self) -> Any:  # noqa: ANN401 -- a connection, whose methods redis-py declares no types of
        """Return a connected connection, of which the server may have closed its side."""
        self._checkpid()
        try:
            connection = self.pool.get(timeout=self.timeout)
        except Empty:
            raise RedisConnectionError("No connection available.") from None
        try:
            connection = connection or self.make_connection()  # type: ignore[no-untyped-call]  # likewise
            connection.connect()
        except BaseException:
            self.pool.put_nowait(connection)
            raise
        return connection

    def take_back(self, connection: Any) -> None:  # noqa: ANN401 -- likewise
        """Make a lent connection available again, unless the process has forked meanwhile."""
        self._checkpid()
        if self.owns_connection(connection):
            self.pool.put_nowait(connection)


class Client(Redis):
    """The library's client, whose commands are sent once."""

    def execute_command(self, *arguments: Any, **options: Any) -> object:
        """Send a command and return its reply.

        Redis closes connections when it restarts. A command that meets a closed one is sent again on a new
        one, so that in rare cases it is executed twice; callers must allow for that.
        """
        pool = cast("_Pool", self.connection_pool)
        connection = pool.lend()
        try:
            try:
                return self._exchange(connection, arguments, options)
            except RedisConnectionError:
                connection.disconnect()
                return self._exchange(connection, arguments, options)
        finally:
            pool.take_back(connection)

    def execute_all(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Send commands in one round trip; return their replies, of which any may be a ResponseError.

        They are sent as often as in `execute_command`.
        """
        pool = cast("_Pool", self.connection_pool)
        connection = pool.lend()
        try:
            try:
                return _exchange_all(connection, commands)
            except RedisConnectionError:
                connection.disconnect()
                return _exchange_all(connection, commands)
        except BaseException:
            connection.disconnect()  # replies that were not read would be taken for those of other commands
            raise
        finally:
            pool.take_back(connection)

    def _exchange(self, connection: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> object:  # noqa: ANN401 -- likewise
        """Send a command, after connecting if the connection is closed, and return its reply."""
        connection.send_command(*arguments)
        return self.parse_response(connection, arguments[0], **options)  # type: ignore[no-untyped-call]  # the library has no types there


def _exchange_all(connection: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:  # noqa: ANN401 -- likewise
    connection.send_packed_command(connection.pack_commands(commands))
    replies: list[Any] = []
    for _command in commands:
        try:
            replies.append(connection.read_response())
        except ResponseError as error:
            replies.append(error)
    return replies


def connect(url: str, *, answer_seconds: float = ANSWER_SECONDS) -> Client:
    """Return a client with short timeouts and a pool of connections."""
    pool = _Pool.from_url(
        url,
        max_connections=CONNECTIONS,
        timeout=answer_seconds,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=answer_seconds,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=25,
    )
    return cast("Client", Client.from_pool(pool))  # closing the client closes its connections


@dataclass(frozen=True, slots=True)
class GuardedRedis:
    """A client and the circuit breaker that all of its callers share."""

    client: Client
    breaker: CircuitBreaker


@cache
def guarded(url: str) -> GuardedRedis:
    """Return the shared client of this process; during an outage only one trial call at a time waits."""
    return GuardedRedis(connect(url), CircuitBreaker(RedisError, OSError))
