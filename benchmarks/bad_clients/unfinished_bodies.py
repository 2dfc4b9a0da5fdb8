"""Measure the memory of the API while many clients stop in the middle of a request.

    python3 dev.py run python benchmarks/bad_clients/unfinished_bodies.py [--connections 100]

Each load opens connections, sends nearly all of a request on each, and stops: an uploaded file as the body,
in chunks, as a part of a form, or as many fields of a form; JSON of a sign-in; headers without an end. TMPDIR
is in memory, as in the containers of docker-compose.yml. Memory is what only the API's processes use, with
the files in it. Disk is what their other files take. The exit code is 1 if a load costs more than 50 MB.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = ("support", "support/servers", "support/stored", "e2e/support")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")

import resource  # noqa: E402 -- after the paths
import socket  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402
from contextlib import ExitStack, contextmanager, suppress  # noqa: E402
from itertools import repeat  # noqa: E402

import psutil  # noqa: E402
from e2e_stack import Stack, running  # noqa: E402
from local_servers import empty_database  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

MB = 1_000_000
GOAL_MB = 50
WORKSPACES = 10
SENT = 18 * MB
LENGTH = 20 * MB
FIELD = 400_000
JSON_LENGTH = 260_000
HEADERS = 400_000
PIECE = b"Ada Example;ada@acme.example;Acme\n" * 2000
BOUNDARY = "unfinished"
PART = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{{}}"{{}}\r\n\r\n'
SPOOL_MAX_MB = "10000"
"""Enough that no upload is refused."""
IN_MEMORY = Path("/dev/shm")  # noqa: S108 -- Linux's directory in memory
SETTLING_SECONDS = 1.0
CLIENTS = 10
"""Connections that send at the same time."""
Client = Callable[[str], Iterator[bytes]]


def file(token: str) -> Iterator[bytes]:
    """Yield an upload whose body is the file."""
    yield _head("/api/uploads", token, "text/csv", f"Content-Length: {LENGTH}")
    yield from _pieces(SENT)


def chunks(token: str) -> Iterator[bytes]:
    """Yield an upload in chunks."""
    yield _head("/api/uploads", token, "text/csv", "Transfer-Encoding: chunked")
    for piece in _pieces(SENT):
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


def part(token: str) -> Iterator[bytes]:
    """Yield an upload whose file is a part of a form."""
    yield _head(
        "/api/uploads", token, f"multipart/form-data; boundary={BOUNDARY}", f"Content-Length: {LENGTH}"
    )
    yield PART.format("file", '; filename="people.csv"').encode()
    yield from _pieces(SENT)


def fields(token: str) -> Iterator[bytes]:
    """Yield a form with long fields instead of a file."""
    yield _head(
        "/api/uploads", token, f"multipart/form-data; boundary={BOUNDARY}", f"Content-Length: {LENGTH}"
    )
    for number in range(SENT // FIELD):
        yield PART.format(f"field{number}", "").encode() + b"x" * (FIELD - 100) + b"\r\n"


def sign_in(_token: str) -> Iterator[bytes]:
    """Yield a sign-in, whose body is JSON, without a token."""
    yield _head("/api/ext/login", "", "application/json", f"Content-Length: {JSON_LENGTH}")
    yield b'{"email": "' + b"x" * (JSON_LENGTH - 100)


def headers(_token: str) -> Iterator[bytes]:
    """Yield headers without an end."""
    yield b"GET / HTTP/1.1\r\nHost: api.example\r\n"
    for number in range(HEADERS // 8000):
        yield f"X-Header-{number}: ".encode() + b"x" * 7900 + b"\r\n"


LOADS: dict[str, Client] = {
    "file": file,
    "chunks": chunks,
    "part of a form": part,
    "fields of a form": fields,
    "sign-in": sign_in,
    "headers": headers,
}


def main() -> int:
    """Measure each load on a new API; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--connections", type=int, default=100)
    parser.add_argument("--loads", default=",".join(LOADS), help="some of: " + ",".join(LOADS))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    table = Table("load", "connections", "sent, MB", "memory, MB", "disk, MB", "answers", "goal")
    good = True
    for name in options.loads.split(","):
        with tempfile.TemporaryDirectory() as folder, _api(Path(folder)) as stack:
            sent, memory, disk, answers = _measure(stack, LOADS[name], options.connections)
        reached = memory < GOAL_MB
        good &= reached
        told = ", ".join(f"{count} of {status}" for status, count in sorted(answers.items()))
        figures = (f"{sent / MB:.0f}", f"{memory:.1f}", f"{disk:.0f}", told, "yes" if reached else "no")
        table.add_row(name, str(options.connections), *figures)
    Console(width=120).print(table)
    return 0 if good else 1


