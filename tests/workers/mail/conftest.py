"""Prints a table of the verification tests: a line per server behaviour, with its verdict."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table from the test reports, also those of other processes; nothing without any."""
    lines = [
        (*value, state)
        for state, outcome in (("ok", "passed"), ("FAILED", "failed"))
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in getattr(report, "user_properties", ())
        if name == "verification" and report.when == "call"
    ]
    if not lines:
        return
    width = max(len(case) for case, _verdict, _state in lines)
    terminalreporter.section("verification: what servers do, and the verdict")
    for case, verdict, state in lines:
        terminalreporter.write_line(f"{case:<{width}}  {verdict:<20}  {state}")
