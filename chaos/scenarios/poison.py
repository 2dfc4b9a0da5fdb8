"""R9: a job that kills every worker that queries its provider, among other jobs."""

from __future__ import annotations

import time
import uuid

from sqlalchemy import text

from chaos.context import WORKSPACES, ScenarioContext
from chaos.system.service import INTERACTIVE
from chaos.system.vendor import PROFILE, Call, CannedResponse, Vendor
from chaos.workload.generator import Operation, one_reveal_per_contact
from chaos.workload.load import Client, Load, retry_until_accepted

MAX_CRASHES = 4
LEASE_SECONDS = 6
OTHER_REVEALS = 120
PER_SECOND = 6.0
DRAIN_SECONDS = 180.0
JOB = text("SELECT status, error, held, charged FROM jobs WHERE id = :id")


def poison(context: ScenarioContext) -> None:
    """Reveal the poisonous person, and stored contacts at the same time."""
    vendor = Vendor(lambda call: _kill_caller(context, call))
    settings = vendor.start(context.service.folder, rates="100/second")
    try:
        _reveal_poison(context, vendor, settings)
    finally:
        vendor.stop()


def _reveal_poison(context: ScenarioContext, vendor: Vendor, settings: dict[str, str]) -> None:
    limits = {"MAX_CRASHES": str(MAX_CRASHES), "LEASE_SECONDS": str(LEASE_SECONDS)}
    data = context.start(contacts=OTHER_REVEALS // WORKSPACES, **settings, **limits)
    body = {"subject": {"linkedin_url": f"{PROFILE}poison"}}
    tenant, key = data.tenants[0], str(uuid.uuid4())
    operation = Operation(tenant, "/api/ext/reveal/email", body, key, must_succeed=False)
    load = Load(
        context.service.base_url, one_reveal_per_contact(data), pace=PER_SECOND, target=OTHER_REVEALS + 1
    )
    client = Client(context.service.base_url)
    retry_until_accepted(client, operation, load.history)
    client.close()
    job_id = load.history.accepted[tenant.workspace, key]
    load.start()
    context.wait_for(load, {}, "a worker dies repeatedly")
    drained = context.drain(data, load.history, DRAIN_SECONDS)
    with context.service.engine.connect() as connection:
        job = connection.execute(JOB, {"id": job_id}).one()
    calls = len(vendor.calls)
    failed = job.status == "failed" and "worker_lost" in str(job.error) and job.charged == 0
    context.expect(
        "the poisonous reveal",
        f"{job.status} after {calls} calls",
        f"failed after at most {MAX_CRASHES} crashes",
        holds=failed and 1 <= calls <= MAX_CRASHES,
    )
    findings = context.check(data, load.history, drained, limit=DRAIN_SECONDS)
    context.report_responses(load.history, findings, {"worker in the call": calls})


def _kill_caller(context: ScenarioContext, call: Call) -> CannedResponse:
    """Kill the calling process, as `os._exit` in the provider would."""
    for name in INTERACTIVE:
        if context.service.processes.kill_connection_owner(name, call.port):
            break
    time.sleep(1.0)
    return CannedResponse(503)
