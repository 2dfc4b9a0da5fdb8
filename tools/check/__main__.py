"""`dev.py check`: everything CI asks of a change, in one table; fails if any part of it does."""

from __future__ import annotations

import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from tools.check import vulnerabilities
from tools.state import ROOT

FULLY_COVERED = "app/core/*,app/domain/*"  # where every branch has to be tested
PYTHON = sys.executable
SOURCES = [
    "app",
    "workers",
    "tools",
    "chaos",
    "fuzz",
    "benchmarks",
    "dev.py",
    "gunicorn.conf.py",
]  # ruff looks at the tests
STEPS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "imports": ["lint-imports"],
    "bandit": [
        *["bandit", "--quiet", "--recursive", "--configfile", "pyproject.toml"],
        *["--severity-level", "medium", "--confidence-level", "medium", *SOURCES],
    ],
    "secrets": [PYTHON, "-m", "tools.check.secret_scan"],
    "audit": [PYTHON, "-m", "tools.check.vulnerabilities"],
    "sbom": [
        *["cyclonedx-py", "requirements", "requirements.lock", "--pyproject", "pyproject.toml"],
        *["--output-reproducible", "--output-file", ".data/sbom.json"],
    ],
    "tests": [
        *[PYTHON, "-m", "pytest", "-n", "2"],
        *["--cov=app", "--cov=workers", "--cov-branch", "--cov-report=term:skip-covered"],
    ],
    "coverage": [
        PYTHON,
        "-m",
        "coverage",
        "report",
        f"--include={FULLY_COVERED}",
        "--fail-under=100",
        "--show-missing",
    ],
}
RESULT_LABELS = {0: "[green]ok[/]", vulnerabilities.UNAVAILABLE: "[yellow]not asked[/]"}


def main(argv: list[str]) -> int:
    """Run every step, the later ones also after a failure; return 1 if any failed.

    With `--tested` the tests have run just now, and have left their coverage. A step that could not ask
    (`tools.check.vulnerabilities` says when) neither failed nor went well.
    """
    (ROOT / ".data").mkdir(mode=0o700, exist_ok=True)
    console = Console(soft_wrap=True)
    table = Table("step", "seconds", "result", title="dev.py check")
    failed = False
    chosen = {name: command for name, command in STEPS.items() if name != "tests" or "--tested" not in argv}
    for name, command in chosen.items():
        console.rule(f"[bold]{name}", align="left")
        started = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - from the table above
        failed = failed or code not in RESULT_LABELS
        table.add_row(name, f"{time.monotonic() - started:.1f}", RESULT_LABELS.get(code, "[red]failed[/]"))
    console.print(table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
