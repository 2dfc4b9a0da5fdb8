"""Build company filters, and read them in Chromium as the extension does: time, size and false positives.

    python3 dev.py run python -m benchmarks.website_privacy.company_filter [--entries 1000000] [--json]

Building is measured in processor time. Chromium verifies the signature and reads the file five times, of
which the median is printed, and looks up hashes that are not in the filter. It needs Chromium, and the
packages of the tests.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import resource
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from app.engine.lookups.company_filters import SIZES
from app.features.company_filter import file_format, fuse_filter

READER = Path(__file__).parents[2] / "extension" / "client" / "company_filter.js"
ORIGIN = "http://localhost"  # Ed25519 needs a secure context
LOOKUPS = 100_000
READ = """async ([key, lookups]) => {
  const { readCompanyFilter } = await import("/reader.js");
  const file = await (await fetch("/file")).arrayBuffer();
  const times = [];
  let filter;
  for (let round = 0; round < 5; round += 1) {
    const started = performance.now();
    filter = await readCompanyFilter(file, key);
    times.push(performance.now() - started);
  }
  const random = crypto.getRandomValues(new BigUint64Array(8192));
  const hashes = Array.from({ length: lookups }, (_, index) => {
    const hash = (random[index % 8192] + BigInt(index) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
    return hash.toString(16).padStart(16, "0");
  });
  const started = performance.now();
  const found = hashes.filter((hash) => filter.has(hash)).length;
  const microseconds = ((performance.now() - started) * 1000) / lookups;
  return { milliseconds: times.sort((a, b) => a - b)[2], microseconds, found };
}"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The figures of one size of fingerprints."""

    bits: int
    entries: int
    megabytes: float
    build_seconds: float
    peak_megabytes: int
    read_milliseconds: float
    lookup_microseconds: float
    false_positives: int
    """Of LOOKUPS unknown hashes."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--entries", type=int, default=1_000_000, help="default 1000000")
    parser.add_argument("--json", action="store_true", help="print a JSON array instead of a table")
    options = parser.parse_args()
    measurements = [asdict(measurement) for measurement in measure(options.entries)]
    if options.json:
        print(json.dumps(measurements))  # noqa: T201
        return
    table = Table(*(name.replace("_", " ") for name in measurements[0]))
    for values in measurements:
        table.add_row(
            *(f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" for value in values.values())
        )
    Console(width=140).print(table)


def measure(entries: int) -> Iterator[Measurement]:
    """Yield the figures of both sizes of fingerprints."""
    keys = [
        file_format.key_of(sha256(f"company-{number}.example".encode()).digest()) for number in range(entries)
    ]
    signing_key = Ed25519PrivateKey.generate()
    public_key = base64.b64encode(signing_key.public_key().public_bytes_raw()).decode()
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for bits in SIZES:
            started = time.process_time()
            unsigned = file_format.encode(fuse_filter.build(keys, bits), version=1)
            file = unsigned + signing_key.sign(unsigned)
            seconds = time.process_time() - started
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            read = _read(browser.new_page(), file, public_key)
            yield Measurement(
                bits,
                entries,
                len(file) / 1e6,
                seconds,
                peak,
                read["milliseconds"],
                read["microseconds"],
                read["found"],
            )
        browser.close()


def _read(page: Page, file: bytes, public_key: str) -> dict[str, Any]:
    page.route(
        f"{ORIGIN}/", lambda route: route.fulfill(body="<title>reader</title>", content_type="text/html")
    )
    page.route(
        f"{ORIGIN}/reader.js", lambda route: route.fulfill(path=READER, content_type="text/javascript")
    )
    page.route(f"{ORIGIN}/file", lambda route: route.fulfill(body=file))
    page.goto(f"{ORIGIN}/")
    read: dict[str, Any] = page.evaluate(READ, [public_key, LOOKUPS])
    return read


if __name__ == "__main__":
    main()
