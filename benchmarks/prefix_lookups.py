"""Look companies up by prefixes of their hashes: the size of the response, and its time.

    python3 dev.py run python -m benchmarks.prefix_lookups [--companies 10000 100000 1000000]

Uses a temporary PostgreSQL server. The time is that of the query and of building the response, without HTTP,
queue and encryption: the median of 20 prefixes.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import time

from sqlalchemy import text

import app.factory  # noqa: F401 -- declares all tables
from app.core.lookups import company_hashes
from app.core.lookups.company_overviews import HashKind
from app.infra.db import Base, Database
from tools.services import postgres

ROUNDS = 20
INSERT = text(
    """INSERT INTO companies (id, name, domain, domain_hash, provenance, created_at, updated_at)
    SELECT 'com_' || n, 'Company ' || n, 'company-' || n || '.example',
        sha256(convert_to('company-' || n || '.example', 'UTF8')), '{}', now(), now()
    FROM generate_series(CAST(:first AS integer), CAST(:last AS integer)) AS n"""
)


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--companies", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    print("| companies | digits | companies in the response | kB | ms |\n| --: | --: | --: | --: | --: |")  # noqa: T201
    with postgres.running() as url:
        database = Database(url)
        Base.metadata.create_all(database.engine)
        stored = 0
        for companies in sorted(options.companies):
            with database.engine.begin() as connection:
                connection.execute(INSERT, {"first": stored + 1, "last": companies})
                connection.execute(text("ANALYZE companies"))
            stored = companies
            for digits in (2, 3, 4):
                print(f"| {companies:,} | {digits} | {_measure(database, digits)} |", flush=True)  # noqa: T201
        database.close()


def _measure(database: Database, digits: int) -> str:
    counts, sizes, times = [], [], []
    for _ in range(ROUNDS):
        prefix = secrets.token_hex(digits)[:digits]
        started = time.perf_counter()
        with database.reading() as session:
            response = company_hashes.by_prefix(session, HashKind.WEBSITE, prefix)
        times.append((time.perf_counter() - started) * 1000)
        sizes.append(len(json.dumps(response)) / 1000)
        counts.append(sum(match["company"] is not None for match in response["matches"]))
    columns = (statistics.median(values) for values in (counts, sizes, times))
    return " | ".join(f"{value:,.0f}" for value in columns)


if __name__ == "__main__":
    main()
