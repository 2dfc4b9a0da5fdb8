"""Logins and lookups beside slow and greedy clients, on several servers, one after the other.

    python3 dev.py run python benchmarks/slow_clients.py [--servers product,nginx] [--seconds 30]

Loads: 500 connections that drip a byte per second (half of them headers, half bodies); 1,000 callers that
wait 25 s for jobs no worker answers, over and over and not all at the same moment; 100 clients that pipeline
requests for a large answer and never read; all of it; and all of it with twenty sign-ins at once, in a loop.
Whoever is cut off comes back. waitress and granian are measured where they are installed, nginx where it is
on the PATH. Exits with 1 if the product's server misses its goal: logins and lookups within 0.2 s at p99,
and 45 KiB a waiter at most. Beside twenty sign-ins at once, which take both of two cores, there is no goal:
that nobody is left without an answer is looked at, and how long lookups take.

On a virtual machine the host gives processors' time to others, and the kernel says how much (`stolen`). Then
everybody waits, beside slow clients and without them. So a request is judged only if little was stolen around
its beginning, however long it took; each load is measured until there was enough such time, or four times as
long. The p99 of all requests, judged or not, stands in a column of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "e2e")]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")

import http.client  # noqa: E402 -- the paths come first
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
from e2e_stack import PASSWORD, Stack, kill, spawn, until  # noqa: E402
from local_servers import empty_database, free_port, start_redis  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from app.infra.db import Database  # noqa: E402

APP = "app.factory:create_app()"
LOADS = ("nothing", "dripping", "not reading", "waiting", "all", "all, 20 sign-ins at once")
GOAL_SECONDS = 0.2
GOAL_KIB = 45
GIVE_UP_SECONDS = 5.0
SETTLING_SECONDS = 3.0
"""A load that has just come is not yet what it will be for hours."""
WORKSPACES = 4
WINDOW_SECONDS = 0.25
STOLEN = 0.03
"""A window of which the host took more than this part is disturbed."""
JUDGED_SECONDS = 0.5
"""A request is judged if no window from the one before its beginning to so long after it is disturbed."""
LONGEST = 4
FEWEST = 100
"""Of how many a p99 can be told."""
OK = 200


@dataclass
class Figures:
    """When each request of a kind began and how many milliseconds it took, and how many failed."""

    answers: list[tuple[float, float]] = field(default_factory=list)
    failed: int = 0

    @property
    def took(self) -> list[float]:
        """Give the milliseconds alone."""
        return [took for _began, took in self.answers]

    def judged(self, disturbed: list[tuple[float, float]]) -> Figures:
        """Give those that began in peace; failures stay, whenever they were."""
        return Figures(
            [
                (began, took)
                for began, took in self.answers
                if not any(
                    begin < began + JUDGED_SECONDS and end > began - WINDOW_SECONDS
                    for begin, end in disturbed
                )
            ],
            self.failed,
        )

    @property
    def p99(self) -> float:
        """Give the time that one of a hundred exceeds."""
        return (
            statistics.quantiles(self.took, n=100, method="inclusive")[98]
            if len(self.took) > 1
            else float("inf")
        )

    def __str__(self) -> str:
        if not self.took:
            return f"none of {self.failed} answered"
        text = f"{statistics.median(self.took):.0f} / {self.p99:.0f} / {max(self.took):.0f}"
        return text + (f", {self.failed} failed" if self.failed else "")

    @property
    def is_good(self) -> bool:
        """Tell whether the goal is reached."""
        return not self.failed and self.p99 < GOAL_SECONDS * 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """What was measured beside one load, the windows that the host disturbed, and the share it took."""

    lookups: Figures
    logins: Figures
    disturbed: list[tuple[float, float]]
    stolen: float

    @property
    def count(self) -> int:
        """Give how many requests were answered, judged or not."""
        return len(self.lookups.answers) + len(self.logins.answers)


@dataclass(frozen=True, slots=True)
class Callers:
    """Who signs in and looks up, and who waits."""

    emails: tuple[str, ...]
    tokens: tuple[str, ...]
    person: str


def main() -> int:
    """Measure the servers that are there; return the exit code."""
    options = _options()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    console = Console() if sys.stdout.isatty() else Console(width=130)
    wanted = options.servers.split(",") if options.servers else list(SERVERS)
    missing = {name: why for name in wanted if (why := _missing(name))}
    for why in missing.values():
        console.print(why)
    table = Table(
        *("server", "load", "lookups, ms: p50 / p99 / max", "logins, ms", "KiB a waiter"),
        *("judged", "stolen", "p99 of all", "goal"),
    )
    good = True
    for name in [name for name in wanted if name not in missing]:
        for load, seen, kib in _rows(name, options.seconds, console):
            crowd = load == LOADS[-1]
            lookups, logins = (figures.judged(seen.disturbed) for figures in (seen.lookups, seen.logins))
            quick = not (lookups.failed or logins.failed) if crowd else lookups.is_good and logins.is_good
            enough = crowd or min(len(lookups.answers), len(logins.answers)) >= FEWEST
            reached = quick and enough and (kib or 0) <= GOAL_KIB
            good &= reached or name != "product"
            missed = "[red]no" if enough or lookups.failed or logins.failed else "[yellow]unknown"
            table.add_row(
                *(name, load, str(lookups), str(logins), "" if kib is None else f"{kib:.0f}"),
                f"{len(lookups.answers) + len(logins.answers)} of {seen.count}",
                f"{seen.stolen:.1%}",
                f"{seen.lookups.p99:.0f}, {seen.logins.p99:.0f}",
                "[green]yes" if reached else missed,
                end_section=crowd,
            )
    console.print(table)
    console.print(
        "The product's server reaches its goal."
        if good
        else "The product's server misses its goal, or it could not be told."
    )
    return 0 if good else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", help=f"some of {','.join(SERVERS)}")
    parser.add_argument("--seconds", type=float, default=30, help="for which each load is measured")
    return parser.parse_args()


def _rows(name: str, seconds: float, console: Console) -> Iterator[tuple[str, Seen, float | None]]:
    """Measure one server under every load."""
    with tempfile.TemporaryDirectory() as folder, _service(name, Path(folder)) as (stack, web):
        callers = _callers(stack)
        with ExitStack() as waiting:  # once there, they stay
            for load in LOADS:
                with console.status(f"{name}: {load}"), ExitStack() as stop:
                    before = _memory(web)
                    for kind in _kinds(load):
                        lasting = waiting if kind == "waiting" else stop
                        lasting.enter_context(_load(kind, stack, callers, Path(folder)))
                    kib = (_memory(web) - before) / 1024 / 1000 if load == "waiting" else None
                    seen = _measure(stack, callers, seconds, crowd=load == LOADS[-1])
                yield load, seen, kib


def _stolen(before: Any, after: Any) -> float:  # noqa: ANN401 -- psutil has no types
    """Give the share of the processors' time that the host gave to others; 0 where no host tells."""
    return (getattr(after, "steal", 0) - getattr(before, "steal", 0)) / (sum(after) - sum(before))


