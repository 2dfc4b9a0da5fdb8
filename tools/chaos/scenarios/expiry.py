"""R13: nobody works on what is interactive; reveals expire, and what they held comes back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, text

from tools.chaos.deck import stored
from tools.chaos.load import Load
from tools.chaos.stack import INTERACTIVE
from tools.chaos.stage import WORKSPACES, Stage

DEADLINE = 2
LONGEST_PAUSE = 1.5  # between two sweeps of a worker: SWEEP_SECONDS and half of it
SLACK = 1.0  # for the sweep itself
COUNT = 40


def expiry(stage: Stage) -> None:
    """Ask with no worker there, and see when it is over."""
    cast = stage.begin(contacts=COUNT // WORKSPACES, JOB_DEADLINE_SECONDS=str(DEADLINE))
    stage.stack.crew.dismiss(INTERACTIVE)
    load = Load(stage.stack.base_url, stored(cast), pace=20, target=COUNT)
    load.start()
    stage.watch(load, {}, "nobody works")
    drained = stage.drain(cast, load.book, 20.0)
    workspaces = [member.workspace for member in cast.members]
    query = text("SELECT status, deadline_at, finished_at FROM jobs WHERE workspace_id IN :them")
    with stage.stack.engine.connect() as connection:
        found = connection.execute(query.bindparams(bindparam("them", expanding=True)), {"them": workspaces})
        rows = found.all()
    expired = sum(row.status == "expired" for row in rows)
    stage.promise(
        "reveals that expired", f"{expired} of {len(rows)}", "all", holds=expired == len(rows) == COUNT
    )
    late = max((_late(row.deadline_at, row.finished_at) for row in rows if row.finished_at), default=99.0)
    limit = LONGEST_PAUSE + SLACK
    what = "longest from the deadline to the end: one sweep"
    stage.promise(what, f"{late:.2f} s", f"{limit:.1f} s", holds=late <= limit)
    load.book.asked.clear()  # no reveal is innocent when nobody works
    stage.judge(cast, load.book, drained, limit=20.0)
    stage.stack.crew.dismiss(stage.stack.crew.names)


def _late(deadline: Any, finished: Any) -> float:  # noqa: ANN401 - a time, or SQLite's text of one
    moments = [datetime.fromisoformat(one) if isinstance(one, str) else one for one in (deadline, finished)]
    return float((moments[1] - moments[0]).total_seconds())
