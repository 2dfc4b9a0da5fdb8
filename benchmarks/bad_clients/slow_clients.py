"""Measure sign-ins and lookups beside slow and greedy clients, on several servers.

    python3 dev.py run python benchmarks/bad_clients/slow_clients.py [--servers product,nginx] [--seconds 30]

Loads: 500 connections that send a byte per second (half of them headers, half bodies); 1,000 clients that
repeatedly wait 25 s for jobs that no worker runs, not all at the same moment; 100 clients that pipeline
requests for a large response and never read; all of these; and all of these with twenty concurrent sign-ins,
in a loop. Clients reconnect when they are disconnected. waitress and granian are measured if they are
installed, nginx if it is on the PATH. The exit code is 1 if the product's server misses its goal: sign-ins
and lookups within 0.2 s at p99, and at most 45 KiB per waiting client. With twenty concurrent sign-ins, which
use both of two cores, the only goal is that every request gets a response.

On a virtual machine the host gives processor time to other guests, and the kernel reports how much
(`stolen`). Then every request takes longer, with slow clients or without. So a request counts only if little
time was stolen around its start, however long it took. Each load is measured until there was enough
undisturbed time, or for four times as long. The p99 of all requests, counted or not, has a column of its own.
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

import http.client  # noqa: E402 -- after the paths
import json  # noqa: E402
import resource  # noqa: E402
import shutil  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from contextlib import ExitStack, contextmanager, suppress  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from typing import Any  # noqa: E402

import psutil  # noqa: E402
from e2e_stack import PASSWORD, Stack, kill, spawn  # noqa: E402
from local_servers import empty_database, free_port, start_redis  # noqa: E402
from polling import wait_until  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from app.infra.crypto.digest_keys import DigestKeys  # noqa: E402
from app.infra.database.db import Database  # noqa: E402

APP = "app.factory:create_app()"
COMMANDS = "cli.application:create_app"
LOADS = ("nothing", "dripping", "not reading", "waiting", "all", "all, 20 sign-ins at once")
GOAL_SECONDS = 0.2
GOAL_KIB = 45
TIMEOUT_SECONDS = 5.0
SETTLING_SECONDS = 3.0
"""Until a new load has reached its steady state."""
WORKSPACES = 4
WINDOW_SECONDS = 0.25
MAX_STOLEN = 0.03
"""The share of a window that the host may take before the window counts as disturbed."""
UNDISTURBED_SECONDS = 0.5
"""A request counts if no window is disturbed from the one before its start until this long after it."""
MAX_EXTENSION = 4
MIN_REQUESTS = 100
"""For a meaningful p99."""
OK = 200


@dataclass
class Latencies:
    """When each request of a kind started and how many milliseconds it took, and how many failed."""

    responses: list[tuple[float, float]] = field(default_factory=list)
    failed: int = 0

    @property
    def milliseconds(self) -> list[float]:
        """The milliseconds of each response."""
        return [milliseconds for _started, milliseconds in self.responses]

    def without(self, disturbed: list[tuple[float, float]]) -> Latencies:
        """Return the requests that started outside the disturbed windows, and all failures."""
        return Latencies(
            [
                (started, took)
                for started, took in self.responses
                if not any(
                    begin < started + UNDISTURBED_SECONDS and end > started - WINDOW_SECONDS
                    for begin, end in disturbed
                )
            ],
            self.failed,
        )

    @property
    def p99(self) -> float:
        """The time that one request of a hundred exceeds."""
        return (
            statistics.quantiles(self.milliseconds, n=100, method="inclusive")[98]
            if len(self.milliseconds) > 1
            else float("inf")
        )

    def __str__(self) -> str:
        if not self.milliseconds:
            return f"no response to {self.failed}"
        text = f"{statistics.median(self.milliseconds):.0f} / {self.p99:.0f} / {max(self.milliseconds):.0f}"
        return text + (f", {self.failed} failed" if self.failed else "")

    @property
    def is_good(self) -> bool:
        """Whether the goal is reached."""
        return not self.failed and self.p99 < GOAL_SECONDS * 1000


@dataclass(frozen=True, slots=True)
class Measurement:
    """The latencies under a load, the windows that the host disturbed, and the share of time it took."""

    lookups: Latencies
    logins: Latencies
    disturbed: list[tuple[float, float]]
    stolen: float

    @property
    def count(self) -> int:
        """The number of responses, in disturbed windows or not."""
        return len(self.lookups.responses) + len(self.logins.responses)


@dataclass(frozen=True, slots=True)
class Callers:
    """The accounts that sign in, the tokens for lookups and waiting clients, and the contact to look up."""

    emails: tuple[str, ...]
    tokens: tuple[str, ...]
    person: str


def main() -> int:
    """Measure the available servers; return the exit code."""
    options = _options()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    console = Console() if sys.stdout.isatty() else Console(width=130)
    chosen = options.servers.split(",") if options.servers else list(SERVERS)
    missing = {name: reason for name in chosen if (reason := _missing(name))}
    for reason in missing.values():
        console.print(reason)
    table = Table(
        *("server", "load", "lookups, ms: p50 / p99 / max", "logins, ms", "KiB per waiter"),
        *("counted", "stolen", "p99 of all", "goal"),
    )
    good = True
    for name in [name for name in chosen if name not in missing]:
        for load, measured, kib in _rows(name, options.seconds, console):
            crowd = load == LOADS[-1]
            lookups, logins = (
                latencies.without(measured.disturbed) for latencies in (measured.lookups, measured.logins)
            )
            fast = not (lookups.failed or logins.failed) if crowd else lookups.is_good and logins.is_good
            enough = crowd or min(len(lookups.responses), len(logins.responses)) >= MIN_REQUESTS
            reached = fast and enough and (kib or 0) <= GOAL_KIB
            good &= reached or name != "product"
            missed = "[red]no" if enough or lookups.failed or logins.failed else "[yellow]unknown"
            table.add_row(
                *(name, load, str(lookups), str(logins), "" if kib is None else f"{kib:.0f}"),
                f"{len(lookups.responses) + len(logins.responses)} of {measured.count}",
                f"{measured.stolen:.1%}",
                f"{measured.lookups.p99:.0f}, {measured.logins.p99:.0f}",
                "[green]yes" if reached else missed,
                end_section=crowd,
            )
    console.print(table)
    console.print(
        "The product's server reaches its goal."
        if good
        else "The product's server misses its goal, or there were too few undisturbed requests."
    )
    return 0 if good else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", help=f"some of {','.join(SERVERS)}")
    parser.add_argument("--seconds", type=float, default=30, help="to measure each load (default: 30)")
    return parser.parse_args()


def _rows(name: str, seconds: float, console: Console) -> Iterator[tuple[str, Measurement, float | None]]:
    """Measure one server under every load."""
    with tempfile.TemporaryDirectory() as folder, _service(name, Path(folder)) as (stack, web):
        callers = _callers(stack)
        with ExitStack() as waiting:  # the waiting clients stay for the loads that follow
            for load in LOADS:
                with console.status(f"{name}: {load}"), ExitStack() as stop:
                    before = _memory(web)
                    for kind in _kinds(load):
                        lasting = waiting if kind == "waiting" else stop
                        lasting.enter_context(_load(kind, stack, callers, Path(folder)))
                    kib = (_memory(web) - before) / 1024 / 1000 if load == "waiting" else None
                    measured = _measure(stack, callers, seconds, crowd=load == LOADS[-1])
                yield load, measured, kib


def _stolen(before: Any, after: Any) -> float:  # noqa: ANN401 -- psutil has no types
    """Return the share of processor time that the host gave to other guests; 0 if it is not reported."""
    return (getattr(after, "steal", 0) - getattr(before, "steal", 0)) / (sum(after) - sum(before))


def _kinds(load: str) -> tuple[str, ...]:
    if load.startswith("all"):
        return ("dripping", "not reading")
    return () if load == "nothing" else (load,)


def _measure(stack: Stack, callers: Callers, seconds: float, *, crowd: bool) -> Measurement:
    """Send lookups and sign-ins for a while, each over a new connection."""
    lookups, logins = Latencies(), Latencies()
    time.sleep(SETTLING_SECONDS)
    stopped = threading.Event()
    port = int(stack.base_url.rpartition(":")[2])
    lookup = _request("/api/ext/lookup", {"subject": {"contact_id": callers.person}}, callers.tokens[0])
    sign_ins = [
        _request("/api/ext/login", {"email": email, "password": PASSWORD}) for email in callers.emails
    ]
    clients: list[Callable[[], None]] = [
        *(lambda: _repeat(port, lookup, lookups, stopped=stopped, pause=0.1) for _ in range(3)),
        *(lambda n=n: _repeat(port, sign_ins[n], logins, stopped=stopped, pause=0.2) for n in range(2)),
        *(
            lambda n=n: _repeat(
                port,
                sign_ins[n % len(sign_ins)],
                Latencies(),
                stopped=stopped,
                pause=0,
                source=f"127.0.{n + 1}.1",
            )
            for n in range(20 * crowd)
        ),
    ]
    threads = [threading.Thread(target=client) for client in clients]
    for thread in threads:
        thread.start()
    try:
        disturbed, stolen = _watch(seconds)
    finally:
        stopped.set()
    for thread in threads:
        thread.join()
    return Measurement(lookups, logins, disturbed, stolen)


def _watch(seconds: float) -> tuple[list[tuple[float, float]], float]:
    """Wait for this much undisturbed time; return the disturbed windows, and the share that was stolen."""
    disturbed = []
    undisturbed = 0.0
    end = time.monotonic() + MAX_EXTENSION * seconds
    first = before = psutil.cpu_times()
    while undisturbed < seconds and (started := time.monotonic()) < end:
        time.sleep(WINDOW_SECONDS)
        now = psutil.cpu_times()
        if _stolen(before, now) > MAX_STOLEN:
            disturbed.append((started, time.monotonic()))
        else:
            undisturbed += WINDOW_SECONDS
        before = now
    return disturbed, _stolen(first, before)


def _request(path: str, body: object, token: str = "") -> tuple[str, bytes, dict[str, str]]:
    headers = {"Content-Type": "application/json", "Connection": "close"}
    return path, json.dumps(body).encode(), headers | ({"Authorization": token} if token else {})


def _repeat(
    port: int,
    request: tuple[str, bytes, dict[str, str]],
    latencies: Latencies,
    *,
    stopped: threading.Event,
    pause: float,
    source: str = "127.0.0.1",
) -> None:
    """Send a request repeatedly, each time over a new connection from the address `source`."""
    path, body, headers = request
    while not stopped.is_set():
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, TIMEOUT_SECONDS, (source, 0))
        try:
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            response.read()
        except OSError:
            latencies.failed += 1
        else:
            latencies.responses.append((started, (time.monotonic() - started) * 1000))
            latencies.failed += response.status != OK
        finally:
            connection.close()
        time.sleep(pause)


def _callers(stack: Stack) -> Callers:
    workspaces = [stack.create_workspace(grant=1000) for _ in range(WORKSPACES)]
    emails = tuple(f"{workspace.replace('_', '-')}@customer.example" for workspace, _token in workspaces)
    return Callers(emails, tuple(token for _workspace, token in workspaces), stack.create_contacts(1)[0])


def _memory(web: subprocess.Popen[bytes]) -> int:
    """Return the memory that only this server's processes use, in bytes."""
    processes = [psutil.Process(web.pid), *psutil.Process(web.pid).children(recursive=True)]
    return sum(process.memory_full_info().uss for process in processes)


