"""R14: the API and the workers are killed while an uploaded list is read, priced and enriched."""

from __future__ import annotations

import csv
import io
import itertools
import json
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select, text

from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from chaos import nemeses
from chaos.context import ScenarioContext
from chaos.nemeses import Nemesis
from chaos.system.service import FLASK, UPKEEP, WEB, ServiceUnderTest, Tenant
from tools import http_client
from tools.services.processes import ServiceError
from tools.services.supervisor import procfile_commands

ROWS, SHORT_ROWS = 10_000, 600
ENRICHMENT = "enrichment"
KNOWN, DUPLICATE, NOBODY, SUPPRESSED = 0.8, 0.05, 0.05, 0.01
"""The shares of rows that name stored people, repeat a row, name nobody, and name suppressed people."""
SECONDS_BETWEEN_KILLS = 20.0
MAX_SECONDS = 1500.0
POLL_SECONDS = 0.5
HEADER = ("Full name", "Work email", "Note")
PEOPLE = (
    select(Contact.full_name, Email.email).join(Contact, Contact.id == Email.contact_id).order_by(Email.id)
)
SPENT = text("SELECT available, held, spent FROM workspaces WHERE id = :workspace")
BROKEN = 'Broken,"not closed,by anyone'


def uploads(context: ScenarioContext) -> None:
    """Upload a list, kill processes until it is finished, and compare its result with its rows."""
    count = SHORT_ROWS if context.short else ROWS
    data = context.start(contacts=round(count * KNOWN))
    service, tenant = context.service, data.tenants[0]
    service.processes.start(
        ENRICHMENT, procfile_commands()["worker_enrichment"], service.env | service.settings
    )
    known = _known(service)[-round(count * KNOWN) :]
    hidden = [address for _name, address in known[: round(count * SUPPRESSED)]]
    _suppress(service, hidden)
    rows = _rows(known, count)
    started = time.monotonic()
    with nemeses.running(_nemeses(service), slowness=service.slowness) as injected:
        upload = _run(context, tenant, rows)
    context.service.restore_network()
    seconds = time.monotonic() - started
    service.wait_until_ready()
    result = _result(service, tenant, upload["id"])
    _compare(context, rows, result, found=len(known) - len(hidden), tenant=tenant)
    context.record("time from the upload to the result", f"{seconds:.0f} s for {len(rows) + 1:,} rows")
    context.record("faults injected", ", ".join(f"{n} x {fault}" for fault, n in sorted(injected.items())))
    context.audit()
    service.processes.stop([ENRICHMENT])


def _known(service: ServiceUnderTest) -> list[tuple[str, str]]:
    """Return the names and addresses of all people."""
    keys = DigestKeys(service.env["SECRET_KEY"].encode(), service.env["SUPPRESSION_KEY"].encode())
    database = Database(service.env["DATABASE_URL"], keys=keys)
    try:
        with database.reading(no_deadline=True) as session:
            return [(name or "", address) for name, address in session.execute(PEOPLE)]
    finally:
        database.close()


def _rows(known: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str, str]]:
    """Return the rows without the broken one: stored people, people nobody knows, nobody, and repetitions."""
    named = [(name, address, f"note {number}") for number, (name, address) in enumerate(known)]
    nobody = [("", "", f"nobody {number}") for number in range(round(count * NOBODY))]
    repeated = [(name, address.upper(), "again") for name, address, _ in named[: round(count * DUPLICATE)]]
    missing = count - 1 - len(named) - len(nobody) - len(repeated)
    unknown = [(f"Unknown {number}", f"u{number}@unknown.example", "unknown") for number in range(missing)]
    return [*named, *nobody, *unknown, *repeated]


def _nemeses(service: ServiceUnderTest) -> list[Nemesis]:
    """Kill the API with its arbiter, and the workers that continue and run the upload, in turn."""
    names = itertools.cycle((ENRICHMENT, WEB, UPKEEP))

    def kill() -> str | None:
        name = next(names)
        return name if service.processes.kill(name, min_age=service.boot_seconds / 2) else None

    return [Nemesis(kill, SECONDS_BETWEEN_KILLS)]


