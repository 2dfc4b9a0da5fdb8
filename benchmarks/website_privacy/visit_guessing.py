"""Compute how often the server guesses the visited website right from what a client sends.

    python3 dev.py run python -m benchmarks.website_privacy.visit_guessing [--sites 1000000] [--json]

Visits are spread over the sites by Zipf's law: the site of rank r is visited in proportion to r^-s, with the
exponents 0.8, 0.9 and 1.0. The server knows this distribution and what clients do, and always guesses the
most visited site that fits what it received. The figures follow from the hashes of fixed names, so each run
prints the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from rich.console import Console
from rich.table import Table

EXPONENTS = (0.8, 0.9, 1.0)
DIGITS = range(1, 6)
DECOYS = 15
TRIALS = 20_000
HEX = 16
BASELINE = "no request"


@dataclass(frozen=True, slots=True)
class Row:
    """What is sent, and the right guesses in percent of all visits and of the visits that cause a request."""

    sent: str
    exponent: float
    of_visits: float
    of_requests: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", type=int, default=1_000_000, help="default 1000000")
    parser.add_argument(
        "--known", type=int, default=10_000, help="of them in the filter file (default 10000)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON array instead of a table")
    options = parser.parse_args()
    rows = list(measure(options.sites, options.known))
    if options.json:
        print(json.dumps([{name: getattr(row, name) for name in Row.__slots__} for row in rows]))  # noqa: T201
    else:
        _print(rows)


def measure(sites: int, known: int) -> Iterator[Row]:
    """Yield the rows for each exponent; `known` of the sites, at random ranks, are in the filter file."""
    buckets = [_bucket(rank) for rank in range(1, sites + 1)]
    ranks = sorted(random.Random(1).sample(range(sites), known))  # noqa: S311 -- a fixed choice
    for exponent in EXPONENTS:
        weights = [rank**-exponent for rank in range(1, sites + 1)]
        total = sum(weights)
        visits = [weight / total for weight in weights]
        few = [visits[rank] for rank in ranks]
        few_buckets = [buckets[rank] for rank in ranks]
        yield Row(BASELINE, exponent, 100 * visits[0], 100 * visits[0])
        for digits in DIGITS:
            rate = 100 * sum(_best(visits, buckets, digits).values())
            yield Row(f"prefix of {digits}", exponent, rate, rate)
        for repeated in (False, True):
            rate = 100 * _with_decoys(visits, buckets, repeated=repeated)
            times = "ten requests for one site" if repeated else "one request"
            yield Row(f"prefix of 2 among {DECOYS} random ones, {times}", exponent, rate, rate)
        for digits in DIGITS:
            rate = 100 * sum(_best(few, few_buckets, digits).values())
            yield Row(f"prefix of {digits}, known sites only", exponent, rate, rate / sum(few))
        yield Row("whole hash, known sites only", exponent, 100 * sum(few), 100.0)


def _bucket(rank: int) -> int:
    """Return the first five digits of the site's hash as a number."""
    return int(sha256(f"site-{rank}.example".encode()).hexdigest()[: DIGITS[-1]], HEX)


def _best(visits: Sequence[float], buckets: Sequence[int], digits: int) -> dict[int, float]:
    """Return the share of the most visited site of each prefix; `visits` is in descending order."""
    divisor = HEX ** (DIGITS[-1] - digits)
    best: dict[int, float] = {}
    for share, bucket in zip(visits, buckets, strict=True):
        best.setdefault(bucket // divisor, share)
    return best


def _with_decoys(visits: Sequence[float], buckets: Sequence[int], *, repeated: bool) -> float:
    """Return the rate if every request hides its prefix among others, drawn by chance for each request.

    The others are drawn in proportion to the visits of their sites, so that all prefixes of a request are
    equally likely to be the real one. What ten requests of an account have in common is the real prefix,
    because the others are drawn again.
    """
    divisor = HEX ** (DIGITS[-1] - 2)
    best = _best(visits, buckets, 2)
    mass = dict.fromkeys(best, 0.0)
    for share, bucket in zip(visits, buckets, strict=True):
        mass[bucket // divisor] += share
    prefixes, weights = list(mass), list(itertools.accumulate(mass.values()))
    chance = random.Random(2)  # noqa: S311 -- a fixed sequence
    right = 0.0
    for _ in range(TRIALS):
        requests = [
            set(chance.choices(prefixes, cum_weights=weights, k=DECOYS)) for _ in range(10 if repeated else 1)
        ]
        real = chance.choices(prefixes, cum_weights=weights)[0]
        common = set.intersection(*requests) | {real}
        guess = max(common, key=lambda prefix: best[prefix] / mass[prefix])
        right += best[real] / mass[real] if guess == real else 0
    return right / TRIALS


def _print(rows: Sequence[Row]) -> None:
    table = Table("what the server receives", *(f"s = {exponent}" for exponent in EXPONENTS))
    for sent in dict.fromkeys(row.sent for row in rows):
        table.add_row(sent, *(_cell(row) for row in rows if row.sent == sent))
    console = Console(width=120)
    console.print(table)
    console.print("Right guesses in percent of all visits; in brackets, of the visits that cause a request.")
    console.print(f"{BASELINE}: the guess is always the most visited site.")


def _cell(row: Row) -> str:
    if row.of_requests == row.of_visits:
        return f"{row.of_visits:.1f}"
    return f"{row.of_visits:.2f} ({row.of_requests:.1f})"


if __name__ == "__main__":
    main()
