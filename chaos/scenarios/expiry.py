"""R13: no worker serves the interactive queue; reveals expire, and their holds are released."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, text

from chaos.context import WORKSPACES, ScenarioContext
from chaos.system.service import INTERACTIVE
from chaos.workload.generator import one_reveal_per_contact
from chaos.workload.load import Load

DEADLINE_SECONDS = 2
MAX_SWEEP_INTERVAL = 1.5  # seconds between two sweeps of a worker: SWEEP_SECONDS and half of it
SLACK_SECONDS = 1.0  # for the sweep itself
REVEALS = 40
DRAIN_SECONDS = 20.0
JOBS = text("SELECT status, deadline_at, finished_at FROM jobs WHERE workspace_id IN :workspaces").bindparams(
    bindparam("workspaces", expanding=True)
)


def expiry(context: ScenarioContext) -> None:
    """Request reveals without a worker, and measure when they expire."""
    data = context.start(contacts=REVEALS // WORKSPACES, JOB_DEADLINE_SECONDS=str(DEADLINE_SECONDS))
    manager = context.service.processes
    manager.stop(INTERACTIVE)
    load = Load(context.service.base_url, one_reveal_per_contact(data), pace=20, target=REVEALS)
    load.start()
    context.wait_for(load, {}, "no worker")
    drained = context.drain(data, load.history, DRAIN_SECONDS)
    with context.service.engine.connect() as connection:
        workspaces = [tenant.workspace for tenant in data.tenants]
        jobs = connection.execute(JOBS, {"workspaces": workspaces}).all()
    expired = sum(job.status == "expired" for job in jobs)
    all_expired = expired == len(jobs) == REVEALS
    context.expect("reveals that expired", f"{expired} of {len(jobs)}", "all", holds=all_expired)
    latest = max(
        (_lateness(job.deadline_at, job.finished_at) for job in jobs if job.finished_at), default=99.0
    )
    limit = MAX_SWEEP_INTERVAL + SLACK_SECONDS
    title = "longest time from the deadline to the end: one sweep"
    context.expect(title, f"{latest:.2f} s", f"{limit:.1f} s", holds=latest <= limit)
    load.history.operations.clear()  # without a worker, no reveal must succeed
    context.check(data, load.history, drained, limit=DRAIN_SECONDS)
    manager.stop(manager.names)


def _lateness(deadline: Any, finished: Any) -> float:  # noqa: ANN401 - a datetime, or SQLite's text of one
    due, end = (
        datetime.fromisoformat(time) if isinstance(time, str) else time for time in (deadline, finished)
    )
    return float((end - due).total_seconds())
