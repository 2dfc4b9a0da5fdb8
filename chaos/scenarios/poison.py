"""R9: a job that kills the worker which asks about it, again and again, among innocent ones."""

from __future__ import annotations

import time
import uuid

from sqlalchemy import text

from chaos.context import WORKSPACES, ScenarioContext
from chaos.generator import Operation, one_reveal_per_contact
from chaos.load import Client, Load, retry_until_accepted
from chaos.service import INTERACTIVE
from chaos.vendor import PROFILE, Call, CannedResponse, Vendor

MAX_CRASHES = 4
LEASE_SECONDS = 6
OTHER_REVEALS = 120
PER_SECOND = 6.0
DRAIN_SECONDS = 180.0
QUERY = text("SELECT status, error, held, charged FROM jobs WHERE id = :id")


def poison(stage: ScenarioContext) -> None:
    """Ask about the poisonous person, and about stored ones meanwhile."""
    vendor = Vendor(lambda call: _kill_caller(stage, call))
    settings = vendor.start(stage.service.folder, rates="100/second")
    try:
        _reveal_poison(stage, vendor, settings)
    finally:
        vendor.stop()


def _reveal_poison(stage: ScenarioContext, vendor: Vendor, settings: dict[str, str]) -> None:
    limits = {"MAX_CRASHES": str(MAX_CRASHES), "LEASE_SECONDS": str(LEASE_SECONDS)}
    cast = stage.start(contacts=OTHER_REVEALS // WORKSPACES, **settings, **limits)
    body = {"subject": {"linkedin_url": f"{PROFILE}poison"}}
    asked = Operation(cast.tenants[0], "/api/ext/reveal/email", body, str(uuid.uuid4()), must_succeed=False)
    load = Load(
        stage.service.base_url, one_reveal_per_contact(cast), pace=PER_SECOND, target=OTHER_REVEALS + 1
    )
    client = Client(stage.service.base_url)
    retry_until_accepted(client, asked, load.book)
    client.close()
    job_id = load.book.accepted[asked.tenant.workspace, asked.key]
    load.start()
    stage.run_load(load, {}, "a worker dies again and again")
    waited = stage.drain(cast, load.book, DRAIN_SECONDS)
    with stage.service.engine.connect() as connection:
        row = connection.execute(QUERY, {"id": job_id}).one()
    ended = f"{row.status} after {len(vendor.calls)} calls"
    right = row.status == "failed" and "worker_lost" in str(row.error) and row.charged == 0
    within = 1 <= len(vendor.calls) <= MAX_CRASHES
    target = f"failed after at most {MAX_CRASHES} crashes"
    stage.expect("the poisonous reveal", ended, target, holds=right and within)
    found = stage.check(cast, load.book, waited, limit=DRAIN_SECONDS)
    stage.report_responses(load.book, found, {"worker in the call": len(vendor.calls)})


def _kill_caller(stage: ScenarioContext, call: Call) -> CannedResponse:
    """Do to the process that asks what `os._exit` in the provider would do."""
    for name in INTERACTIVE:
        if stage.service.processes.kill_connection_owner(name, call.port):
            break
    time.sleep(1.0)
    return CannedResponse(503)
