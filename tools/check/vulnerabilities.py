"""Audit the locked packages for known vulnerabilities, with a service that is known to work.

A service that is unreachable, or that answers "not found" to everything as many mirrors do, would look like a
clean result. Each service is therefore first asked about a release with a well-known vulnerability, and used
only if it reports that one. If none does, the result is "not audited"; `AUDIT=required` makes that a failure.
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

LOCK = ROOT / "requirements-dev.lock"  # includes everything in requirements.lock
KNOWN_VULNERABLE = "jinja2==2.10"  # CVE-2019-10906, fixed in 2.10.1
UNAVAILABLE = os.EX_TEMPFAIL  # an exit code that no other tool here uses
CONNECT_SECONDS = 4
PROBE_SECONDS = 8.0
AUDIT_SECONDS = 25.0


def main(lock: Path = LOCK) -> int:
    """Return 0 if no vulnerability is known, 1 if one is, UNAVAILABLE if no service could be used."""
    console = Console(soft_wrap=True)
    for service in _services():
        if not _knows_vulnerabilities(service):
            continue
        packages = _audit([*service, "--require-hashes"], lock, AUDIT_SECONDS)
        if packages is not None:
            return _report(console, packages, service[1])
    required = os.environ.get("AUDIT") == "required"
    console.print(
        f"Not audited: no reachable vulnerability service knows the vulnerability of {KNOWN_VULNERABLE}."
        + (" AUDIT=required makes this a failure." if required else "")
    )
    return 1 if required else UNAVAILABLE


def _services() -> list[list[str]]:
    """Return each service as options of pip-audit; OSV_URL, such as a mirror, replaces them all."""
    mirror = os.environ.get("OSV_URL")
    if mirror:
        return [["--vulnerability-service", "osv", "--osv-url", mirror]]
    return [["--vulnerability-service", name] for name in ("pypi", "osv")]


def _knows_vulnerabilities(service: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "requirements.txt"
        probe.write_text(KNOWN_VULNERABLE + "\n")
        packages = _audit([*service, "--no-deps"], probe, PROBE_SECONDS)
    return any(package.get("vulns") for package in packages or ())


def _audit(options: Sequence[str], requirements: Path, seconds: float) -> list[dict[str, Any]] | None:
    """Run pip-audit; return the packages it reports on, or None if the service did not respond in time."""
    quiet = ["--disable-pip", "--progress-spinner", "off", "--format", "json"]
    socket = ["--timeout", str(CONNECT_SECONDS)]
    command = [
        sys.executable,
        *["-m", "pip_audit", *options, *quiet, *socket, "--requirement", str(requirements)],
    ]
    try:
        completed = subprocess.run(  # noqa: S603 - arguments from this file
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
        packages: list[dict[str, Any]] = json.loads(completed.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return packages


def _report(console: Console, packages: Sequence[dict[str, Any]], service: str) -> int:
    table = Table("package", "version", "known as", "fixed in", title="Known vulnerabilities")
    for package in packages:
        for vulnerability in package.get("vulns", ()):
            names = ", ".join([vulnerability["id"], *vulnerability.get("aliases", ())])
            fixed = ", ".join(vulnerability["fix_versions"]) or "no release yet"
            table.add_row(package["name"], package["version"], names, fixed)
    if table.row_count:
        console.print(table)
        return 1
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    console.print(f"{service} lists no vulnerability for {len(packages) - len(unknown)} locked packages.")
    if unknown:
        console.print(f"It has no data on these packages: {', '.join(unknown)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
