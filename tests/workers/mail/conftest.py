"""Prints what was made of each server's behaviour: a line per case, with its verdict."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table out of the reports, wherever the tests ran; nothing if none of them did."""
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
