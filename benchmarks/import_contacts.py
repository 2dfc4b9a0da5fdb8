"""Measure the throughput and peak memory of `contacts import` on SQLite.

    python benchmarks/import_contacts.py [rows ...]

Every row is a generated person with a name (half of them with accents), title, company with domain, profile,
e-mail with status, phone, location and date. Each size is imported into an empty database and then again,
in a separate process, on one core.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

SIZES = (10_000, 100_000)
PEOPLE_PER_COMPANY = 20
HEADER = (
    "First Name", "Last Name", "Title", "Company", "Website", "# Employees", "Person Linkedin Url", "Email",
    "Email Status", "Mobile Phone", "City", "Country", "Last verified",
)  # fmt: skip
FIRST = ("Ada", "Grace", "Jürgen", "Élodie", "Łukasz", "Priya", "Sofia", "Wei", "Amara", "Björn")
LAST = (
    "Lovelace",
    "Hopper",
    "Müller",
    "Lefèvre",
    "Nowak",
    "Patel",
    "García Lorca",
    "Chen",
    "Okafor",
    "Ström",
)
# Area codes with a hundred fictional numbers each: more numbers than any cache of parsed ones holds.
AREAS = (*range(201, 220), *range(301, 322), *range(401, 411), *range(501, 511), *range(601, 611))
PLAIN = str.maketrans("üéłèíö", "ueleio", " ")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_list(path: Path, rows: int) -> None:
    """Write a CSV file of generated people; names repeat, as real ones do, profiles and e-mails do not."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for index in range(rows):
            company = index // PEOPLE_PER_COMPANY
            suffix = LETTERS[index % 26] + LETTERS[index // 26 % 26] + LETTERS[index // 676 % 26]
            first, last = FIRST[index % 10] + suffix, LAST[index // 10 % 10]
            local = f"{first}.{last}".lower().translate(PLAIN) if index % 5 else f"contact{index}"
            domain = f"company{company}.example"
            phone = f"+1 {AREAS[index % len(AREAS)]} 555 01{index // len(AREAS) % 100:02d}"
            writer.writerow(
                (
                    *(first, last, "Engineer", f"Company {company} GmbH", f"https://www.{domain}/"),
                    *(
                        index % 900 + 1,
                        f"http://www.linkedin.com/in/person-{index}-demo/",
                        f"{local}@{domain}",
                    ),
                    *("Verified", phone, "Boston", "United States", "2026-10-01"),
                )
            )


def measure(rows: int) -> list[dict[str, float]]:
    """Import a list twice in a separate process; return the measurements of both."""
    with tempfile.TemporaryDirectory() as folder:
        write_list(Path(folder) / "people.csv", rows)
        completed = subprocess.run(  # noqa: S603 -- this file
            [sys.executable, __file__, "--measured", folder],
            check=True,
            capture_output=True,
            env=_environment(folder),
        )
    results: list[dict[str, float]] = json.loads(completed.stdout)
    return results


def _environment(folder: str) -> dict[str, str]:
    root = str(Path(__file__).parent.parent)
    keys = {name: secrets.token_urlsafe(48) for name in ("SECRET_KEY", "SUPPRESSION_KEY")}
    keys["REDIS_URL"] = "redis://127.0.0.1:1/0"
    return {**os.environ, **keys, "DATABASE_URL": f"sqlite:///{folder}/data.sqlite3", "PYTHONPATH": root}


def _import_twice(folder: str) -> None:
    from app.core.lists import importer  # noqa: PLC0415 -- the parent process has no settings
    from app.domain.lists.column_mapping import Entity  # noqa: PLC0415
    from app.factory import create_app  # noqa: PLC0415
    from app.infra.db import Base  # noqa: PLC0415
    from cli import import_files  # noqa: PLC0415

    database = create_app().extensions["services"].database
    Base.metadata.create_all(database.engine)
    options = importer.ImportOptions(entity=Entity.CONTACTS, source="people.csv")
    results = []
    for _ in range(2):
        cpu = time.process_time()
        with Path(f"{folder}/people.csv").open("rb") as file:
            tally = importer.run(
                database, options, file, rejects=partial(import_files.rejects, None), advance=lambda: None
            )
        results.append(
            {
                "rows": tally.read,
                "new": tally.counts["new"],
                "updated": tally.counts["updated"],
                "seconds": tally.seconds,
                "cpu": time.process_time() - cpu,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    json.dump(results, sys.stdout)


def main(sizes: list[int]) -> None:
    """Measure each size, and print a table."""
    table = Table(title="contacts import, SQLite, one process")
    for name in ("rows", "new", "updated", "seconds", "rows/s", "rows per CPU second", "peak MB"):
        table.add_column(name, justify="right")
    for size in sizes:
        for run in measure(size):
            figures = (run["rows"], run["new"], run["updated"], run["seconds"])
            speeds = (run["rows"] / run["seconds"], run["rows"] / run["cpu"], run["peak"])
            table.add_row(*(f"{figure:,.0f}" for figure in figures + speeds))
    Console().print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measured"]:
        _import_twice(sys.argv[2])
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
