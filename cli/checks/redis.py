"""Checks of Redis: reachable, writable, no eviction, persistence, and its clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from redis import Redis
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from app.infra import clock
from cli.checks import clocks
from cli.checks.findings import Finding, error, note, ok, warning

SUBJECT = "Redis"
DATA = "Redis data"
TIMEOUT_SECONDS = 5.0
PROBE = "contact-lookup:doctor"
_PASSWORD = ("refuses the password, or needs one", "add it to REDIS_URL: redis://:password@host:6379/0")
_DISK = ("cannot save to its disk and refuses writes", "free its disk, or make its directory writable")
_NUMBER = ("refuses commands", "see its log; the number after the last / of REDIS_URL must be below 16")
_UNREACHABLE = (
    "cannot be reached",
    "start it, and compare host, port and redis:// or rediss:// in REDIS_URL",
)
_REFUSALS: tuple[tuple[type[Exception], str, tuple[str, str]], ...] = (
    (AuthenticationError, "", _PASSWORD),
    (ReadOnlyError, "", ("is a read-only replica", "name the primary in REDIS_URL")),
    (OutOfMemoryError, "", ("is out of memory and refuses writes", "raise maxmemory, or free some")),
    (ResponseError, "MISCONF", _DISK),
    (
        NoPermissionError,
        "",
        ("does not allow this user all commands", "allow all: ACL SETUSER … +@all ~* &*"),
    ),
    (ResponseError, "", _NUMBER),
)


def findings(url: str) -> Iterator[Finding]:
    """Check the server of this URL; writes one key that expires after a second."""
    with Redis.from_url(
        url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
    ) as client:
        try:
            facts: dict[str, Any] = client.info()
            before = clock.now().timestamp()
            seconds, microseconds = client.time()
            after = clock.now().timestamp()
            client.set(PROBE, "1", ex=1)
        except (RedisError, OSError) as refusal:
            yield error(SUBJECT, *_refused(refusal))
            return
        version = facts.get("valkey_version") or facts.get("redis_version")
        yield ok(SUBJECT, f"version {version}, writable")
        yield clocks.clock_finding(SUBJECT, (before + after) / 2 - (seconds + microseconds / 1e6))
        yield _eviction(facts)
        yield _persistence(client, facts)
        if not client.connection_pool.connection_kwargs.get("password"):
            yield warning(
                SUBJECT,
                "accepts connections without a password",
                "set requirepass, and add the password to REDIS_URL",
            )


def _refused(refusal: Exception) -> tuple[str, str]:
    """Describe a refusal without quoting it."""
    text = str(refusal)
    return next(
        (
            description
            for kind, fragment, description in _REFUSALS
            if isinstance(refusal, kind) and fragment in text
        ),
        _UNREACHABLE,
    )


def _eviction(facts: dict[str, Any]) -> Finding:
    policy = facts.get("maxmemory_policy", "unknown")
    if policy == "noeviction":
        return ok("Redis eviction", "noeviction")
    return error(
        "Redis eviction", f"{policy}: it may drop queued messages", "set maxmemory-policy noeviction"
    )


def _persistence(client: Redis, facts: dict[str, Any]) -> Finding:
    if facts.get("aof_enabled"):
        return ok(DATA, "appendonly")
    try:
        snapshots = bool(client.config_get("save").get("save"))
    except RedisError:  # hosted servers do not expose their configuration
        snapshots = False
    state = "snapshots only" if snapshots else "none: a restart loses the queue"
    return note(DATA, state, "set appendonly yes; otherwise jobs are republished from the database, later")
