"""R1 to R4: processes and servers are killed under load, one kind at a time and then all together."""

from __future__ import annotations

from collections.abc import Callable

from chaos import nemeses
from chaos.context import WORKSPACES, ScenarioContext
from chaos.nemeses import Nemesis
from chaos.service import ServiceUnderTest

SECONDS = 45.0
SECONDS_ALL = 120.0
SECONDS_SHORT = 18.0
SHORT_REVEALS = 300


def workers_killed(stage: ScenarioContext) -> None:
    """R1: workers and pool children die."""
    _run_with_faults(stage, nemeses.workers, reveals=stage.reveals // 4, seconds=SECONDS)


def redis_killed(stage: ScenarioContext) -> None:
    """R2: Redis dies, and forgets all it had."""
    _run_with_faults(stage, nemeses.redis, reveals=stage.reveals // 4, seconds=SECONDS)


def postgres_killed(stage: ScenarioContext) -> None:
    """R3: PostgreSQL crashes."""
    _run_with_faults(stage, nemeses.postgres, reveals=stage.reveals // 4, seconds=SECONDS)


def all_together(stage: ScenarioContext) -> None:
    """R4: all of these at once, the API killed, the network slow, deaf and broken."""
    reveals = SHORT_REVEALS if stage.short else stage.reveals
    _run_with_faults(
        stage, lambda stack: _all_faults(stack, stage.seed), reveals=reveals, seconds=_seconds(stage)
    )


def _all_faults(stack: ServiceUnderTest, seed: int) -> list[Nemesis]:
    return [
        *nemeses.workers(stack),
        *nemeses.redis(stack),
        *nemeses.postgres(stack),
        *nemeses.web(stack),
        *nemeses.network(stack, seed),
    ]


def _seconds(stage: ScenarioContext) -> float:
    return SECONDS_SHORT if stage.short else max(SECONDS_ALL, stage.reveals / 18)


def _run_with_faults(
    stage: ScenarioContext,
    blows: Callable[[ServiceUnderTest], list[Nemesis]],
    *,
    reveals: int,
    seconds: float,
) -> None:
    cast = stage.start(contacts=max(20, reveals // WORKSPACES))
    slowness = stage.service.slowness
    load = stage.make_load(cast, reveals=reveals, seconds=seconds * slowness)
    with nemeses.running(blows(stage.service), slowness=slowness) as tally:
        load.start()
        stage.run_load(load, tally, "under fire")
    stage.service.restore_network()
    drained = stage.drain(cast, load.book)
    stage.record(
        "start of all processes", f"{stage.service.boot_seconds:.1f} s, so {slowness:.1f} x less often"
    )
    accepted = len(load.book.accepted)
    stage.expect("accepted reveals", f"{accepted:,}", f"{reveals:,} or more", holds=accepted >= reveals)
    found = stage.check(cast, load.book, drained)
    stage.report_responses(load.book, found, tally)
