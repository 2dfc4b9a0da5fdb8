"""The stage: what every scenario is given, and the steps that most of them share."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tools.chaos import evidence
from tools.chaos.deck import deck
from tools.chaos.evidence import Findings
from tools.chaos.load import EXPECTED, NO_ANSWER, Book, Client, Load
from tools.chaos.report import Board, Claim, milliseconds, percentile
from tools.chaos.stack import Cast, Stack

WORKSPACES = 4
DRAIN_SECONDS = 60.0
LOAD_SECONDS = 600.0
ROUND = 5.0
REPLAYS = 100
_SENT_AGAIN = re.compile(r"sent_again=(\d+)")


@dataclass(slots=True)
class Stage:
    """The service, how much is asked of it, and where to say what happens."""

    stack: Stack
    board: Board
    reveals: int
    short: bool
    seed: int
    id: str = ""
    sent_again: int = 0
    claims: list[Claim] = field(default_factory=list)

    def say(self, state: str, figures: Callable[[], str] = str) -> None:
        """Say what happens now."""
        self.board.say(self.id, state, figures)

    def begin(self, *, contacts: int, **settings: str) -> Cast:
        """Have the service up with these settings, and somebody to ask about somebody."""
        self.say("starting")
        self.stack.up(**settings)
        self.say("setting up")
        cast = self.stack.cast(workspaces=WORKSPACES, contacts=contacts)
        self.sent_again = self._sent_again()
        return cast

    def load(self, cast: Cast, *, reveals: int, seconds: float) -> Load:
        """Make a load that takes about so many seconds if nothing disturbs it."""
        questions = deck(cast, self.seed)
        return Load(self.stack.base_url, questions, pace=1.15 * reveals / seconds, target=reveals)

    def watch(self, load: Load, tally: Mapping[str, int], state: str) -> None:
        """Return when the load is through; one that takes far too long is cut short."""
        deadline = time.monotonic() + LOAD_SECONDS
        while not load.is_done():
            self.say(state, lambda: _progress(load.book, tally))
            load.wait(ROUND)
            if time.monotonic() > deadline:
                load.stop()

    def drain(self, cast: Cast, book: Book, seconds: float = DRAIN_SECONDS) -> float:
        """Wait until everything is over, but not longer; give the seconds that it took."""
        workspaces = [member.workspace for member in cast.members]
        self.say("draining", lambda: f"{len(book.accepted):,} accepted")
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            with self.stack.engine.connect() as connection:
                if not evidence.open_jobs(connection, workspaces):
                    break
            time.sleep(0.25)
        return time.monotonic() - started

    def judge(self, cast: Cast, book: Book, drained: float, *, limit: float = DRAIN_SECONDS) -> Findings:
        """Ask the same keys again, read the database, and add what every scenario promises."""
        self.say("judging")
        again = Client(self.stack.base_url)
        for asked in list(book.asked.values())[:: max(1, len(book.asked) // REPLAYS)]:
            status, answer = again.ask(asked)
            if status in {200, 202}:
                book.accept(asked, str(answer["job"]["id"]))
        again.close()
        workspaces = [member.workspace for member in cast.members]
        with self.stack.engine.connect() as connection:
            found = evidence.gather(connection, workspaces, book.accepted, book.innocent())
        self._promise(
            "accepted reveals lost, or keys that stand for two jobs", [*found.lost, *book.conflicts]
        )
        what = f"left unfinished {limit:.0f} s after it was over (drained in {drained:.1f} s)"
        self._promise(what, found.unfinished)
        self._promise("charged twice", found.charged_twice)
        self._promise("ledger mismatches", found.mismatches)
        self._promise("innocent reveals failed", found.innocent_failed)
        self._audit()
        ended = ", ".join(f"{count:,} {status}" for status, count in sorted(found.statuses.items()))
        self.figure("how the accepted reveals ended", ended)
        return found

    def answers(self, book: Book, found: Findings, tally: Mapping[str, int]) -> None:
        """Add what callers saw, and the honest figures beside it."""
        strange = {status: count for status, count in book.statuses.items() if status not in EXPECTED}
        seen = ", ".join(f"{count:,} x {status}" for status, count in sorted(book.statuses.items(), key=str))
        self.promise("answers seen", seen, "200, 202, 503, none", holds=not strange)
        self.promise("questions never taken in", f"{book.given_up}", "0", holds=book.given_up == 0)
        shares = [milliseconds(percentile(book.seconds, share)) for share in (0.5, 0.99)]
        longest = milliseconds(max(book.seconds, default=0.0))
        self.figure("time to be taken in: p50, p99, longest", ", ".join([*shares, longest]))
        self.figure("requests sent again with the same key", f"{book.retries:,}")
        self.figure("struck", ", ".join(f"{count} x {what}" for what, count in sorted(tally.items())) or "-")
        self.figure("messages that the sweeper sent again", f"{self._sent_again() - self.sent_again:,}")
        self.figure("questions a provider was asked more than once", f"{found.calls_again:,}")
        ended = {name: Counter(codes) for name, codes in self.stack.crew.ended().items()}
        said = ", ".join(f"{name} {dict(codes)}" for name, codes in sorted(ended.items()))
        self.figure("processes that ended by themselves so far: exit codes", said or "none")

    def promise(self, what: str, measured: str, target: str, *, holds: bool) -> None:
        """Add a line that can be broken."""
        self.claims.append(Claim(what, measured, target, holds))

    def figure(self, what: str, measured: str) -> None:
        """Add a line that promises nothing."""
        self.claims.append(Claim(what, measured))

    def _promise(self, what: str, faults: list[str]) -> None:
        self.claims.append(Claim(what, f"{len(faults)}", "0", not faults, tuple(faults)))

    def _audit(self) -> None:
        """Have the service's own auditor look, too."""
        flask = [sys.executable, "-m", "flask", "--app", "app.factory:create_app"]
        done = self.stack.run([*flask, "audit", "ledger", "--json"])
        try:
            faults = json.loads(done.stdout.strip().splitlines()[-1])["faults"]
        except (ValueError, KeyError, IndexError):
            self.promise(
                "faults that `flask audit ledger` finds", done.stderr.strip()[-200:], "0", holds=False
            )
            return
        self._promise("faults that `flask audit ledger` finds", [str(fault) for fault in faults])

    def _sent_again(self) -> int:
        logs = self.stack.folder.glob("*.log")
        return sum(
            int(count) for log in logs for count in _SENT_AGAIN.findall(log.read_text(errors="replace"))
        )


def _progress(book: Book, tally: Mapping[str, int]) -> str:
    unavailable, silent = book.statuses[503], book.statuses[NO_ANSWER]
    answered = f"{len(book.accepted):,} accepted, {unavailable:,} x 503, {silent:,} without answer"
    return f"{answered}, {sum(tally.values())} struck"
