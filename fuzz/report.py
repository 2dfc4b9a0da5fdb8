"""What came of a run: requests of each operation in each phase, their answers, and what was broken."""

from __future__ import annotations

import base64
import json
import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rich.console import Console

PHASES = ("examples", "coverage", "fuzzing", "stateful")
UNKNOWN_METHODS = "methods that are none"
MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Criterion:
    """A promise, what was found of it, and whether it holds."""

    title: str
    measured: str
    holds: bool


@dataclass(slots=True)
class RequestStats:
    """Counts of requests by operation and phase, of answers by operation and status, and failures."""

    operations: frozenset[str]
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    unanswered: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many requests were answered."""
        return sum(self.answers.values())

    def add(self, events: Path) -> None:
        """Count a run by the events it wrote, one JSON object on each line."""
        with events.open() as lines:
            for line in lines:
                ((kind, event),) = json.loads(line).items()
                if kind in {"NonFatalError", "FatalError"}:
                    self.errors.append(str(event.get("info") or event)[:500])
                elif kind == "ScenarioFinished" and "recorder" in event:
                    self._add_scenario(event["phase"], event["recorder"])

    def _add_scenario(self, phase: str, recorder: dict[str, Any]) -> None:
        for number, exchange in recorder.get("interactions", {}).items():
            case = recorder["cases"][number]["value"]
            name = f"{case['method']} {case['path']}"
            operation = name if name in self.operations else UNKNOWN_METHODS
            self.requests[operation, phase] += 1
            if exchange.get("response") is None:
                self.unanswered += 1
            else:
                self.answers[operation, exchange["response"]["status_code"]] += 1
            for check in recorder.get("checks", {}).get(number, ()):
                self.checks[check["name"]] += 1
                if check["status"] != "success":
                    self._fail(operation, check, exchange)

    def _fail(self, operation: str, check: dict[str, Any], exchange: dict[str, Any]) -> None:
        why = check.get("failure_info", {}).get("failure", {})
        answer = exchange.get("response") or {}
        said = _content(answer.get("content"))[:300].decode(errors="replace")
        text = (
            f"{why.get('title', check['name'])}: {why.get('message', '')}\n{answer.get('status_code')} {said}"
        )
        self.failures.setdefault((operation, check["name"]), f"{text}\n{curl(exchange['request'])}")


def curl(request: dict[str, Any]) -> str:
    """Write a request so that a shell can send it again."""
    words = ["curl", "-i", "-X", request["method"]]
    for name, values in request["headers"].items():
        if name.lower() not in {"accept-encoding", "connection", "content-length", "user-agent"}:
            words += [word for value in values for word in ("-H", f"{name}: {value}")]
    body = _content(request.get("body"))
    if body:
        words += ["--data-binary", body.decode(errors="backslashreplace")]
    return shlex.join([*words, request["uri"]])


def _content(packed: Any) -> bytes:  # noqa: ANN401 - an object of the file, or nothing
    return base64.b64decode(packed["$base64"]) if isinstance(packed, dict) else b""


def print_report(tally: RequestStats, claims: Iterable[Criterion], console: Console) -> None:
    """Print the requests of every operation, the failures with how to see them again, and the verdicts."""
    table = Table(title="Requests by operation and phase")
    table.add_column("operation", no_wrap=True)
    for name in (*PHASES, "all", "2xx", "4xx", "5xx", "failures"):
        table.add_column(name, justify="right")
    for operation in sorted({operation for operation, _phase in tally.requests}):
        table.add_row(operation, *_cells(tally, operation))
    console.print(table)
    for (operation, check), text in list(tally.failures.items())[:MAX_SHOWN]:
        console.print(f"\n[bold red]{operation}, {check}[/]")
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    for error in tally.errors[:MAX_SHOWN]:
        console.print(f"\n[bold red]Schemathesis[/] {error}", highlight=False)
    verdicts = Table("promise", "found", "", title="Verdict")
    for claim in claims:
        verdicts.add_row(claim.title, claim.measured, "[green]holds[/]" if claim.holds else "[red]broken[/]")
    console.print(verdicts)


def _cells(tally: RequestStats, operation: str) -> Iterator[str]:
    by_phase = [tally.requests[operation, phase] for phase in PHASES]
    yield from map(_count_text, [*by_phase, sum(by_phase)])
    for hundred in (2, 4, 5):
        found = [
            n for (name, status), n in tally.answers.items() if (name, status // 100) == (operation, hundred)
        ]
        yield _count_text(sum(found))
    yield _count_text(sum(name == operation for name, _check in tally.failures))


def _count_text(count: int) -> str:
    return f"{count:,}" if count else "·"
