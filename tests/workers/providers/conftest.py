"""Prints the results of the conformance suite: a line per adapter and field, with every case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from vendor_recording import CASES

STATES = {"passed": "ok", "failed": "FAILED", "error": "FAILED"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table from the test reports, also those of other processes; nothing without any."""
    table: dict[str, dict[str, str]] = {}
    for line, case, state in _conformance(terminalreporter):
        cells = table.setdefault(line, {})
        cells[case] = "FAILED" if "FAILED" in {state, cells.get(case)} else state
    if not table:
        return
    ran = [case for case in CASES if any(case in cells for cells in table.values())]
    width = max(map(len, table))
    terminalreporter.section("conformance of the providers")
    for line, cells in sorted(table.items()):
        results = "  ".join(f"{case} {cells.get(case, 'n/a')}" for case in ran)
        terminalreporter.write_line(f"{line:<{width}}  {results}")


def _conformance(reporter: pytest.TerminalReporter) -> Iterator[tuple[str, str, str]]:
    for outcome, state in STATES.items():
        for report in reporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", ()):
                if name == "conformance":
                    yield value[0], value[1], state
