"""Canaries: unique values that are recognised wherever they leak to, in any encoding."""

from __future__ import annotations

import base64
import json
import secrets
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import redis
from sqlalchemy import inspect, text

from app.infra.database.db import Database


@dataclass(frozen=True)
class Canaries:
    """The canaries by name: `secret` must not appear anywhere, `people` only in columns for contact data."""

    tag: str = field(default_factory=lambda: "".join(secrets.choice("bcdfghjkmnpqrstvwz") for _ in range(8)))
    secret: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)

    def generate(self) -> None:
        """Generate the canaries."""
        tag, number = self.tag, f"{secrets.randbelow(10_000_000):07}"
        for name in ("password", "new password", "wrong password", "vendor key", "redis password"):
            self.secret[name] = f"{name.replace(' ', '-')}-{tag}-{secrets.token_hex(6)}"
        for name in (
            "secret key",
            "suppression key",
            "metrics token",
            "flower password",
            "database password",
        ):
            self.secret[name] = f"{name.replace(' ', '-')}-{tag}-{secrets.token_hex(16)}"
        self.secret["webhook path"] = f"webhook-path-{tag}-{secrets.token_hex(6)}"
        self.people.update(
            {
                "first name": f"Zephyrine{tag}",
                "last name": f"Quillfeather{tag}",
                "e-mail": f"zq.{tag}@mail-{tag}.com",
                "address": f"account.{tag}@staff-{tag}.com",
                "found e-mail": f"found.{tag}@firm-{tag}.com",
                "phone": f"+49151{number}",
                "profile": f"zephyrine-{tag}-profile",
                "domain": f"firm-{tag}.com",
                "IDN": f"kanärie-{tag}.com",
                "company": f"Canary Works {tag}",
                "note": f"met at the {tag} fair",
            }
        )

    def __str__(self) -> str:
        return f"canaries with tag {self.tag}"


def spellings(value: str) -> set[bytes]:
    """Return the encodings in which a value may leak; all are lower case except base64."""
    plain = {value, json.dumps(value)[1:-1], quote(value, safe=""), quote(value), quote_plus(value)}
    if value.startswith("+"):
        plain.add(value[1:])
    if not value.isascii():
        plain.add(value.encode("idna").decode())
    raw = value.encode()
    found = {text.lower().encode() for text in plain} | {raw.hex().encode(), value[::-1].lower().encode()}
    found |= {value.lower().encode(form) for form in ("utf-16-le", "utf-16-be")}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        stable = encoded[(0, 2, 3)[shift] : (len(raw) + shift) // 3 * 4]
        found |= {stable, stable.replace(b"+", b"-").replace(b"/", b"_")}
    return found


def leaks(canaries: Iterable[tuple[str, str]], places: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return each canary that was found, and where."""
    searched = [(name, text) for name, value in canaries for text in spellings(value)]
    found = set()
    for place, content in places:
        lowered = content.lower()
        found |= {f"{name} in {place}" for name, text in searched if text in lowered or text in content}
    return sorted(found)


def database_columns(database: Database) -> Iterator[tuple[str, bytes]]:
    """Yield each column of each table, as `table.column`, with its values."""
    with database.engine.connect() as connection:
        for table in inspect(database.engine).get_table_names():
            rows = connection.execute(text(f'SELECT * FROM "{table}"'))  # noqa: S608 -- a table name from the schema
            names = list(rows.keys())
            columns: list[list[bytes]] = [[] for _ in names]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    column.append(_bytes(value))
            for name, column in zip(names, columns, strict=True):
                yield f"{table}.{name}", b"\n".join(column)


def redis_entries(client: redis.Redis) -> Iterator[tuple[str, bytes]]:
    """Yield each key of Redis with its value, as read by type and as serialised by DUMP."""
    reads: dict[bytes, Any] = {
        b"string": client.get,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"hash": client.hgetall,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"stream": client.xrange,
    }
    for key in client.scan_iter("*"):
        value = reads[client.type(key)](key)
        yield (
            f"Redis {key!r}",
            b"\n".join((key, _bytes(value), _bytes(client.dump(key)), decoded_messages(value))),
        )


def decoded_messages(value: Any) -> bytes:
    """Return the decoded bodies of the messages in a queue; the bodies are base64."""
    return b"\n".join(
        base64.b64decode(json.loads(item)["body"])
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, bytes | str) and item[:9] in (b'{"body": ', '{"body": ')
    )


@dataclass
class TrafficCapture:
    """A recording of all commands sent to a Redis server."""

    url: str
    commands: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        while not self.stopped.is_set():
            try:
                with redis.Redis.from_url(self.url, socket_timeout=1).monitor() as monitor:
                    while not self.stopped.is_set():
                        self.commands.append(str(monitor.next_command()["command"]))
            except redis.RedisError:
                self.stopped.wait(0.05)

    @property
    def messages(self) -> bytes:
        """Return the decoded bodies of the messages that were sent."""
        bodies = []
        for command in self.commands:
            _prefix, marker, rest = command.partition('{"body": "')
            if marker:
                bodies.append(base64.b64decode(rest.partition('"')[0]))
        return b"\n".join(bodies)


def process_logs(folder: Path) -> list[tuple[str, bytes]]:
    """Return the log of each process."""
    return [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.log"))]


def process_arguments() -> list[tuple[str, bytes]]:
    """Return the arguments of every running process."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append((f"the arguments of {process.parent.name}", process.read_bytes()))
        except OSError:  # the process has ended
            continue
    return found


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return str(value).encode() if not isinstance(value, list | dict) else repr(value).encode()