@contextmanager
def _api(folder: Path) -> Iterator[Stack]:
    """Run the API, whose temporary files are in memory."""
    with (
        tempfile.TemporaryDirectory(dir=IN_MEMORY) as in_memory,
        ExitStack() as stop,
    ):
        url = stop.enter_context(empty_database(folder, "unfinished"))
        settings = {"LOG_LEVEL": "error", "TMPDIR": in_memory, "SPOOL_MAX_MB": SPOOL_MAX_MB}
        yield stop.enter_context(running(folder, url, **settings))


def _measure(stack: Stack, client: Client, count: int) -> tuple[int, float, float, Counter[str]]:
    """Return the bytes sent, the megabytes of memory and disk used, and how many got which response."""
    tokens = [stack.create_workspace()[1] for _ in range(WORKSPACES)]
    for token in tokens:
        stack.call("GET", "/api/ext/session", Authorization=token)
    memory, disk = _usage(stack)
    address = ("127.0.0.1", int(stack.base_url.rpartition(":")[2]))
    with ExitStack() as stop, ThreadPoolExecutor(CLIENTS) as pool:
        connections = [stop.enter_context(socket.create_connection(address, timeout=5)) for _ in range(count)]
        pieces = [client(tokens[number % WORKSPACES]) for number in range(count)]
        sent = sum(pool.map(_send, connections, pieces))
        time.sleep(SETTLING_SECONDS)
        most_memory, most_disk = _usage(stack)
        answers = Counter(_answer(connection) for connection in connections)
    return sent, most_memory - memory, most_disk - disk, answers


def _send(connection: socket.socket, pieces: Iterator[bytes]) -> int:
    """Send until all is sent or the server has answered; return how many bytes."""
    sent = 0
    with suppress(OSError):
        for piece in pieces:
            connection.sendall(piece)
            sent += len(piece)
    return sent


def _answer(connection: socket.socket) -> str:
    """Return the status that was received, or "none" as the server waits for the rest."""
    connection.setblocking(False)  # noqa: FBT003 -- the socket's signature
    try:
        return connection.recv(100).split()[1].decode()
    except BlockingIOError:
        return "none"
    except (OSError, IndexError):
        return "reset"


def _usage(stack: Stack) -> tuple[float, float]:
    """Return the megabytes that the API's processes use: memory with the files in it, and other files."""
    web = psutil.Process(stack.web.pid)
    memory, disk = 0, 0
    for process in (web, *web.children(recursive=True)):
        memory += process.memory_full_info().uss
        for name in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(OSError):
                status = name.stat()
                if not status.st_nlink:
                    in_memory = status.st_dev == IN_MEMORY.stat().st_dev
                    memory += status.st_size * in_memory
                    disk += status.st_size * (not in_memory)
    return memory / MB, disk / MB


def _head(path: str, token: str, media_type: str, *lines: str) -> bytes:
    authorization = [f"Authorization: {token}"] if token else []
    all_lines = [
        f"POST {path} HTTP/1.1",
        "Host: api.example",
        f"Content-Type: {media_type}",
        *authorization,
        *lines,
    ]
    return "\r\n".join((*all_lines, "", "")).encode()


def _pieces(size: int) -> Iterator[bytes]:
    yield from repeat(PIECE, size // len(PIECE))


if __name__ == "__main__":
    sys.exit(main())
