"""`dev.py check`: everything CI asks of a change, in one table; fails if any part of it does."""

from __future__ import annotations

import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from tools.state import ROOT

PURE = "app/core/*,app/domain/*"  # where every branch has to be tested
PYTHON = sys.executable
STEPS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports"],
    "tests": [
        *[PYTHON, "-m", "pytest", "-n", "2"],
        *["--cov=app", "--cov=workers", "--cov-branch", "--cov-report=term:skip-covered"],
    ],
    "coverage": [
        PYTHON,
        "-m",
        "coverage",
        "report",
        f"--include={PURE}",
        "--fail-under=100",
        "--show-missing",
    ],
}


def main() -> int:
    """Run every step, the later ones also after a failure; return 1 if any failed."""
    console = Console(soft_wrap=True)
    table = Table("step", "seconds", "result", title="dev.py check")
    failed = False
    for name, command in STEPS.items():
        console.rule(f"[bold]{name}", align="left")
        started = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - from the table above
        failed = failed or code != 0
        table.add_row(name, f"{time.monotonic() - started:.1f}", "[red]failed[/]" if code else "[green]ok[/]")
    console.print(table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
