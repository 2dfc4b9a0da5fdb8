"""R13: nobody works on what is interactive; reveals expire, and what they held comes back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, text

from chaos.context import WORKSPACES, ScenarioContext
from chaos.generator import one_reveal_per_contact
from chaos.load import Load
from chaos.service import INTERACTIVE

DEADLINE = 2
MAX_SWEEP_INTERVAL = 1.5  # between two sweeps of a worker: SWEEP_SECONDS and half of it
SLACK = 1.0  # for the sweep itself
COUNT = 40


def expiry(stage: ScenarioContext) -> None:
    """Ask with no worker there, and see when it is over."""
    cast = stage.start(contacts=COUNT // WORKSPACES, JOB_DEADLINE_SECONDS=str(DEADLINE))
    stage.service.processes.stop_processes(INTERACTIVE)
    load = Load(stage.service.base_url, one_reveal_per_contact(cast), pace=20, target=COUNT)
    load.start()
    stage.run_load(load, {}, "nobody works")
    drained = stage.drain(cast, load.book, 20.0)
    workspaces = [member.workspace for member in cast.tenants]
    query = text("SELECT status, deadline_at, finished_at FROM jobs WHERE workspace_id IN :them")
    with stage.service.engine.connect() as connection:
        found = connection.execute(query.bindparams(bindparam("them", expanding=True)), {"them": workspaces})
        rows = found.all()
    expired = sum(row.status == "expired" for row in rows)
    stage.expect(
        "reveals that expired", f"{expired} of {len(rows)}", "all", holds=expired == len(rows) == COUNT
    )
    late = max((_lateness(row.deadline_at, row.finished_at) for row in rows if row.finished_at), default=99.0)
    limit = MAX_SWEEP_INTERVAL + SLACK
    what = "longest from the deadline to the end: one sweep"
    stage.expect(what, f"{late:.2f} s", f"{limit:.1f} s", holds=late <= limit)
    load.book.operations.clear()  # no reveal is innocent when nobody works
    stage.check(cast, load.book, drained, limit=20.0)
    stage.service.processes.stop_processes(stage.service.processes.names)


def _lateness(deadline: Any, finished: Any) -> float:  # noqa: ANN401 - a time, or SQLite's text of one
    moments = [datetime.fromisoformat(one) if isinstance(one, str) else one for one in (deadline, finished)]
    return float((moments[1] - moments[0]).total_seconds())
