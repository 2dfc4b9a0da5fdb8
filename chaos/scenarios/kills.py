"""R1 to R4: processes and servers are killed under load, one kind at a time and then all together."""

from __future__ import annotations

from collections.abc import Callable

from chaos import nemeses
from chaos.context import WORKSPACES, ScenarioContext
from chaos.nemeses import Nemesis
from chaos.system.service import ServiceUnderTest

SECONDS = 45.0
ALL_SECONDS = 120.0
SHORT_SECONDS = 18.0
SHORT_REVEALS = 300


def workers_killed(context: ScenarioContext) -> None:
    """R1: workers and pool children die."""
    _run_with_faults(context, nemeses.workers, reveals=context.reveals // 4, seconds=SECONDS)


def redis_killed(context: ScenarioContext) -> None:
    """R2: Redis dies and loses its data."""
    _run_with_faults(context, nemeses.redis, reveals=context.reveals // 4, seconds=SECONDS)


def postgres_killed(context: ScenarioContext) -> None:
    """R3: PostgreSQL crashes."""
    _run_with_faults(context, nemeses.postgres, reveals=context.reveals // 4, seconds=SECONDS)


def all_together(context: ScenarioContext) -> None:
    """R4: all of these at once, the API is killed, and the network is slow, blocked or reset."""
    reveals = SHORT_REVEALS if context.short else context.reveals
    seconds = SHORT_SECONDS if context.short else max(ALL_SECONDS, context.reveals / 18)
    _run_with_faults(
        context, lambda service: _all_nemeses(service, context.seed), reveals=reveals, seconds=seconds
    )


def _all_nemeses(service: ServiceUnderTest, seed: int) -> list[Nemesis]:
    return [
        *nemeses.workers(service),
        *nemeses.redis(service),
        *nemeses.postgres(service),
        *nemeses.web(service),
        *nemeses.network(service, seed),
    ]


def _run_with_faults(
    context: ScenarioContext,
    make_nemeses: Callable[[ServiceUnderTest], list[Nemesis]],
    *,
    reveals: int,
    seconds: float,
) -> None:
    data = context.start(contacts=max(20, reveals // WORKSPACES))
    slowness = context.service.slowness
    load = context.make_load(data, reveals=reveals, seconds=seconds * slowness)
    with nemeses.running(make_nemeses(context.service), slowness=slowness) as injected:
        load.start()
        context.wait_for(load, injected, "injecting faults")
    context.service.restore_network()
    drained = context.drain(data, load.history)
    boot = f"{context.service.boot_seconds:.1f} s, so faults {slowness:.1f} x less often"
    context.record("start of all processes", boot)
    accepted = len(load.history.accepted)
    context.expect("accepted reveals", f"{accepted:,}", f"{reveals:,} or more", holds=accepted >= reveals)
    findings = context.check(data, load.history, drained)
    context.report_responses(load.history, findings, injected)
