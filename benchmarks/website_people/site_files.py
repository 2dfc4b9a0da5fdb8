"""Clone the sites of the benchmark: `python -m benchmarks.website_people.site_files FOLDER`.

`sites.json` lists public repositories of websites, each at one commit, with the folder in it that is the
site's root and the domain that it is measured as: the one in its `CNAME`, of its addresses or its canonical
links, else an invented one below `.example`. They were chosen by the names of their pages (team, staff,
board, attorneys, imprint, contact in ten languages), not by what the pages say. Only pages, `robots.txt`
and `sitemap.xml` are written to FOLDER, below the domain. They name real people: do not publish the folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.console import echo

SITES = Path(__file__).with_name("sites.json")
SOURCE = "https://github.com/{repository}.git"
PAGES = frozenset({".html", ".htm", ".xhtml"})
OTHER_FILES = frozenset({"robots.txt", "sitemap.xml"})
MAX_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Site:
    """A site in a public repository; `folder` is its root in there, `pages` the number of its pages."""

    repository: str
    commit: str
    folder: str
    domain: str
    pages: int


def read_sites() -> list[Site]:
    """Return the sites of the benchmark."""
    return [Site(**values) for values in json.loads(SITES.read_text())]


def clone(site: Site, folder: Path, source: str = SOURCE) -> int:
    """Write the pages of a site below its domain, and return how many.

    Raises:
        subprocess.CalledProcessError: the repository or its commit is gone.

    """
    with tempfile.TemporaryDirectory() as clone_path:
        url = source.format(repository=site.repository)
        git = ["git", "-C", clone_path, "-c", "advice.detachedHead=false"]
        for command in (
            ["init", "--quiet"],
            ["fetch", "--quiet", "--depth=1", "--no-tags", url, site.commit],
            ["checkout", "--quiet", "FETCH_HEAD"],
        ):
            subprocess.run([*git, *command], check=True, capture_output=True)  # noqa: S603 -- of the list
        return _copy(Path(clone_path) / site.folder, folder / site.domain)


def _copy(root: Path, target: Path) -> int:
    pages = 0
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        is_page = path.suffix.lower() in PAGES and "node_modules" not in inside.parts
        if not (is_page or str(inside) in OTHER_FILES) or path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size > MAX_BYTES:
            continue
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        (target / inside).write_bytes(path.read_bytes())
        pages += is_page
    return pages


def main(argv: list[str]) -> int:
    """Clone the sites that are not there yet; return 1 if one is gone."""
    folder, gone = Path(argv[0]), 0
    for site in read_sites():
        if (folder / site.domain).exists():
            continue
        try:
            echo(f"{site.domain}: {clone(site, folder)} pages")
        except subprocess.CalledProcessError:
            gone += 1
            echo(f"{site.domain}: github.com/{site.repository} at {site.commit[:8]} is gone")
    return int(gone > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
