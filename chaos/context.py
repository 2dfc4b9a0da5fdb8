"""The stage: what every scenario is given, and the steps that most of them share."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chaos import checker
from chaos.checker import Findings
from chaos.generator import generate
from chaos.load import EXPECTED_STATUSES, NO_RESPONSE, Client, History, Load
from chaos.report import LiveTable, ReportLine, milliseconds, percentile
from chaos.service import SeedData, ServiceUnderTest

WORKSPACES = 4
DRAIN_SECONDS = 60.0
LOAD_SECONDS = 600.0
SHOW_SECONDS = 5.0
REPLAYS = 100
_SENT_AGAIN = re.compile(r"sent_again=(\d+)")


@dataclass(slots=True)
class ScenarioContext:
    """The service, how much is asked of it, and where to say what happens."""

    service: ServiceUnderTest
    table: LiveTable
    reveals: int
    short: bool
    seed: int
    id: str = ""
    republished: int = 0
    lines: list[ReportLine] = field(default_factory=list)

    def show(self, state: str, figures: Callable[[], str] = str) -> None:
        """Say what happens now."""
        self.table.update(self.id, state, figures)

    def start(self, *, contacts: int, **settings: str) -> SeedData:
        """Have the service up with these settings, and somebody to ask about somebody."""
        self.show("starting")
        self.service.up(**settings)
        self.show("setting up")
        cast = self.service.seed(workspaces=WORKSPACES, contacts=contacts)
        self.republished = self._count_republished()
        return cast

    def make_load(self, cast: SeedData, *, reveals: int, seconds: float) -> Load:
        """Make a load that takes about so many seconds if nothing disturbs it."""
        questions = generate(cast, self.seed)
        return Load(self.service.base_url, questions, pace=1.15 * reveals / seconds, target=reveals)

    def run_load(self, load: Load, tally: Mapping[str, int], state: str) -> None:
        """Return when the load is through; one that takes far too long is cut short."""
        deadline = time.monotonic() + LOAD_SECONDS
        while not load.is_done():
            self.show(state, lambda: _progress(load.book, tally))
            load.wait(SHOW_SECONDS)
            if time.monotonic() > deadline:
                load.stop()

    def drain(self, cast: SeedData, book: History, seconds: float = DRAIN_SECONDS) -> float:
        """Wait until everything is over, but not longer; give the seconds that it took."""
        workspaces = [member.workspace for member in cast.tenants]
        self.show("draining", lambda: f"{len(book.accepted):,} accepted")
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            with self.service.engine.connect() as connection:
                if not checker.count_open_jobs(connection, workspaces):
                    break
            time.sleep(0.25)
        return time.monotonic() - started

    def check(
        self, cast: SeedData, book: History, drained: float, *, limit: float = DRAIN_SECONDS
    ) -> Findings:
        """Ask the same keys again, read the database, and add what every scenario promises."""
        self.show("judging")
        again = Client(self.service.base_url)
        for asked in list(book.operations.values())[:: max(1, len(book.operations) // REPLAYS)]:
            status, answer = again.send(asked)
            if status in {200, 202}:
                book.accept(asked, str(answer["job"]["id"]))
        again.close()
        workspaces = [member.workspace for member in cast.tenants]
        with self.service.engine.connect() as connection:
            found = checker.check(connection, workspaces, book.accepted, book.must_succeed())
        self._expect_none(
            "accepted reveals lost, or keys that stand for two jobs", [*found.lost, *book.conflicts]
        )
        what = f"left unfinished {limit:.0f} s after it was over (drained in {drained:.1f} s)"
        self._expect_none(what, found.unfinished)
        self._expect_none("charged twice", found.charged_twice)
        self._expect_none("ledger mismatches", found.mismatches)
        self._expect_none("innocent reveals failed", found.unexpected_failures)
        self._audit()
        ended = ", ".join(f"{count:,} {status}" for status, count in sorted(found.statuses.items()))
        self.record("how the accepted reveals ended", ended)
        return found

    def report_responses(self, book: History, found: Findings, tally: Mapping[str, int]) -> None:
        """Add what callers saw, and the honest figures beside it."""
        strange = {
            status: count for status, count in book.statuses.items() if status not in EXPECTED_STATUSES
        }
        seen = ", ".join(f"{count:,} x {status}" for status, count in sorted(book.statuses.items(), key=str))
        self.expect("answers seen", seen, "200, 202, 503, none", holds=not strange)
        self.expect("questions never taken in", f"{book.abandoned}", "0", holds=book.abandoned == 0)
        shares = [milliseconds(percentile(book.latencies, share)) for share in (0.5, 0.99)]
        longest = milliseconds(max(book.latencies, default=0.0))
        self.record("time to be taken in: p50, p99, longest", ", ".join([*shares, longest]))
        self.record("requests sent again with the same key", f"{book.retries:,}")
        self.record("struck", ", ".join(f"{count} x {what}" for what, count in sorted(tally.items())) or "-")
        self.record(
            "messages that the sweeper sent again", f"{self._count_republished() - self.republished:,}"
        )
        self.record("questions a provider was asked more than once", f"{found.repeated_calls:,}")
        ended = {name: Counter(codes) for name, codes in self.service.processes.unexpected_exits().items()}
        said = ", ".join(f"{name} {dict(codes)}" for name, codes in sorted(ended.items()))
        self.record("processes that ended by themselves so far: exit codes", said or "none")

    def expect(self, what: str, measured: str, target: str, *, holds: bool) -> None:
        """Add a line that can be broken."""
        self.lines.append(ReportLine(what, measured, target, holds))

    def record(self, what: str, measured: str) -> None:
        """Add a line that promises nothing."""
        self.lines.append(ReportLine(what, measured))

    def _expect_none(self, what: str, faults: list[str]) -> None:
        self.lines.append(ReportLine(what, f"{len(faults)}", "0", not faults, tuple(faults)))

    def _audit(self) -> None:
        """Have the service's own auditor look, too."""
        flask = [sys.executable, "-m", "flask", "--app", "app.factory:create_app"]
        done = self.service.run([*flask, "audit", "ledger", "--json"])
        try:
            faults = json.loads(done.stdout.strip().splitlines()[-1])["faults"]
        except (ValueError, KeyError, IndexError):
            self.expect(
                "faults that `flask audit ledger` finds", done.stderr.strip()[-200:], "0", holds=False
            )
            return
        self._expect_none("faults that `flask audit ledger` finds", [str(fault) for fault in faults])

    def _count_republished(self) -> int:
        logs = self.service.folder.glob("*.log")
        return sum(
            int(count) for log in logs for count in _SENT_AGAIN.findall(log.read_text(errors="replace"))
        )


def _progress(book: History, tally: Mapping[str, int]) -> str:
    unavailable, silent = book.statuses[503], book.statuses[NO_RESPONSE]
    answered = f"{len(book.accepted):,} accepted, {unavailable:,} x 503, {silent:,} without answer"
    return f"{answered}, {sum(tally.values())} struck"
