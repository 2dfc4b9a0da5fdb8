"""R1 to R4: processes and servers are killed under load, one kind at a time and then all together."""

from __future__ import annotations

from collections.abc import Callable

from tools.chaos import nemeses
from tools.chaos.nemeses import Nemesis
from tools.chaos.stack import Stack
from tools.chaos.stage import WORKSPACES, Stage

SECONDS = 45.0
SECONDS_ALL = 120.0
SECONDS_SHORT = 18.0
SHORT_REVEALS = 300


def workers_killed(stage: Stage) -> None:
    """R1: workers and pool children die."""
    _rage(stage, nemeses.workers, reveals=stage.reveals // 4, seconds=SECONDS)


def redis_killed(stage: Stage) -> None:
    """R2: Redis dies, and forgets all it had."""
    _rage(stage, nemeses.redis, reveals=stage.reveals // 4, seconds=SECONDS)


def postgres_killed(stage: Stage) -> None:
    """R3: PostgreSQL crashes."""
    _rage(stage, nemeses.postgres, reveals=stage.reveals // 4, seconds=SECONDS)


def all_together(stage: Stage) -> None:
    """R4: all of these at once, the API killed, the network slow, deaf and broken."""
    reveals = SHORT_REVEALS if stage.short else stage.reveals
    _rage(stage, lambda stack: _everything(stack, stage.seed), reveals=reveals, seconds=_seconds(stage))


def _everything(stack: Stack, seed: int) -> list[Nemesis]:
    return [
        *nemeses.workers(stack),
        *nemeses.redis(stack),
        *nemeses.postgres(stack),
        *nemeses.web(stack),
        *nemeses.network(stack, seed),
    ]


def _seconds(stage: Stage) -> float:
    return SECONDS_SHORT if stage.short else max(SECONDS_ALL, stage.reveals / 18)


def _rage(stage: Stage, blows: Callable[[Stack], list[Nemesis]], *, reveals: int, seconds: float) -> None:
    cast = stage.begin(contacts=max(20, reveals // WORKSPACES))
    slowness = stage.stack.slowness
    load = stage.load(cast, reveals=reveals, seconds=seconds * slowness)
    with nemeses.raging(blows(stage.stack), slowness=slowness) as tally:
        load.start()
        stage.watch(load, tally, "under fire")
    stage.stack.heal()
    drained = stage.drain(cast, load.book)
    stage.figure(
        "start of all processes", f"{stage.stack.boot_seconds:.1f} s, so {slowness:.1f} x less often"
    )
    accepted = len(load.book.accepted)
    stage.promise("accepted reveals", f"{accepted:,}", f"{reveals:,} or more", holds=accepted >= reveals)
    found = stage.judge(cast, load.book, drained)
    stage.answers(load.book, found, tally)
