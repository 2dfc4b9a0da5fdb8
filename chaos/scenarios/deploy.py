"""R12: a deploy under load: everybody is sent home with SIGTERM, and started again."""

from __future__ import annotations

import time

from chaos.context import WORKSPACES, ScenarioContext
from chaos.service import INTERACTIVE, UPKEEP, WEB

GRACE = 10.0
SLACK = 0.5  # of this machine's scheduling, on top of the grace
BEFORE = 4.0


def deploy(stage: ScenarioContext) -> None:
    """Replace all workers, then the API, while clients ask."""
    reveals, seconds = (150, 10.0) if stage.short else (600, 30.0)
    cast = stage.start(contacts=max(20, reveals // WORKSPACES))
    load = stage.make_load(cast, reveals=reveals, seconds=seconds)
    load.start()
    stage.show("deploying", lambda: f"{len(load.book.accepted):,} accepted")
    time.sleep(BEFORE)
    took: dict[str, float] = {}
    for part in ((*INTERACTIVE, UPKEEP), (WEB,)):
        took |= stage.service.processes.stop_processes(part, grace=2 * GRACE)
        stage.service.start(*part)
    stage.run_load(load, {}, "deployed")
    drained = stage.drain(cast, load.book)
    longest = max(took, key=lambda name: took[name])
    what = f"longest exit after SIGTERM ({longest})"
    stage.expect(what, f"{took[longest]:.1f} s", f"{GRACE:.0f} s", holds=took[longest] <= GRACE + SLACK)
    found = stage.check(cast, load.book, drained)
    stage.report_responses(load.book, found, {"SIGTERM": len(took)})
