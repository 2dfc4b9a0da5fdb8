"""The context of a scenario: the service, what is reported, and the steps that most scenarios share."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chaos import checker
from chaos.checker import Findings
from chaos.live_table import LiveTable
from chaos.report import ReportLine, milliseconds, percentile
from chaos.system.service import FLASK, SeedData, ServiceUnderTest
from chaos.workload.generator import generate
from chaos.workload.history import EXPECTED_STATUSES, NO_RESPONSE, UNAVAILABLE, History
from chaos.workload.load import Client, Load

WORKSPACES = 4
DRAIN_SECONDS = 90.0  # a provider that limits its rate lets a job wait for up to 60 s
MAX_LOAD_SECONDS = 600.0
SHOW_SECONDS = 5.0
REPLAYS = 100
_REPUBLISHED = re.compile(r"republished=(\d+)")  # as the sweeper logs it


@dataclass(slots=True)
class ScenarioContext:
    """What a scenario works with; `reveals` is how many a long scenario requests."""

    service: ServiceUnderTest
    table: LiveTable
    reveals: int
    short: bool
    seed: int
    id: str = ""
    republished_before: int = 0
    lines: list[ReportLine] = field(default_factory=list)

    def show(self, state: str, figures: Callable[[], str] = str) -> None:
        """Show the scenario's state and figures in the live table."""
        self.table.update(self.id, state, figures)

    def start(self, *, contacts: int, **settings: str) -> SeedData:
        """Start the service with these settings, and create workspaces and contacts."""
        self.show("starting")
        self.service.up(**settings)
        self.show("seeding")
        data = self.service.seed(workspaces=WORKSPACES, contacts=contacts)
        self.republished_before = self._count_republished()
        return data

    def make_load(self, data: SeedData, *, reveals: int, seconds: float) -> Load:
        """Return a load that takes about this many seconds without any fault."""
        return Load(
            self.service.base_url, generate(data, self.seed), pace=1.15 * reveals / seconds, target=reveals
        )

    def wait_for(self, load: Load, injected: Mapping[str, int], state: str) -> None:
        """Return when the load has finished; stop it if it takes far too long."""
        deadline = time.monotonic() + MAX_LOAD_SECONDS
        while not load.is_done():
            self.show(state, lambda: _progress(load.history, injected))
            load.wait(SHOW_SECONDS)
            if time.monotonic() > deadline:
                load.stop()

    def drain(self, data: SeedData, history: History, limit: float = DRAIN_SECONDS) -> float:
        """Wait until all jobs have finished, at most `limit` seconds; return how long that took."""
        workspaces = [tenant.workspace for tenant in data.tenants]
        self.show("draining", lambda: f"{len(history.accepted):,} accepted")
        started = time.monotonic()
        while time.monotonic() - started < limit:
            with self.service.engine.connect() as connection:
                if not checker.count_open_jobs(connection, workspaces):
                    break
            time.sleep(0.25)
        return time.monotonic() - started

    def check(
        self, data: SeedData, history: History, drained: float, *, limit: float = DRAIN_SECONDS
    ) -> Findings:
        """Replay some of the keys, read the database, and report what every scenario guarantees."""
        self.show("checking")
        client = Client(self.service.base_url)
        operations = list(history.operations.values())
        for operation in operations[:: max(1, len(operations) // REPLAYS)]:
            status, body = client.send(operation)
            if status in {200, 202}:
                history.accept(operation, str(body["job"]["id"]))
        client.close()
        workspaces = [tenant.workspace for tenant in data.tenants]
        with self.service.engine.connect() as connection:
            findings = checker.check(connection, workspaces, history.accepted, history.must_succeed())
        self._expect_none(
            "accepted reveals lost, or keys with two jobs", [*findings.lost, *history.conflicts]
        )
        title = f"jobs unfinished {limit:.0f} s after the load (drained in {drained:.1f} s)"
        self._expect_none(title, findings.unfinished)
        self._expect_none("charged twice", findings.charged_twice)
        self._expect_none("ledger mismatches", findings.mismatches)
        self._expect_none("reveals failed through a fault of the service", findings.unexpected_failures)
        self.audit()
        statuses = ", ".join(f"{count:,} {status}" for status, count in sorted(findings.statuses.items()))
        self.record("final status of the accepted reveals", statuses)
        return findings

    def report_responses(self, history: History, findings: Findings, injected: Mapping[str, int]) -> None:
        """Report what the clients observed, and figures without a target."""
        unexpected = history.statuses.keys() - EXPECTED_STATUSES
        observed = ", ".join(f"{n:,} x {status}" for status, n in sorted(history.statuses.items(), key=str))
        self.expect("responses", observed, "200, 202, 503, none", holds=not unexpected)
        self.expect("requests abandoned", f"{history.abandoned}", "0", holds=history.abandoned == 0)
        shares = [milliseconds(percentile(history.latencies, share)) for share in (0.5, 0.99)]
        longest = milliseconds(max(history.latencies, default=0.0))
        self.record("time until accepted: p50, p99, longest", ", ".join([*shares, longest]))
        self.record("requests retried with the same key", f"{history.retries:,}")
        faults = ", ".join(f"{count} x {fault}" for fault, count in sorted(injected.items()))
        self.record("faults injected", faults or "-")
        republished = self._count_republished() - self.republished_before
        self.record("messages republished by the sweeper", f"{republished:,}")
        self.record("provider calls repeated for the same question", f"{findings.repeated_calls:,}")
        exits = {name: Counter(codes) for name, codes in self.service.processes.unexpected_exits().items()}
        codes = ", ".join(f"{name} {dict(counts)}" for name, counts in sorted(exits.items()))
        self.record("unexpected exits of processes so far: exit codes", codes or "none")

    def expect(self, title: str, measured: str, target: str, *, holds: bool) -> None:
        """Add a measurement with a target to the report."""
        self.lines.append(ReportLine(title, measured, target, holds))

    def record(self, title: str, measured: str) -> None:
        """Add a measurement without a target to the report."""
        self.lines.append(ReportLine(title, measured))

    def _expect_none(self, title: str, violations: list[str]) -> None:
        line = ReportLine(title, f"{len(violations)}", "0", not violations, tuple(violations))
        self.lines.append(line)

    def audit(self) -> None:
        """Report what the service's own audit of the ledger finds."""
        title = "faults that `flask audit ledger` finds"
        completed = self.service.run([*FLASK, "audit", "ledger", "--json"])
        try:
            faults = json.loads(completed.stdout.strip().splitlines()[-1])["faults"]
        except (ValueError, KeyError, IndexError):
            self.expect(title, completed.stderr.strip()[-200:], "0", holds=False)
            return
        self._expect_none(title, [str(fault) for fault in faults])

    def _count_republished(self) -> int:
        """Return how many messages the sweeper has republished, according to the logs."""
        return sum(
            int(count)
            for log in self.service.folder.glob("*.log")
            for count in _REPUBLISHED.findall(log.read_text(errors="replace"))
        )


def _progress(history: History, injected: Mapping[str, int]) -> str:
    unavailable, unanswered = history.statuses[UNAVAILABLE], history.statuses[NO_RESPONSE]
    responses = f"{len(history.accepted):,} accepted, {unavailable:,} x 503, {unanswered:,} without response"
    return f"{responses}, {sum(injected.values())} faults"
