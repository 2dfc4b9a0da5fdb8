"""`dev.py check`: every check that CI runs on a change, with a table of the results."""

from __future__ import annotations

import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from tools.check import vulnerabilities
from tools.state import ROOT

FULLY_COVERED = "app/engine/*,app/domain/*,app/features/*"
EDGE_NAMES = (
    "*api",
    "api/*",
    "pages",
    "pages/*",
    "*schemas",
    "work",
    "turn",
    "turn/*",
    "vendors/*",
    "vendors/*/*",
    "*commands",
    "copies/*",
    "openid/*",
)
EDGES = ",".join(f"app/features/*/{edge}.py" for edge in EDGE_NAMES)
"""Every branch of these files must be tested, except of the edges of a feature."""
PYTHON = sys.executable
PACKAGES = ["app", "workers", "cli", "mcp_server", "tools", "chaos", "fuzz", "benchmarks"]
SOURCES = [*PACKAGES, "dev.py", "gunicorn.conf.py"]  # for bandit; ruff alone checks the tests
STEPS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
    "extension": [PYTHON, "-m", "tools.check.extension_types"],
    "imports": ["lint-imports"],
    "bandit": [
        *["bandit", "--quiet", "--recursive", "--configfile", "pyproject.toml"],
        *["--severity-level", "medium", "--confidence-level", "medium", *SOURCES],
    ],
    "languages": [PYTHON, "-m", "tools.languages", "check"],
    "api": [PYTHON, "-m", "tools.release.breaking_changes"],
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
        *[PYTHON, "-m", "coverage", "report"],
        *[f"--include={FULLY_COVERED}", f"--omit={EDGES}", "--fail-under=100", "--show-missing"],
    ],
}
RESULTS = {0: "[green]ok[/]", vulnerabilities.UNAVAILABLE: "[yellow]not checked[/]"}


def main(argv: list[str]) -> int:
    """Run every step, even after one has failed; return 1 if any failed.

    With `--tested` the tests are skipped, because they have just run and left their coverage data. A step for
    which something is missing, as an audit without a service, counts neither as success nor as failure.
    """
    (ROOT / ".data").mkdir(mode=0o700, exist_ok=True)
    console = Console(soft_wrap=True)
    table = Table("step", "seconds", "result", title="dev.py check")
    failed = False
    steps = {name: command for name, command in STEPS.items() if name != "tests" or "--tested" not in argv}
    for name, command in steps.items():
        console.rule(f"[bold]{name}", align="left")
        started = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - from the table above
        failed = failed or code not in RESULTS
        table.add_row(name, f"{time.monotonic() - started:.1f}", RESULTS.get(code, "[red]failed[/]"))
    console.print(table)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
