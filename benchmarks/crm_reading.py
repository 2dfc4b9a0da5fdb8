"""Measure how long the first reading of a CRM takes, until a change is seen, and what it costs.

    python benchmarks/crm_reading.py [--sqlite] [records ...]

One process plays a HubSpot with generated contacts. Another reads it as a worker does, in turns with the
pauses between them, into an empty database on a throw-away PostgreSQL server. Then a contact is changed,
right after a reading has ended, until it is found in the index.
"""

from __future__ import annotations

import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from tools.services import postgres  # noqa: E402 -- after the path is set

RECORDS = (20_000,)
SETTINGS = ("full_page_writes=off", "fsync=off")
WORKER = "--worker"
MOVED = "moved@changed.example"
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)


class HubSpot(ThreadingHTTPServer):
    """A HubSpot with contacts 1 to `records`; `changed` are those that were changed, by id."""

    def __init__(self, records: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.records = records
        self.requests = 0
        self.changed: dict[int, dict[str, Any]] = {}

    def contact(self, number: int) -> dict[str, Any]:
        """Return a contact with the properties that are read."""
        company = number // 20
        properties = {
            "firstname": "Ada",
            "lastname": f"Lovelace{number}",
            "email": f"contact{number}@company{company}.example",
            "phone": f"+1 212 555 {number % 10_000:04}",
            "hs_linkedin_url": f"https://www.linkedin.com/in/person-{number}",
            "company": f"Company {company} GmbH",
            "website": f"https://www.company{company}.example",
            "lifecyclestage": "customer",
            "lastmodifieddate": (_CREATED + timedelta(seconds=number)).isoformat(timespec="milliseconds"),
        }
        return {"id": str(number), "properties": properties | self.changed.get(number, {})}

    def listed(self, after: int, limit: int) -> dict[str, Any]:
        """Return a page of all contacts."""
        last = min(after + limit, self.records)
        more = {"paging": {"next": {"after": str(last)}}} if last < self.records else {}
        return {"results": [self.contact(number) for number in range(after + 1, last + 1)]} | more

    def searched(self) -> dict[str, Any]:
        """Return the contacts that were changed."""
        return {"results": [self.contact(number) for number in self.changed]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubSpot

    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        if query.pop("change", None):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            self.server.changed[1] = {"email": MOVED, "lastmodifieddate": now}
            self._answer({"requests": self.server.requests})
            return
        self.server.requests += 1
        self._answer(self.server.listed(int(query.get("after", 0)), int(query.get("limit", 100))))

    def do_POST(self) -> None:
        self.server.requests += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(self.server.searched())

    def _answer(self, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the method's signature
        """Print nothing."""


def measure(records: int, *, on_sqlite: bool) -> dict[str, float]:
    """Read a CRM with so many records in a separate process; return the figures."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = f"sqlite:///{folder}/data.sqlite3"
        if not on_sqlite:
            url = f"postgresql://{stack.enter_context(postgres.server(SETTINGS)).address}"
        hubspot = stack.enter_context(HubSpot(records))
        threading.Thread(target=hubspot.serve_forever, daemon=True).start()
        stack.callback(hubspot.shutdown)
        environment = _environment(url) | {
            "CRM_HUBSPOT_BASE_URL": f"http://127.0.0.1:{hubspot.server_port}",
            "WEBHOOK_NETWORKS": "127.0.0.1/32",
        }
        completed = subprocess.run(  # noqa: S603 -- this file
            [sys.executable, __file__, WORKER], check=True, stdout=subprocess.PIPE, env=environment
        )
    figures: dict[str, float] = json.loads(completed.stdout.splitlines()[-1])
    return figures


def _environment(url: str) -> dict[str, str]:
    keys = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    keys |= {"REDIS_URL": "redis://127.0.0.1:1/0", "LOG_LEVEL": "error", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **keys, "DATABASE_URL": url}


def _work() -> None:
    """Read the CRM as a worker does, in this process, and print the figures as JSON."""
    from ipaddress import ip_network  # noqa: PLC0415 -- with the next ones

    from app.engine.accounts import workspaces  # noqa: PLC0415 -- the parent process has no settings
    from app.engine.lookups.lookup_parts import LookedUp  # noqa: PLC0415
    from app.engine.work.items import WorkItem  # noqa: PLC0415
    from app.factory import create_app  # noqa: PLC0415
    from app.features.crm import connections, work  # noqa: PLC0415
    from app.features.crm.connections import Credentials  # noqa: PLC0415
    from app.features.crm.index import index_matches  # noqa: PLC0415
    from app.features.crm.index.readings import CrmReading  # noqa: PLC0415
    from app.infra import clock  # noqa: PLC0415
    from app.infra.broker.job_notifications import JobNotifier  # noqa: PLC0415
    from app.infra.broker.queue import JobPublisher  # noqa: PLC0415
    from app.infra.database.db import Base  # noqa: PLC0415
    from workers.execution.worker_services import WorkerServices  # noqa: PLC0415
    from workers.webhook_client import WebhookClient  # noqa: PLC0415

    api = create_app().extensions["services"]
    Base.metadata.create_all(api.database.engine)
    nowhere = api.settings.redis_url
    services = WorkerServices(api.settings, api.database, JobPublisher(nowhere), JobNotifier(nowhere))
    client = WebhookClient((ip_network("127.0.0.1/32"),))
    with api.database.transaction() as session:
        workspace_id = workspaces.create(session, name="Acme", now=clock.now()).id
        connection_id = connections.create(
            session,
            workspace_id,
            vendor="hubspot",
            base_url=None,
            credentials=Credentials(token=secrets.token_hex()),
            mapping={},
            account_id="acc_1",
            now=clock.now(),
        ).id
    work.take_turn(connection_id, services, client)
    reading_id, busy = connections.reading_id(connection_id), 0.0

    def turn() -> CrmReading:
        nonlocal busy
        with api.database.reading() as session:
            due_at = session.get_one(WorkItem, reading_id).due_at
        time.sleep(max(0.0, ((due_at or clock.now()) - clock.now()).total_seconds()))
        started = time.perf_counter()
        work.take_reading_turn(reading_id, services, client)
        busy += time.perf_counter() - started
        with api.database.reading() as session:
            found: CrmReading = session.get_one(CrmReading, connection_id)
            return found

    def is_seen() -> bool:
        with api.database.reading() as session:
            return bool(index_matches.find(session, [LookedUp(workspace_id=workspace_id, emails=[MOVED])])[0])

    started, cpu = time.perf_counter(), time.process_time()
    reading = turn()
    while reading.finished_at is None:
        reading = turn()
    first, first_busy, first_cpu = time.perf_counter() - started, busy, time.process_time() - cpu
    changed = client.send("GET", f"{os.environ['CRM_HUBSPOT_BASE_URL']}/?change=1", b"", {}, max_bytes=1000)
    requests = json.loads(changed.body)["requests"]
    started = time.perf_counter()
    while not is_seen():
        turn()
    figures = {
        "records": reading.records,
        "seconds": first,
        "working": first_busy,
        "cpu": first_cpu,
        "requests": 1000 * requests / reading.records,
        "change": time.perf_counter() - started,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def main(arguments: list[str]) -> None:
    """Measure each size, and print a table."""
    on_sqlite = "--sqlite" in arguments
    title = f"reading a CRM, {'SQLite' if on_sqlite else 'PostgreSQL'}"
    table = Table(title=title)
    names = ("records", "first reading, s", "of them working, s", "CPU s", "requests per 1,000 records")
    for name in (*names, "s until a change is seen", "peak MB"):
        table.add_column(name, justify="right")
    for records in [int(argument) for argument in arguments if argument.isdigit()] or RECORDS:
        found = measure(records, on_sqlite=on_sqlite)
        table.add_row(*(f"{figure:,.0f}" for figure in found.values()))
    Console(width=110).print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == [WORKER]:
        _work()
    else:
        main(sys.argv[1:])
