"""R9: a job that kills the worker which asks about it, again and again, among innocent ones."""

from __future__ import annotations

import time
import uuid

from sqlalchemy import text

from tools.chaos.deck import Asked, stored
from tools.chaos.load import Client, Load, persist
from tools.chaos.stack import INTERACTIVE
from tools.chaos.stage import WORKSPACES, Stage
from tools.chaos.vendor import PROFILE, Call, Says, Vendor

MAX_CRASHES = 4
LEASE_SECONDS = 6
INNOCENT = 120
PER_SECOND = 6.0
PATIENCE = 180.0
QUERY = text("SELECT status, error, held, charged FROM jobs WHERE id = :id")


def poison(stage: Stage) -> None:
    """Ask about the poisonous person, and about stored ones meanwhile."""
    vendor = Vendor(lambda call: _kill(stage, call))
    settings = vendor.start(stage.stack.folder, rates="100/second")
    try:
        _poison(stage, vendor, settings)
    finally:
        vendor.stop()


def _poison(stage: Stage, vendor: Vendor, settings: dict[str, str]) -> None:
    limits = {"MAX_CRASHES": str(MAX_CRASHES), "LEASE_SECONDS": str(LEASE_SECONDS)}
    cast = stage.begin(contacts=INNOCENT // WORKSPACES, **settings, **limits)
    body = {"subject": {"linkedin_url": f"{PROFILE}poison"}}
    asked = Asked(cast.members[0], "/api/ext/reveal/email", body, str(uuid.uuid4()), innocent=False)
    load = Load(stage.stack.base_url, stored(cast), pace=PER_SECOND, target=INNOCENT + 1)
    client = Client(stage.stack.base_url)
    persist(client, asked, load.book)
    client.close()
    job_id = load.book.accepted[asked.member.workspace, asked.key]
    load.start()
    stage.watch(load, {}, "a worker dies again and again")
    waited = stage.drain(cast, load.book, PATIENCE)
    with stage.stack.engine.connect() as connection:
        row = connection.execute(QUERY, {"id": job_id}).one()
    ended = f"{row.status} after {len(vendor.calls)} calls"
    right = row.status == "failed" and "worker_lost" in str(row.error) and row.charged == 0
    within = 1 <= len(vendor.calls) <= MAX_CRASHES
    target = f"failed after at most {MAX_CRASHES} crashes"
    stage.promise("the poisonous reveal", ended, target, holds=right and within)
    found = stage.judge(cast, load.book, waited, limit=PATIENCE)
    stage.answers(load.book, found, {"worker in the call": len(vendor.calls)})


def _kill(stage: Stage, call: Call) -> Says:
    """Do to the process that asks what `os._exit` in the provider would do."""
    for name in INTERACTIVE:
        if stage.stack.crew.kill_owner(name, call.port):
            break
    time.sleep(1.0)
    return Says(503)