@contextmanager
def _load(kind: str, stack: Stack, callers: Callers, folder: Path) -> Iterator[None]:
    """Run the slow clients in a separate process; the block starts once all of them are connected."""
    options = {"port": int(stack.base_url.rpartition(":")[2]), "tokens": callers.tokens, "kind": kind}
    with (folder / "load.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 -- our own arguments
            [sys.executable, str(Path(__file__).with_name("slow_clients_load.py")), json.dumps(options)],
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            process.stdout.readline()
            yield
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@contextmanager
def _service(name: str, folder: Path) -> Iterator[tuple[Stack, subprocess.Popen[bytes]]]:
    """Run the API on this server, with Redis, an empty database and no workers."""
    port, redis_port = free_port(), free_port()
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, "slow"))
        environment = os.environ | {
            "DATABASE_URL": url,
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "LOG_LEVEL": "error",
            "LIMIT_LOGIN_ADDRESS": "100000/minute",
            "LIMIT_LOGIN_ACCOUNT": "100000/minute",
            "TRUSTED_PROXIES": "1" if name == "nginx" else "0",
        }
        flask = [sys.executable, "-m", "flask", "--app", COMMANDS, "database", "upgrade"]
        subprocess.run(flask, cwd=ROOT, env=environment, check=True, capture_output=True)  # noqa: S603
        redis = start_redis(redis_port, folder)
        stop.callback(redis.wait)
        stop.callback(redis.kill)
        web = SERVERS[name](port, folder, environment, stop)
        keys = DigestKeys(environment["SECRET_KEY"].encode(), environment["SUPPRESSION_KEY"].encode())
        stack = Stack(
            f"http://127.0.0.1:{port}", Database(url, keys=keys), redis_port, folder, redis, dict(environment)
        )
        stop.callback(stack.database.close)
        wait_until(lambda: _is_up(stack), 30)
        yield stack, web


