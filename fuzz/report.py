"""The report of a run: requests by operation and phase, their responses, and what failed."""

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
UNDOCUMENTED = "undocumented methods"
MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Criterion:
    """A guarantee, what was measured of it, and whether it holds."""

    title: str
    measured: str
    holds: bool


@dataclass(slots=True)
class RequestStats:
    """Counts of requests by operation and phase, of responses by operation and status, and the failures."""

    operations: frozenset[str]
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    responses: Counter[tuple[str, int]] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    unanswered: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """The number of responses."""
        return sum(self.responses.values())

    def add(self, events: Path) -> None:
        """Add a run of Schemathesis from its events, one JSON object per line."""
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
            operation = name if name in self.operations else UNDOCUMENTED
            self.requests[operation, phase] += 1
            if exchange.get("response") is None:
                self.unanswered += 1
            else:
                self.responses[operation, exchange["response"]["status_code"]] += 1
            for check in recorder.get("checks", {}).get(number, ()):
                self.checks[check["name"]] += 1
                if check["status"] != "success":
                    self._add_failure(operation, check, exchange)

    def _add_failure(self, operation: str, check: dict[str, Any], exchange: dict[str, Any]) -> None:
        failure = check.get("failure_info", {}).get("failure", {})
        response = exchange.get("response") or {}
        content = _content(response.get("content"))[:300].decode(errors="replace")
        reason = f"{failure.get('title', check['name'])}: {failure.get('message', '')}"
        text = f"{reason}\n{response.get('status_code')} {content}\n{curl(exchange['request'])}"
        self.failures.setdefault((operation, check["name"]), text)


def curl(request: dict[str, Any]) -> str:
    """Return the shell command that sends a request again."""
    arguments = ["curl", "-i", "-X", request["method"]]
    for name, values in request["headers"].items():
        if name.lower() not in {"accept-encoding", "connection", "content-length", "user-agent"}:
            arguments += [argument for value in values for argument in ("-H", f"{name}: {value}")]
    body = _content(request.get("body"))
    if body:
        arguments += ["--data-binary", body.decode(errors="backslashreplace")]
    return shlex.join([*arguments, request["uri"]])


def print_report(stats: RequestStats, criteria: Iterable[Criterion], console: Console) -> None:
    """Print the requests of every operation, failures with a command to reproduce them, and the criteria."""
    table = Table(title="Requests by operation and phase")
    table.add_column("operation", no_wrap=True)
    for name in (*PHASES, "all", "2xx", "4xx", "5xx", "failures"):
        table.add_column(name, justify="right")
    for operation in sorted({operation for operation, _phase in stats.requests}):
        table.add_row(operation, *_cells(stats, operation))
    console.print(table)
    for (operation, check), text in list(stats.failures.items())[:MAX_SHOWN]:
        console.print(f"\n[bold red]{operation}, {check}[/]")
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    for error in stats.errors[:MAX_SHOWN]:
        console.print(f"\n[bold red]Schemathesis[/] {error}", highlight=False)
    verdicts = Table("guarantee", "measured", "", title="Verdict")
    for criterion in criteria:
        verdict = "[green]ok[/]" if criterion.holds else "[red]failed[/]"
        verdicts.add_row(criterion.title, criterion.measured, verdict)
    console.print(verdicts)


def _content(encoded: Any) -> bytes:  # noqa: ANN401 - an object of the events, or None
    return base64.b64decode(encoded["$base64"]) if isinstance(encoded, dict) else b""


def _cells(stats: RequestStats, operation: str) -> Iterator[str]:
    by_phase = [stats.requests[operation, phase] for phase in PHASES]
    yield from map(_count_text, [*by_phase, sum(by_phase)])
    for hundreds in (2, 4, 5):
        yield _count_text(
            sum(
                count
                for (name, status), count in stats.responses.items()
                if (name, status // 100) == (operation, hundreds)
            )
        )
    yield _count_text(sum(name == operation for name, _check in stats.failures))


def _count_text(count: int) -> str:
    return f"{count:,}" if count else "·"
