"""R12: a deploy under load: everybody is sent home with SIGTERM, and started again."""

from __future__ import annotations

import time

from tools.chaos.stack import INTERACTIVE, UPKEEP, WEB
from tools.chaos.stage import WORKSPACES, Stage

GRACE = 10.0
SLACK = 0.5  # of this machine's scheduling, on top of the grace
BEFORE = 4.0


def deploy(stage: Stage) -> None:
    """Replace all workers, then the API, while clients ask."""
    reveals, seconds = (150, 10.0) if stage.short else (600, 30.0)
    cast = stage.begin(contacts=max(20, reveals // WORKSPACES))
    load = stage.load(cast, reveals=reveals, seconds=seconds)
    load.start()
    stage.say("deploying", lambda: f"{len(load.book.accepted):,} accepted")
    time.sleep(BEFORE)
    took: dict[str, float] = {}
    for part in ((*INTERACTIVE, UPKEEP), (WEB,)):
        took |= stage.stack.crew.dismiss(part, grace=2 * GRACE)
        stage.stack.start(*part)
    stage.watch(load, {}, "deployed")
    drained = stage.drain(cast, load.book)
    longest = max(took, key=lambda name: took[name])
    what = f"longest exit after SIGTERM ({longest})"
    stage.promise(what, f"{took[longest]:.1f} s", f"{GRACE:.0f} s", holds=took[longest] <= GRACE + SLACK)
    found = stage.judge(cast, load.book, drained)
    stage.answers(load.book, found, {"SIGTERM": len(took)})
