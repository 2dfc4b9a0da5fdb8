"""`dev.py fuzz`: thousands of requests made from /openapi.json, good and bad; none may break a promise."""

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
EXAMPLES_PER_OPERATION = 100  # of each operation in the phase "fuzzing"
SHORT_REQUESTS = 300
SHORT_OPTIONS = ["-n", "12", "--phases", "examples,fuzzing,stateful"]  # coverage takes a minute by itself
MAX_ROUNDS = 10
SEED_COUNT = 2**32
WIDTH = 120  # characters, so that the table stands in CI's log, too
LOG_FAULTS = ("unexpected error", "error outside the application", "Traceback", "level=critical")


def main(argv: list[str]) -> int:
    """Return 0 if every promise was kept, 1 if one was broken or something could not start."""
    chosen = _parser().parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    console, started = Console(width=max(Console().width, WIDTH)), time.monotonic()
    with processes.interruptible():
        try:
            with running(folder / "stack", on_postgres=chosen.postgres) as target:
                tally = _fuzz(target, folder, chosen)
                claims = list(_criteria(target, tally, SHORT_REQUESTS if chosen.short else chosen.requests))
        except ServiceError as problem:
            echo(f"{problem}\nLogs: {folder}")
            return 1
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            return 130
    print_report(tally, claims, console)
    return _conclude(folder, claims, chosen, console, time.monotonic() - started)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="how many at least (default: 10000)")
    parser.add_argument("--short", action="store_true", help="some hundred requests, in less than a minute")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(SEED_COUNT), help="to run the same again"
    )
    parser.add_argument("--postgres", action="store_true", help="on a throw-away PostgreSQL, not on SQLite")
    return parser


def _fuzz(target: FuzzTarget, folder: Path, chosen: argparse.Namespace) -> RequestStats:
    """Run Schemathesis, each time with another seed, until there were enough requests."""
    tally = RequestStats(_documented_operations(target))
    for number in range(1 if chosen.short else MAX_ROUNDS):
        events = folder / f"events-{number}.ndjson"
        options = ["-n", str(EXAMPLES_PER_OPERATION)] if not chosen.short else SHORT_OPTIONS
        _run(target, folder, events, ["--seed", str(chosen.seed + number), *options])
        tally.add(events)
        events.unlink()
        echo(f"{tally.total:,} requests so far, {len(tally.failures)} failures.")
        if tally.total >= chosen.requests or tally.failures or tally.errors:
            break
    return tally


def _documented_operations(target: FuzzTarget) -> frozenset[str]:
    document = http_client.send("GET", f"{target.url}/openapi.json").body
    return frozenset(
        f"{method.upper()} {path}" for path, operations in document["paths"].items() for method in operations
    )


def _run(target: FuzzTarget, folder: Path, events: Path, options: list[str]) -> None:
    """Run Schemathesis once; it shows how far it is.

    Raises:
        ServiceError: it could not begin.

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
    subprocess.run(  # noqa: S603 - words of this file
        [*command, "run", f"{target.url}/openapi.json", *report, *options], env=env, cwd=folder, check=False
    )
    if not events.exists():
        raise ServiceError("Schemathesis wrote no events; what it said is above.")


def _criteria(target: FuzzTarget, tally: RequestStats, wanted: int) -> Iterator[Criterion]:
    answered = {operation for operation, status in tally.answers if status // 100 == 2}  # noqa: PLR2004 - 2xx
    broken = sum(count for (_operation, status), count in tally.answers.items() if status // 100 == 5)  # noqa: PLR2004 - 5xx
    yield Criterion("requests", f"{tally.total:,} of {wanted:,}", tally.total >= wanted)
    yield Criterion("answers of 5xx", str(broken), broken == 0)
    yield Criterion("requests without an answer", str(tally.unanswered), tally.unanswered == 0)
    yield Criterion(
        f"{sum(tally.checks.values()):,} checks of {len(tally.checks)} kinds",
        f"{len(tally.failures)} failures",
        bool(tally.checks) and not tally.failures,
    )
    yield Criterion("runs of Schemathesis", f"{len(tally.errors)} errors", not tally.errors)
    never = ", ".join(sorted(tally.operations - answered))
    yield Criterion("every operation answered 2xx", never or f"all {len(tally.operations)}", not never)
    yield _log_faults(target)
    code, said = target.flask("audit", "ledger")
    yield Criterion("every credit accounted for (flask audit ledger)", str(said) if code else "ok", code == 0)


def _log_faults(target: FuzzTarget) -> Criterion:
    """Look for faults in what all processes logged."""
    found = [
        f"{log.name}: {line[:200]}"
        for log in sorted(target.state.logs.glob("*.log"))
        for line in log.read_text(errors="replace").splitlines()
        if any(fault in line for fault in LOG_FAULTS)
    ]
    return Criterion("faults in the logs", "\n".join([f"{len(found)}", *found[:5]]), not found)


def _conclude(
    folder: Path, claims: list[Criterion], chosen: argparse.Namespace, console: Console, seconds: float
) -> int:
    kept = all(claim.holds for claim in claims)
    verdict = "[green]Every promise was kept[/]" if kept else "[red]A promise was broken[/]"
    database = "PostgreSQL" if chosen.postgres else "SQLite"
    where = "" if kept else f" The logs of all processes are in {folder}."
    console.print(f"{verdict} on {database}, seed {chosen.seed}, in {seconds:.0f} s.{where}", soft_wrap=True)
    if kept:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
