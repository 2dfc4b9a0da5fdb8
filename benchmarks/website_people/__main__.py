"""Measure what the provider `website` reads at public sites: `python -m benchmarks.website_people`.

`--sites FOLDER` has the pages of the sites in `sites.json`, below their domains: `python -m
benchmarks.website_people.site_files FOLDER` gets them from public repositories. They are served on loopback
by the name of the host, and the reader reads them as in production: `robots.txt`, home page, then the pages
that it chooses. It does not pause between requests unless `--pause` says so; no request leaves the machine.

Right and wrong is what people say who read the pages, kept as digests (`labels.json`). The guesses are
leave-one-out: the address of each person found is guessed from nothing, and from the others that were found
at the site. The floor takes each address that a regular expression finds in the same pages, with the
nearest heading above it as the name. `--pairs FILE` writes the pairs that have no label yet, to be
labelled; they name real people.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from benchmarks.website_people import floor, guesses
from benchmarks.website_people.labels import Labels, Pair, Score, pair_digest, read_labels, score
from benchmarks.website_people.loopback import SiteServer, serving
from benchmarks.website_people.site_files import Site, read_sites
from tools.console import echo
from workers.providers.website.reader import WebsiteReader

CONTACT = "https://contact-lookup.example/robot"
SECONDS = 30.0
"""Time limit of a site, in seconds."""
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read at a site: pairs, the number of named people, pages, requests and seconds."""

    site: Site
    pairs: frozenset[Pair]
    people: int
    role_addresses: int
    pages: tuple[str, ...]
    requests: int
    seconds: float


def main(argv: list[str]) -> int:
    """Read the sites and print the tables; return 1 if a site is missing in the folder."""
    options = _parser().parse_args(argv)
    sites = [site for site in read_sites() if (options.sites / site.domain).is_dir()]
    if missing := len(read_sites()) - len(sites):
        echo(f"{missing} sites are missing: python -m benchmarks.website_people.site_files {options.sites}")
    before, labels = _memory(), read_labels()
    with serving(options.sites) as server:
        reader = WebsiteReader(CONTACT, gateway=f"http://127.0.0.1:{server.server_port}", pause=options.pause)
        readings = [_read(reader, server, site) for site in sites]
    pairs = frozenset[Pair]().union(*(reading.pairs for reading in readings))
    if options.pairs:
        _write_unlabelled(options.pairs, pairs, labels)
    console = Console(width=100)
    console.print(_sites_table(readings, _memory() - before))
    floor_pairs = _floor(readings, server, labels)
    console.print(_pairs_table(score(pairs, labels), score(floor_pairs, labels, unlabelled=False)))
    console.print(_guesses_table(pairs))
    return int(missing > 0)


def _read(reader: WebsiteReader, server: SiteServer, site: Site) -> Reading:
    started = time.perf_counter()
    reading = reader.read(site.domain, SECONDS)
    seconds = time.perf_counter() - started
    found = [found.person for found in reading.people]
    return Reading(
        site=site,
        pairs=frozenset(
            Pair(site.domain, person.full_name, person.email) for person in found if person.email
        ),
        people=len(found),
        role_addresses=len(reading.role_addresses),
        pages=tuple(page.url for page in reading.pages if not page.reason),
        requests=server.requests[site.domain],
        seconds=seconds,
    )


def _floor(readings: Sequence[Reading], server: SiteServer, labels: Labels) -> set[Pair]:
    """Return the floor's pairs in the pages that the reader read at labelled sites."""
    found: set[Pair] = set()
    for reading in readings:
        for url in reading.pages if reading.site.domain in labels.people else ():
            if path := server.file_of(reading.site.domain, urlsplit(url).path):
                found |= floor.pairs(path.read_bytes(), reading.site.domain)
    return found


def _sites_table(readings: Sequence[Reading], memory: float) -> Table:
    count = len(readings)
    requests = sorted(reading.requests for reading in readings)
    seconds = sorted(reading.seconds for reading in readings)
    table = Table("sites", f"{count:,}", title="what was read")
    rows = {
        "with a named person": _share(sum(reading.people > 0 for reading in readings), count),
        "with a named person and an address": _share(sum(bool(one.pairs) for one in readings), count),
        "with an address of a role": _share(sum(one.role_addresses > 0 for one in readings), count),
        "not read": _share(sum(not one.pages for one in readings), count),
        "named people": f"{sum(one.people for one in readings):,}",
        "with an address": f"{sum(len(one.pairs) for one in readings):,}",
        "pages read": f"{sum(len(one.pages) for one in readings):,}",
        "requests per site, p50 and most": f"{statistics.median(requests):.0f}, {requests[-1]}",
        "seconds per site, p50 and p99": f"{statistics.median(seconds):.2f}, {_percentile(seconds, 99):.2f}",
        "memory of the process, more than before": f"{memory:.0f} MB",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _pairs_table(reader: Score, plain: Score) -> Table:
    table = Table("pairs of name and address", "reader", "floor", title="right and wrong")
    for name, values in {
        "right": (reader.right, plain.right),
        "wrong": (reader.wrong, plain.wrong),
        "without a label": (reader.unlabelled, plain.unlabelled),
    }.items():
        table.add_row(name, *map(str, values))
    table.add_row("precision", f"{reader.precision:.3f}", f"{plain.precision:.3f}")
    table.add_row(f"recall of {reader.findable}", f"{reader.recall:.3f}", f"{plain.recall:.3f}")
    return table


def _guesses_table(pairs: frozenset[Pair]) -> Table:
    table = Table(
        "first guess is right", "people (sites)", "nothing known", "others of the site known", title="guesses"
    )
    found = sorted(pairs, key=pair_digest)
    for name, hits in {
        "all people found": guesses.measure(found),
        "at sites with two or more": guesses.measure(found, SEVERAL),
        "at these, each site counts once": guesses.measure(found, SEVERAL, is_each_site_one=True),
    }.items():
        rates = (f"{number / max(hits.people, 1):.1%}" for number in (hits.untaught, hits.taught))
        table.add_row(name, f"{hits.people:.0f}", *rates)
    return table


def _write_unlabelled(path: Path, pairs: frozenset[Pair], labels: Labels) -> None:
    unlabelled = [pair for pair in pairs if pair_digest(pair) not in labels.pairs]
    rows = sorted([pair.domain, pair.name, pair.email, pair_digest(pair)] for pair in unlabelled)
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=0))


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / max(whole, 1):.1%})"


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def _memory() -> float:
    """Return the most memory that the process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.website_people", description="Measure `website`."
    )
    parser.add_argument("--sites", type=Path, required=True, help="the folder with the sites' pages")
    parser.add_argument(
        "--pause", type=float, default=0.0, help="seconds between two requests (production: 0.25)"
    )
    parser.add_argument("--pairs", type=Path, help="write the pairs without a label to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
