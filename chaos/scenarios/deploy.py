"""R12: a deploy under load: every process is stopped with SIGTERM and started again."""

from __future__ import annotations

import time

from chaos.context import WORKSPACES, ScenarioContext
from chaos.system.service import INTERACTIVE, UPKEEP, WEB

GRACE_SECONDS = 10.0
SLACK_SECONDS = 0.5  # for this machine's scheduling, on top of the grace
SECONDS_BEFORE = 4.0


def deploy(context: ScenarioContext) -> None:
    """Replace all workers, then the API, while clients send requests."""
    reveals, seconds = (150, 10.0) if context.short else (600, 30.0)
    data = context.start(contacts=max(20, reveals // WORKSPACES))
    load = context.make_load(data, reveals=reveals, seconds=seconds)
    load.start()
    context.show("deploying", lambda: f"{len(load.history.accepted):,} accepted")
    time.sleep(SECONDS_BEFORE)
    took: dict[str, float] = {}
    for names in ((*INTERACTIVE, UPKEEP), (WEB,)):
        took |= context.service.processes.stop(names, grace=2 * GRACE_SECONDS)
        context.service.start(*names)
    context.wait_for(load, {}, "deployed")
    drained = context.drain(data, load.history)
    slowest = max(took, key=lambda name: took[name])
    context.expect(
        f"longest exit after SIGTERM ({slowest})",
        f"{took[slowest]:.1f} s",
        f"{GRACE_SECONDS:.0f} s",
        holds=took[slowest] <= GRACE_SECONDS + SLACK_SECONDS,
    )
    findings = context.check(data, load.history, drained)
    context.report_responses(load.history, findings, {"SIGTERM": len(took)})
