"""`dev.py fuzz`: send generated requests, valid and invalid, and check what every response guarantees."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from fuzz.report import Criterion, RequestStats, print_report
from fuzz.target import EMAIL, OTHER_EMAIL, PASSWORD, FuzzTarget, running
from tools import http_client
from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS = Path(__file__).with_name("schemathesis.toml")
REQUESTS = 10_000
EXAMPLES = 100  # per operation, in the phase "fuzzing"
SHORT_REQUESTS = 300
SHORT_OPTIONS = ["-n", "12", "--phases", "examples,fuzzing,stateful"]  # the phase "coverage" takes a minute
MAX_ROUNDS = 10
SEEDS = 2**32
REPORT_WIDTH = 160  # characters, at least
NEVER_SUCCEED = {
    "POST /api/ext/company-login": "a code that a company's sign-in has issued",
    "POST /api/totp/confirm": "the code of the moment",
    "POST /api/crm/pushes": "a CRM",
    "GET /api/crm/pushes/{push_id}": "a CRM",
    "GET /api/crm/connections/{connection_id}/schedules/{schedule_id}/runs/{run_id}": "a CRM",
    "PUT /api/uploads/{upload_id}/mapping": "an upload with as many columns as the request",
    "POST /api/uploads/{upload_id}/start": "an upload with a price",
    "GET /api/uploads/{upload_id}/result": "an upload that was read",
    "POST /api/ext/company-filter/evaluate": "a hash that a client has blinded",
    "GET /api/verifications/{verification_id}": "a list that was uploaded",
    "GET /api/verifications/{verification_id}/result": "a list that was uploaded",
    "POST /api/accounts/{account_id}/password-reset": "another account of the workspace",
    "PUT /api/call-registers/{register_id}": "a register that was loaded",
    "PUT /api/scim/groups/{group_id}": "a group of an identity provider",
}
"""What the operations that cannot return 2xx here would need; tests of their own show that they do."""
LOG_FAULTS = ("unexpected error", "error outside the application", "Traceback", "level=critical")


def main(argv: list[str]) -> int:
    """Return 0 if every guarantee held, 130 after an interrupt, otherwise 1."""
    options = _parser().parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    console, started = Console(width=max(Console().width, REPORT_WIDTH)), time.monotonic()
    with processes.interruptible():
        try:
            with running(folder / "stack", on_postgres=options.postgres) as target:
                stats = _fuzz(target, folder, options)
                required = SHORT_REQUESTS if options.short else options.requests
                criteria = list(_criteria(target, stats, required))
        except ServiceError as error:
            echo(f"{error}\nLogs: {folder}")
            return 1
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            return 130
    print_report(stats, criteria, console)
    return _conclude(folder, criteria, options, console, time.monotonic() - started)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py fuzz", description=__doc__)
    parser.add_argument(
        "--requests", type=int, default=REQUESTS, help="send at least so many (default: 10000)"
    )
    parser.add_argument("--short", action="store_true", help="some hundred requests, in less than a minute")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(SEEDS), help="to repeat an earlier run")
    parser.add_argument(
        "--postgres", action="store_true", help="on a throw-away PostgreSQL server instead of SQLite"
    )
    return parser


def _fuzz(target: FuzzTarget, folder: Path, options: argparse.Namespace) -> RequestStats:
    """Run Schemathesis, each time with another seed, until enough requests have been sent or one failed."""
    stats = RequestStats(_documented_operations(target))
    for number in range(1 if options.short else MAX_ROUNDS):
        events = folder / f"events-{number}.ndjson"
        size = SHORT_OPTIONS if options.short else ["-n", str(EXAMPLES)]
        _run_schemathesis(target, folder, events, ["--seed", str(options.seed + number), *size])
        stats.add(events)
        events.unlink()
        echo(f"{stats.total:,} requests so far, {len(stats.failures)} failures.")
        if stats.total >= options.requests or stats.failures or stats.errors:
            break
    return stats


def _documented_operations(target: FuzzTarget) -> frozenset[str]:
    document = http_client.send("GET", f"{target.url}/openapi.json").body
    return frozenset(
        f"{method.upper()} {path}" for path, operations in document["paths"].items() for method in operations
    )


def _run_schemathesis(target: FuzzTarget, folder: Path, events: Path, options: list[str]) -> None:
    """Run Schemathesis once, with its progress on the terminal and its events in a file.

    Raises:
        ServiceError: it did not start.

    """
    report = ["--report", "ndjson", "--report-ndjson-path", str(events), "--continue-on-failure"]
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(SETTINGS)]
    env = os.environ | {
        "SCHEMATHESIS_HOOKS": "fuzz.hooks",
        "FUZZ_FOLDER": str(folder),
        "FUZZ_URL": target.url,
        "FUZZ_EMAIL": EMAIL,
        "FUZZ_OTHER_EMAIL": OTHER_EMAIL,
        "FUZZ_CONTACT": target.contact,
        "FUZZ_CONTACT_EMAIL": target.contact_email,
        "FUZZ_PASSWORD": PASSWORD,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }
    subprocess.run(  # noqa: S603 - arguments from this file
        [*command, "run", f"{target.url}/openapi.json", *report, *options], env=env, cwd=folder, check=False
    )
    if not events.exists():
        raise ServiceError("Schemathesis wrote no events; see its output above.")


def _criteria(target: FuzzTarget, stats: RequestStats, required: int) -> Iterator[Criterion]:
    succeeded = {operation for operation, status in stats.responses if status // 100 == 2}  # noqa: PLR2004 - 2xx
    errors = sum(count for (_operation, status), count in stats.responses.items() if status // 100 == 5)  # noqa: PLR2004 - 5xx
    yield Criterion("requests", f"{stats.total:,} of {required:,}", stats.total >= required)
    yield Criterion("responses with 5xx", str(errors), errors == 0)
    yield Criterion("requests without a response", str(stats.unanswered), stats.unanswered == 0)
    yield Criterion(
        f"{sum(stats.checks.values()):,} checks of {len(stats.checks)} kinds",
        f"{len(stats.failures)} failures",
        bool(stats.checks) and not stats.failures,
    )
    yield Criterion("runs of Schemathesis", f"{len(stats.errors)} errors", not stats.errors)
    possible = stats.operations - NEVER_SUCCEED.keys()
    never = ", ".join(sorted(possible - succeeded))
    yield Criterion(
        f"every operation has returned 2xx, but for {len(NEVER_SUCCEED)} that need what is not here",
        never or f"all {len(possible)}",
        not never,
    )
    yield _log_faults(target)
    code, output = target.flask("audit", "ledger")
    yield Criterion(
        "every credit is accounted for (flask audit ledger)", str(output) if code else "ok", code == 0
    )


def _log_faults(target: FuzzTarget) -> Criterion:
    """Search the logs of all processes for faults."""
    faults = [
        f"{log.name}: {line[:200]}"
        for log in sorted(target.state.logs.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()
        if any(fault in line for fault in LOG_FAULTS)
    ]
    return Criterion("faults in the logs", "\n".join([f"{len(faults)}", *faults[:5]]), not faults)


def _conclude(
    folder: Path, criteria: list[Criterion], options: argparse.Namespace, console: Console, seconds: float
) -> int:
    """Print the verdict and return the exit code; the logs are deleted unless something failed."""
    passed = all(criterion.holds for criterion in criteria)
    verdict = "[green]Every guarantee held[/]" if passed else "[red]A guarantee did not hold[/]"
    database = "PostgreSQL" if options.postgres else "SQLite"
    logs = "" if passed else f" The logs of all processes are in {folder}."
    console.print(f"{verdict} on {database}, seed {options.seed}, in {seconds:.0f} s.{logs}", soft_wrap=True)
    if passed:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