def _kinds(load: str) -> tuple[str, ...]:
    if load.startswith("all"):
        return ("dripping", "not reading")
    return () if load == "nothing" else (load,)


def _measure(stack: Stack, callers: Callers, seconds: float, *, crowd: bool) -> Seen:
    """Send lookups and logins for a while, each on a connection of its own."""
    lookups, logins = Figures(), Figures()
    time.sleep(SETTLING_SECONDS)
    over = threading.Event()
    port = int(stack.base_url.rpartition(":")[2])
    look = _request("/api/ext/lookup", {"subject": {"contact_id": callers.person}}, callers.tokens[0])
    sign = [_request("/api/ext/login", {"email": email, "password": PASSWORD}) for email in callers.emails]
    work: list[Callable[[], None]] = [
        *(lambda: _repeat(port, look, lookups, over=over, pause=0.1) for _ in range(3)),
        *(lambda n=n: _repeat(port, sign[n], logins, over=over, pause=0.2) for n in range(2)),
        *(
            lambda n=n: _repeat(
                port, sign[n % len(sign)], Figures(), over=over, pause=0, home=f"127.0.{n + 1}.1"
            )
            for n in range(20 * crowd)
        ),
    ]
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    try:
        disturbed, stolen = _watch(seconds)
    finally:
        over.set()
    for thread in threads:
        thread.join()
    return Seen(lookups, logins, disturbed, stolen)


