"""Look companies up by prefixes of their hashes: the size of the response, and its time.

    python3 dev.py run python -m benchmarks.website_privacy.prefix_lookups [--companies 10000] [--keyed]

With --keyed, by prefixes of their outputs: the response has sealed cards (docs/website-privacy.md). Uses a
temporary PostgreSQL server. The time is that of the query and of building the response, without HTTP, queue
and encryption of the job: the median of 20 prefixes.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import sys
import time
from typing import Any

from sqlalchemy import func, select, text

import app.factory  # noqa: F401 -- declares all tables
from app.domain.normal.hashes import prefix_bounds
from app.engine.lookups import company_ranges
from app.engine.lookups.company_filters import CompanyCardKey, CompanyFilter
from app.engine.lookups.company_overviews import HashKind
from app.features.company_filter import card_keys
from app.infra import clock
from app.infra.crypto.company_cards import ID_BYTES
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Base, Database
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
    parser.add_argument("--digits", type=int, nargs="+", default=[2, 3, 4], help="of a prefix, default 2 3 4")
    parser.add_argument("--keyed", action="store_true", help="look up by prefixes of outputs")
    options = parser.parse_args()
    key = OprfKey.derive(secrets.token_bytes(32)) if options.keyed else None
    print("| companies | digits | companies in the response | kB | ms |\n| --: | --: | --: | --: | --: |")  # noqa: T201
    with postgres.running() as url:
        database = Database(url)
        Base.metadata.create_all(database.engine)
        stored = 0
        for companies in sorted(options.companies):
            _store(database, stored + 1, companies, key)
            stored = companies
            for digits in options.digits:
                print(f"| {companies:,} | {digits} | {_measure(database, digits, key)} |", flush=True)  # noqa: T201
        database.close()


def _store(database: Database, first: int, last: int, key: OprfKey | None) -> None:
    with database.engine.begin() as connection:
        connection.execute(INSERT, {"first": first, "last": last})
    if key is not None:
        started = time.process_time()
        card_keys.update(database, key)
        print(f"{last - first + 1:,} card keys: {time.process_time() - started:.1f} s", file=sys.stderr)  # noqa: T201
        with database.transaction() as session:
            session.merge(CompanyFilter(bits=16, checked_at=clock.now(), oprf_public_key=key.public))
    with database.engine.begin() as connection:
        connection.execute(text("ANALYZE companies, company_card_keys"))


def _measure(database: Database, digits: int, key: OprfKey | None) -> str:
    counts, sizes, times = [], [], []
    for _ in range(ROUNDS):
        prefix = secrets.token_hex(digits)[:digits]
        started = time.perf_counter()
        with database.transaction() as session:
            response = (
                company_ranges.by_card_id(session, HashKind.WEBSITE, prefix, key)
                if key
                else company_ranges.by_hash(session, HashKind.WEBSITE, prefix)
            )
        times.append((time.perf_counter() - started) * 1000)
        sizes.append(len(json.dumps(response)) / 1000)
        counts.append(_companies(database, prefix, response, key))
    columns = (statistics.median(values) for values in (counts, sizes, times))
    return " | ".join(f"{value:,.0f}" for value in columns)


def _companies(database: Database, prefix: str, response: dict[str, Any], key: OprfKey | None) -> int:
    """Return the number of companies in the response; sealed ones look like the random ones."""
    if key is None:
        return sum(match["company"] is not None for match in response["matches"])
    low, high = (bound[:ID_BYTES] for bound in prefix_bounds(prefix))
    ids = select(func.count()).where(CompanyCardKey.card_id.between(low, high))
    with database.reading() as session:
        return session.scalar(ids) or 0


if __name__ == "__main__":
    main()