def _run(context: ScenarioContext, tenant: Tenant, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Upload the rows, start the upload when it has a price, and return it once it is finished."""
    service = context.service
    upload = _retried(lambda: _post_file(service, tenant, rows))
    path = f"/api/uploads/{upload['id']}"
    deadline = time.monotonic() + MAX_SECONDS
    while upload["status"] not in {"finished", "failed", "paused", "canceled"}:
        if time.monotonic() > deadline:
            raise ServiceError(f"The upload is not finished: {upload}")
        if upload["status"] == "ready":
            _retried(lambda: _call(service, tenant, "POST", f"{path}/start", {}))
        context.show(f"upload {upload['status']}", lambda now=upload: str(now["progress"]))  # type: ignore[misc]  # a default binds the value
        time.sleep(POLL_SECONDS)
        upload = _retried(lambda: _call(service, tenant, "GET", path))
    context.expect("status of the upload", upload["status"], "finished", holds=upload["status"] == "finished")
    return upload


def _post_file(service: ServiceUnderTest, tenant: Tenant, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Upload a file; a broken row is its last one, because a quote that is not closed ends nowhere."""
    file = io.StringIO(newline="")
    csv.writer(file).writerows([HEADER, *rows])
    headers = {
        "Authorization": f"Bearer {tenant.token}",
        "Content-Type": "text/csv",
        "Idempotency-Key": "the-list",
    }
    content = f"{file.getvalue()}{BROKEN}\r\n".encode()
    request = urllib.request.Request(f"{service.base_url}/api/uploads?name=list.csv", content, headers)  # noqa: S310 - our own service
    with urllib.request.urlopen(request, timeout=http_client.TIMEOUT_SECONDS) as response:  # noqa: S310 - see above
        upload: dict[str, Any] = json.load(response)
    return upload


def _call(
    service: ServiceUnderTest, tenant: Tenant, method: str, path: str, body: object = None
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {tenant.token}", "Content-Type": "application/json"}
    response = http_client.send(method, service.base_url + path, body, headers)
    if response.status >= http_client.SERVER_ERROR:
        raise ConnectionError(f"{method} {path}: {response.status}")
    found: dict[str, Any] = response.body
    return found


def _retried(attempt: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the answer; ask again while the API is away."""
    deadline = time.monotonic() + MAX_SECONDS
    while True:
        try:
            return attempt()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def _result(service: ServiceUnderTest, tenant: Tenant, upload_id: str) -> list[dict[str, str]]:
    headers = {"Authorization": f"Bearer {tenant.token}"}
    content = http_client.send(
        "GET", f"{service.base_url}/api/uploads/{upload_id}/result", None, headers
    ).body
    return list(csv.DictReader(io.StringIO(str(content).removeprefix("\ufeff"), newline="")))


def _compare(
    context: ScenarioContext,
    rows: Sequence[tuple[str, str, str]],
    result: Sequence[dict[str, str]],
    *,
    found: int,
    tenant: Tenant,
) -> None:
    """Report whether each row is there once and in its place, and each found person cost one credit."""
    returned = [tuple(row[name] for name in HEADER) for row in result[: len(rows)]]
    is_complete = returned == list(rows) and len(result) == len(rows) + 1
    context.expect(
        "rows in the result, in their order", f"{len(result):,}", f"{len(rows) + 1:,}", holds=is_complete
    )
    wrong = sum(row["Found email"] not in {"", row["Work email"].lower()} for row in result)
    context.expect("rows with the address of another row", f"{wrong}", "0", holds=not wrong)
    credits = sum(int(row["Result credits"]) for row in result)
    with context.service.engine.connect() as connection:
        balance = connection.execute(SPENT, {"workspace": tenant.workspace}).one()
    charged = f"{credits:,} in the result, {balance.spent:,} in the ledger, {balance.held:,} held"
    context.expect(
        "credits",
        charged,
        f"{found:,}, {found:,}, 0",
        holds=(credits, balance.spent, balance.held) == (found, found, 0),
    )
    outcomes = Counter(row["Result"] for row in result)
    context.record("rows by outcome", ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes.items())))
    jobs = Counter(row["Result receipt"] for row in result if row["Result receipt"])
    context.record("jobs", f"{len(jobs):,}, at most {max(jobs.values(), default=0)} rows each")


def _suppress(service: ServiceUnderTest, addresses: Sequence[str]) -> None:
    file = service.folder / "suppressed.csv"
    file.write_text("\n".join(["email", *addresses]) + "\n")
    completed = service.run([*FLASK, "suppressions", "import", str(file)])
    if completed.returncode:
        raise ServiceError(f"The suppressions could not be imported: {completed.stderr[-500:]}")