def _watch(seconds: float) -> tuple[list[tuple[float, float]], float]:
    """Wait for so much time in peace; give when there was none, and the share of all that was stolen."""
    disturbed = []
    peace = 0.0
    end = time.monotonic() + LONGEST * seconds
    first = before = psutil.cpu_times()
    while peace < seconds and (began := time.monotonic()) < end:
        time.sleep(WINDOW_SECONDS)
        now = psutil.cpu_times()
        if _stolen(before, now) > STOLEN:
            disturbed.append((began, time.monotonic()))
        else:
            peace += WINDOW_SECONDS
        before = now
    return disturbed, _stolen(first, before)


def _request(path: str, body: object, token: str = "") -> tuple[str, bytes, dict[str, str]]:
    headers = {"Content-Type": "application/json", "Connection": "close"}
    return path, json.dumps(body).encode(), headers | ({"Authorization": token} if token else {})


def _repeat(
    port: int,
    what: tuple[str, bytes, dict[str, str]],
    figures: Figures,
    *,
    over: threading.Event,
    pause: float,
    home: str = "127.0.0.1",
) -> None:
    """Send it again and again, each time over a new connection from that address."""
    path, body, headers = what
    while not over.is_set():
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, GIVE_UP_SECONDS, (home, 0))
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
        except OSError:
            figures.failed += 1
        else:
            figures.answers.append((began, (time.monotonic() - began) * 1000))
            figures.failed += answer.status != OK
        finally:
            connection.close()
        time.sleep(pause)


def _callers(stack: Stack) -> Callers:
    made = [stack.workspace(grant=1000) for _ in range(WORKSPACES)]
    emails = tuple(f"{workspace.replace('_', '-')}@walkers.example" for workspace, _token in made)
    return Callers(emails, tuple(token for _workspace, token in made), stack.contacts(1)[0])


def _memory(web: subprocess.Popen[bytes]) -> int:
    """Give the bytes that only this server's processes use."""
    processes = [psutil.Process(web.pid), *psutil.Process(web.pid).children(recursive=True)]
    return sum(process.memory_full_info().uss for process in processes)


@contextmanager
def _load(kind: str, stack: Stack, callers: Callers, folder: Path) -> Iterator[None]:
    """Let the slow clients run in a process of their own, from when all of them are there."""
    told = {"port": int(stack.base_url.rpartition(":")[2]), "tokens": callers.tokens, "kind": kind}
    with (folder / "load.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 -- our own words
            [sys.executable, str(Path(__file__).with_name("slow_clients_load.py")), json.dumps(told)],
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
    """Run the API on this server, with Redis and an empty database, and no workers."""
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
        flask = [sys.executable, "-m", "flask", "--app", APP, "database", "upgrade"]
        subprocess.run(flask, cwd=ROOT, env=environment, check=True, capture_output=True)  # noqa: S603
        redis = start_redis(redis_port, folder)
        stop.callback(redis.wait)
        stop.callback(redis.kill)
        web = SERVERS[name](port, folder, environment, stop)
        stack = Stack(f"http://127.0.0.1:{port}", Database(url), redis_port, folder, redis, dict(environment))
        stop.callback(stack.database.engine.dispose)
        until(lambda: _answers(stack), 30)
        yield stack, web


def _answers(stack: Stack) -> bool:
    with suppress(OSError):
        return stack.call("GET", "/healthz").status == OK
    return False


Start = Callable[[int, Path, dict[str, str], ExitStack], "subprocess.Popen[bytes]"]


def _module(*words: str) -> Start:
    """Start a server that is a Python module; `{port}` and `{folder}` stand for themselves."""

    def start(
        port: int, folder: Path, environment: dict[str, str], stop: ExitStack
    ) -> subprocess.Popen[bytes]:
        (folder / "empty.py").touch()
        command = [word.format(port=port, folder=folder) for word in words]
        web = spawn(*command, log=folder / "web.log", environment=environment)
        stop.callback(kill, web)
        return web

    return start


def _nginx(port: int, folder: Path, environment: dict[str, str], stop: ExitStack) -> subprocess.Popen[bytes]:
    """Start the product's server, and nginx with its usual buffers in front of it."""
    inner = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(port=port, inner=inner, folder=folder, user=""))
    nginx = subprocess.Popen(  # noqa: S603 -- our own words
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
    """Say why a server cannot be measured; nothing if it can."""
    if name == "nginx":
        return "" if shutil.which("nginx") else "nginx is not on the PATH and is left out."
    module = name if name in {"waitress", "granian"} else "gunicorn"
    return "" if find_spec(module) else f"{name} is not installed and is left out."


if __name__ == "__main__":
    sys.exit(main())
