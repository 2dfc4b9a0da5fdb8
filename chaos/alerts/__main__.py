"""`python -m chaos.alerts`: measure how soon each fault raises its alert; without a fault, none may fire.

A real Prometheus watches the running service with the rules in deploy/monitoring, under a light load of three
requests a second. Each fault is repaired once its alert fires.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chaos.alerts import samples
from chaos.alerts.faults import FAULTS, Fault
from chaos.alerts.prometheus import Alert
from chaos.alerts.testbed import Testbed, loaded
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError

LIMIT_SECONDS = 60.0
MAX_SECONDS = 120.0
RECOVERY_SECONDS = 240.0
POLL_SECONDS = 0.5
BASELINE_MINUTES = 60.0
START_SECONDS = 45.0  # after a start, until Prometheus has seen all of it
REPORT_WIDTH = 150


@dataclass(frozen=True, slots=True)
class Measurement:
    """The seconds until an expected alert fired, None if none did; `others` fired meanwhile."""

    fault: str
    alert: str
    seconds: float | None
    others: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Return whether the alert fired in time."""
        return self.seconds is not None and self.seconds <= LIMIT_SECONDS


def main(argv: list[str]) -> int:
    """Return 0 if each fault raised its alert within a minute and no alert fired without a fault, else 1."""
    options = _parser().parse_args(argv)
    chosen = [fault for fault in FAULTS if options.only in fault.title]
    folder = Path(tempfile.mkdtemp(prefix="alerts-"))
    console = Console(width=None if sys.stdout.isatty() else REPORT_WIDTH)
    measured: list[Measurement] = []
    raised: dict[str, float] = {}
    try:
        with processes.interruptible(), loaded(folder) as testbed:
            raised = _baseline(testbed, options.baseline * 60)
            for fault in chosen:
                measured.append(_measure(testbed, fault))
                echo(_line(measured[-1]))
            _save_samples(testbed, options.samples)
    except ServiceError as error:
        echo(f"{error}\nLogs: {folder}")
        return 1
    _print(measured, console)
    console.print(f"Alerts in {options.baseline:g} minutes without a fault: {raised or 'none'}.")
    console.print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    if options.json:
        report = {"faults": [asdict(one) for one in measured], "baseline": options.baseline, "raised": raised}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    passed = all(one.holds for one in measured) and not raised
    if passed:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        console.print(f"Logs: {folder}")
    return 0 if passed else 1


def _baseline(testbed: Testbed, seconds: float) -> dict[str, float]:
    """Return the alerts that fire without a fault, and after how many seconds."""
    time.sleep(START_SECONDS)
    started, raised = time.monotonic(), dict[str, float]()
    while time.monotonic() - started < seconds:
        for alert in testbed.prometheus.firing():
            raised.setdefault(str(alert), round(time.monotonic() - started, 1))
        time.sleep(POLL_SECONDS)
    echo(f"Alerts in {seconds / 60:g} minutes without a fault: {raised or 'none'}.")
    return raised


def _measure(testbed: Testbed, fault: Fault) -> Measurement:
    """Inject the fault until its alert fires, repair it, and wait until no alert fires."""
    started = injected_at = time.monotonic()
    before = testbed.prometheus.firing()
    fault.inject(testbed)
    seconds, fired, others = None, "", set[Alert]()
    while seconds is None and time.monotonic() - started < MAX_SECONDS:
        for alert in testbed.prometheus.firing() - before:
            if alert.name in fault.alerts:
                seconds, fired = round(time.monotonic() - started, 1), str(alert)
            else:
                others.add(alert)
        if fault.every is not None and time.monotonic() - injected_at > fault.every:
            injected_at = time.monotonic()
            fault.inject(testbed)
        time.sleep(POLL_SECONDS)
    fault.repair(testbed)
    testbed.restore()
    _wait_for_recovery(testbed)
    return Measurement(
        fault.title, fired or " or ".join(fault.alerts), seconds, tuple(sorted(map(str, others)))
    )


def _wait_for_recovery(testbed: Testbed) -> None:
    deadline = time.monotonic() + RECOVERY_SECONDS
    while testbed.prometheus.firing() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _save_samples(testbed: Testbed, file: Path | None) -> None:
    """Save what Prometheus recorded for the panels of the dashboard, to draw them."""
    if file is not None:
        samples.save(testbed.prometheus, file)


def _line(one: Measurement) -> str:
    seconds = "not raised" if one.seconds is None else f"{one.seconds:.0f} s"
    return f"{'ok ' if one.holds else 'BAD'} {one.fault}: {one.alert} after {seconds}"


def _print(measured: list[Measurement], console: Console) -> None:
    table = Table(
        "fault", "alert", "after", "verdict", "others that fired", title="From the fault to the alert"
    )
    for one in measured:
        after = "never" if one.seconds is None else f"{one.seconds:.0f} s"
        table.add_row(one.fault, one.alert, after, "ok" if one.holds else "MISSED", ", ".join(one.others))
    console.print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m chaos.alerts", description=__doc__)
    parser.add_argument("--only", default="", help="the faults whose title contains this text")
    parser.add_argument(
        "--baseline",
        type=float,
        default=BASELINE_MINUTES,
        help=f"minutes without a fault (default: {BASELINE_MINUTES:g})",
    )
    parser.add_argument("--json", type=Path, help="also write the report to this file")
    parser.add_argument("--samples", type=Path, help="also write the recorded figures of the dashboard")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
