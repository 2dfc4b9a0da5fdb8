"""Measure the calls that twelve workers make to a rate-limited provider, and to one that fails.

    python3 dev.py run python benchmarks/provider_throttle.py [DATABASE_URL]

Twelve processes query a vendor on loopback as fast as the throttle in the database permits, without Redis.
The database is a temporary SQLite file by default. The last rate is so high that it does not limit the calls.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUPPORT = ("support", "support/servers", "support/stored")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")
os.environ.setdefault("DATABASE_URL", "sqlite://")
os.environ["REDIS_URL"] = "redis://127.0.0.1:1/0"

from jobs_support import a_question, a_workspace, claim, submit  # noqa: E402 -- after the paths
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from app import settings as app_settings  # noqa: E402
from app.domain.errors import Unavailable  # noqa: E402
from app.domain.kinds import TraceOutcome  # noqa: E402
from app.domain.providers.rates import parse_rates  # noqa: E402
from app.domain.records.subjects import Subject  # noqa: E402
from app.engine.providers.provider_throttles import ProviderThrottleRow  # noqa: E402
from app.infra import clock  # noqa: E402
from app.infra.crypto.digest_keys import DigestKeys  # noqa: E402
from app.infra.database.db import Database  # noqa: E402
from app.infra.telemetry import log  # noqa: E402
from app.settings import Settings  # noqa: E402
from cli.application import create_app  # noqa: E402
from workers.execution.worker_services import WorkerServices  # noqa: E402
from workers.providers.base import ProviderField, ProviderRequest  # noqa: E402
from workers.providers.hunter import Hunter  # noqa: E402
from workers.resolve import waterfall  # noqa: E402
from workers.resolve.call_gateway import DatabaseCallGateway  # noqa: E402
from workers.resolve.waterfall import WaterfallResult  # noqa: E402

WORKERS = 12
SECONDS = 6.0
RATES = ("20/second", "50/second", "300/minute")
UNLIMITED = "1000000/second"


class Vendor(BaseHTTPRequestHandler):
    """Returns no result, or an error if it is broken; records when each call arrived."""

    protocol_version = "HTTP/1.1"
    calls: list[float] = []  # noqa: RUF012 -- the handlers of a server share only their class
    broken = False

    def do_GET(self) -> None:
        """Record the time and respond."""
        self.calls.append(time.monotonic())
        body = b"oops" if self.broken else b'{"data": {"email": null}, "meta": {}}'
        self.send_response(500 if self.broken else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Print nothing."""


def main(database_url: str | None) -> None:
    """Measure each rate, then a provider that fails."""
    log.configure(level="error", style="logfmt")
    with tempfile.TemporaryDirectory() as folder, _vendor() as url:
        database_url = database_url or f"sqlite:///{folder}/throttle.sqlite3"
        database = Database(database_url, keys=DigestKeys.from_settings(_settings(database_url)))
        create_app(_settings(database_url)).test_cli_runner().invoke(args=["database", "upgrade"])
        console = Console()
        console.print(_rates(database, database_url, url))
        console.print(_failures(database, database_url, url))


def _rates(database: Database, database_url: str, url: str) -> Table:
    """Compare the calls with what the rate allows between the first and the last: rate x time + burst."""
    table = Table("rate", "calls", "in s", "allowed", "in the busiest window", "allowed")
    for text in track((*RATES, UNLIMITED), "rates", transient=True):
        calls = _run(database, database_url, url, text)
        rate = parse_rates(text)[0]
        took = calls[-1] - calls[0]
        busiest = max(sum(start <= call < start + rate.seconds for call in calls) for start in calls)
        allowed = rate.count * took / rate.seconds + rate.burst
        limits = (f"{allowed:.0f}", str(busiest), str(rate.count))
        table.add_row(text, str(len(calls)), f"{took:.1f}", *(("", "", "") if text == UNLIMITED else limits))
    return table


def _failures(database: Database, database_url: str, url: str) -> Table:
    """Measure a provider that fails until the breaker opens, still fails at the probe, and then recovers."""
    Vendor.broken = True
    table = Table("the provider", "calls", "breaker afterwards")
    table.add_row("fails", str(len(_run(database, database_url, url, "1000/second"))), _state(database))
    _expire_breaker(database)
    calls = len(_run(database, database_url, url, "1000/second", fresh=False))
    table.add_row("still fails when a probe is due", str(calls), _state(database))
    Vendor.broken = False
    _expire_breaker(database)
    calls = len(_run(database, database_url, url, "1000/second", fresh=False))
    table.add_row("has recovered", str(calls), _state(database))
    return table


def _run(database: Database, database_url: str, url: str, rate: str, *, fresh: bool = True) -> list[float]:
    """Run the workers; return when each call arrived."""
    with database.transaction() as session:
        if fresh:
            session.query(ProviderThrottleRow).delete()
        workspace = a_workspace(session, grant=1000)
    Vendor.calls.clear()
    context = multiprocessing.get_context("fork")
    begin = context.Barrier(WORKERS)
    workers = [
        context.Process(target=_work, args=(number, workspace, database_url, url, rate, begin))
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sorted(Vendor.calls)


def _work(number: int, workspace: str, database_url: str, url: str, rate: str, begin: Any) -> None:  # noqa: ANN401, PLR0917 -- the arguments of a process
    """Query the provider about one new person after the other, as a worker would."""
    log.configure(level="critical", style="logfmt")
    settings = dataclasses.replace(
        _settings(database_url),
        provider_variables=(("HUNTER_API_KEY", "key"), ("HUNTER_BASE_URL", url), ("HUNTER_RATE", rate)),
    )
    hunter = Hunter(settings.access("hunter"))
    keys = DigestKeys.from_settings(settings)
    worker_services = WorkerServices(settings, Database(database_url, keys=keys), None, None)  # type: ignore[arg-type]
    with worker_services.database.transaction() as session:
        job = submit(session, a_question(workspace, f"worker {number} {clock.now()}"), now=clock.now()).job
        claimed = claim(session, job.id, now=clock.now())
    begin.wait()
    deadline = time.monotonic() + SECONDS
    count = 0
    while time.monotonic() < deadline:
        count += 1
        subject = Subject(full_name=f"Person {number} {count}", company_domain="acme.com")
        request = ProviderRequest(field=ProviderField.EMAIL, subject=subject, types=("work",))
        gateway = DatabaseCallGateway(worker_services, claimed)
        try:
            result: WaterfallResult = waterfall.run(
                request, [hunter], lambda _response: False, gateway=gateway
            )
        except Unavailable:  # SQLite has a single writer, and twelve processes compete for it
            continue
        if result.trace[0]["outcome"] in {TraceOutcome.RATE_LIMITED, TraceOutcome.CIRCUIT_OPEN}:
            time.sleep(min(result.retry_after or 0.1, 0.25))


def _settings(database_url: str) -> Settings:
    return dataclasses.replace(app_settings.load(), database_url=database_url)


def _state(database: Database) -> str:
    with database.reading() as session:
        return session.get_one(ProviderThrottleRow, "hunter").state


def _expire_breaker(database: Database) -> None:
    with database.transaction() as session:
        session.get_one(ProviderThrottleRow, "hunter").open_until = clock.now() - timedelta(seconds=1)


@contextmanager
def _vendor() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