def _is_up(stack: Stack) -> bool:
    with suppress(OSError):
        return stack.call("GET", "/healthz").status == OK
    return False


Start = Callable[[int, Path, dict[str, str], ExitStack], "subprocess.Popen[bytes]"]


def _module(*arguments: str) -> Start:
    """Return a function that starts a Python module as a server; `{port}` and `{folder}` are replaced."""

    def start(
        port: int, folder: Path, environment: dict[str, str], stop: ExitStack
    ) -> subprocess.Popen[bytes]:
        (folder / "empty.py").touch()
        command = [argument.format(port=port, folder=folder) for argument in arguments]
        web = spawn(*command, log=folder / "web.log", environment=environment)
        stop.callback(kill, web)
        return web

    return start


def _nginx(port: int, folder: Path, environment: dict[str, str], stop: ExitStack) -> subprocess.Popen[bytes]:
    """Start the product's server behind nginx with its default buffers."""
    inner = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(port=port, inner=inner, folder=folder, user=""))
    nginx = subprocess.Popen(  # noqa: S603 -- our own arguments
        [shutil.which("nginx") or "nginx", "-p", str(folder), "-c", str(configuration)],
        stderr=subprocess.DEVNULL,
    )
    stop.callback(nginx.wait)
    stop.callback(nginx.terminate)
    return _module("gunicorn", "-c", "gunicorn.conf.py", "-b", "127.0.0.1:{port}", APP)(
        inner, folder, environment, stop
    )


NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{
    access_log off;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    client_header_timeout 10s; client_body_timeout 20s; send_timeout 20s; client_max_body_size 300k;
    upstream api {{ server 127.0.0.1:{inner}; keepalive 64; }}
    server {{
        listen 127.0.0.1:{port} backlog=2048;
        location / {{
            proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header Host $host:{port};
        }}
    }}
}}
"""
_GUNICORN = ("gunicorn", "-c", "{folder}/empty.py", "--timeout", "60", "-b", "127.0.0.1:{port}")
_LISTEN = ("--host", "127.0.0.1", "--port", "{port}")
SERVERS: dict[str, Start] = {
    "product": _module("gunicorn", "-c", "gunicorn.conf.py", "-b", "127.0.0.1:{port}", APP),
    "nginx": _nginx,
    "gevent": _module(*_GUNICORN, "-k", "gevent", "--keep-alive", "75", "--worker-connections", "1000", APP),
    "gthread": _module(*_GUNICORN, "-k", "gthread", "--keep-alive", "75", "--threads", "100", APP),
    "waitress": _module(
        *("waitress", "--listen", "127.0.0.1:{port}", "--threads", "100", "--connection-limit", "8000"),
        *("--call", "app.factory:create_app"),
    ),
    "granian": _module(
        *("granian", *_LISTEN, "--interface", "wsgi", "--blocking-threads", "100", "--backlog", "2048"),
        *("--factory", "app.factory:create_app"),
    ),
}


def _missing(name: str) -> str:
    """Return why a server cannot be measured, or an empty string."""
    if name == "nginx":
        return "" if shutil.which("nginx") else "nginx is not on the PATH and is skipped."
    module = name if name in {"waitress", "granian"} else "gunicorn"
    return "" if find_spec(module) else f"{name} is not installed and is skipped."


if __name__ == "__main__":
    sys.exit(main())
