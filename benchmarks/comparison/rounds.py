"""The schedule of a run: which system is measured when, with how many callers, for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.comparison import checks
from benchmarks.comparison.cells import Cell, Session, run_cell
from benchmarks.comparison.progress import Progress
from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import Running, Scale, System, Workload, started

WARM_UP_CALLERS = 16


@dataclass(frozen=True, slots=True)
class Schedule:
    """The levels of callers, the seconds of each cell, and how many turns every system has."""

    callers: tuple[int, ...]
    seconds: float
    warm_up_seconds: float
    rounds: int
    scale: Scale

    def plan(self, system: System) -> list[tuple[Workload, int]]:
        """Return the cells of a system's turn."""
        levels = [callers for callers in self.callers if callers <= system.max_callers]
        return [(workload, callers) for workload in system.workloads for callers in levels]

    def count_cells(self, systems: Sequence[System]) -> int:
        """Return how many cells the run has."""
        return self.rounds * sum(len(self.plan(system)) for system in systems)


QUICK = Schedule((1, 16), seconds=1.0, warm_up_seconds=0.5, rounds=1, scale=Scale(20, 2000))
FULL = Schedule((1, 16, 100, 1000), seconds=3.0, warm_up_seconds=2.0, rounds=3, scale=Scale(20, 20_000))


@dataclass(slots=True)
class Comparison:
    """A run: `cells` has what was measured so far, and `wrong` what was wrong, as sentences."""

    systems: Sequence[System]
    schedule: Schedule
    cells: list[Cell] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def run(self, servers: Servers, progress: Progress) -> None:
        """Measure every system in each round.

        Raises:
            ServiceError: a system does not start.

        """
        sessions = []
        for system in self.systems:
            progress.show(f"{system.title}: create the data")
            tokens = system.prepare(servers, self.schedule.scale)
            sessions.append(Session(system, tokens, self.schedule.scale))
        for number in range(self.schedule.rounds):
            turn = number % len(sessions)
            for session in [*sessions[turn:], *sessions[:turn]]:  # each round begins with another system
                progress.show(f"{session.system.title}: start")
                with started(session.system, servers) as running:
                    self._run_turn(servers, running, session, number, progress)

    def _run_turn(
        self, servers: Servers, running: Running, session: Session, number: int, progress: Progress
    ) -> None:
        """Warm the system up, measure its cells, and check its database."""
        system, schedule = session.system, self.schedule
        for workload in system.workloads:
            callers = min(WARM_UP_CALLERS, system.max_callers)
            run_cell(
                servers, running, session, Cell(system.name, workload, callers), schedule.warm_up_seconds
            )
        servers.collect_statistics(system.name)
        for workload, callers in schedule.plan(system):
            progress.show(f"{system.title}: {workload}, {callers} callers")
            cell = Cell(system.name, workload, callers, number)
            run_cell(servers, running, session, cell, schedule.seconds)
            self.cells.append(cell)
            self.wrong += [f"{system.title}, {workload}: {example}" for example in cell.examples]
            progress.advance(f"{cell.rate:,.0f}/s, p50 {cell.p50 * 1000:.1f} ms")
        if Workload.REVEAL in system.workloads:
            self.wrong += checks.violations(servers, session)
