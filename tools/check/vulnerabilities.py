"""Known vulnerabilities of the locked packages, asked of a service that shows first that it knows any.

A service that cannot be reached, or that answers "not found" to everything as many mirrors do, would look
like a clean bill of health. So each is first asked about a release whose hole is famous; only who names that
hole is asked about ours. Where nobody does, the answer is "not asked"; `AUDIT=required` makes it a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.state import ROOT

LOCK = ROOT / "requirements-dev.lock"  # everything in requirements.lock is in it, too
KNOWN_VULNERABLE = "jinja2==2.10"  # CVE-2019-10906, fixed in 2.10.1
UNAVAILABLE = os.EX_TEMPFAIL  # no exit code of the other tools
CONNECT_SECONDS = 4
PROBE_SECONDS = 8.0
AUDIT_SECONDS = 25.0


def main(lock: Path = LOCK) -> int:
    """Audit the lock; return 0 if nothing is known, 1 if something is, NOT_ASKED if nobody could tell."""
    console = Console(soft_wrap=True)
    for service in _services():
        if not _knows_vulnerabilities(service):
            continue
        answer = _audit([*service, "--require-hashes"], lock, AUDIT_SECONDS)
        if answer is not None:
            return _report(console, answer, service[1])
    required = os.environ.get("AUDIT") == "required"
    console.print(
        f"Not audited: no reachable vulnerability service knows the vulnerability of {KNOWN_VULNERABLE}."
        + (" AUDIT=required makes this a failure." if required else "")
    )
    return 1 if required else UNAVAILABLE


def _services() -> list[list[str]]:
    """Give the services as options of pip-audit; OSV_URL names the only one to ask, such as a mirror."""
    mirror = os.environ.get("OSV_URL")
    if mirror:
        return [["--vulnerability-service", "osv", "--osv-url", mirror]]
    return [["--vulnerability-service", name] for name in ("pypi", "osv")]


def _knows_vulnerabilities(service: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "requirements.txt"
        probe.write_text(KNOWN_VULNERABLE + "\n")
        answer = _audit([*service, "--no-deps"], probe, PROBE_SECONDS)
    return answer is not None and any(package.get("vulns") for package in answer)


def _audit(options: Sequence[str], requirements: Path, seconds: float) -> list[dict[str, Any]] | None:
    """Run pip-audit; give its packages, or None if its service did not answer in time."""
    quiet = ["--disable-pip", "--progress-spinner", "off", "--format", "json"]
    socket = ["--timeout", str(CONNECT_SECONDS)]
    command = [
        sys.executable,
        *["-m", "pip_audit", *options, *quiet, *socket, "--requirement", str(requirements)],
    ]
    try:
        done = subprocess.run(  # noqa: S603 - words from this file
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return packages


def _report(console: Console, packages: Sequence[dict[str, Any]], service: str) -> int:
    table = Table("package", "version", "known as", "fixed in", title="Known vulnerabilities")
    for package in packages:
        for hole in package.get("vulns", ()):
            names = ", ".join([hole["id"], *hole.get("aliases", ())])
            fixed = ", ".join(hole["fix_versions"]) or "no release yet"
            table.add_row(package["name"], package["version"], names, fixed)
    if table.row_count:
        console.print(table)
        return 1
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    console.print(f"{service} knows no vulnerability of {len(packages) - len(unknown)} locked packages.")
    if unknown:
        console.print(f"It does not know these packages at all: {', '.join(unknown)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
