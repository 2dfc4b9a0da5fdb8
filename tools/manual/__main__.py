"""`dev.py manual`: build the manual from the documentation, for the app to serve at /manual/."""

from __future__ import annotations

import argparse
import sys

from tools.console import echo, step
from tools.manual import diagrams, site
from tools.state import ROOT


def main(argv: list[str]) -> int:
    """Return 0 if the manual was built, 1 if a page has a fault."""
    parser = argparse.ArgumentParser(prog="dev.py manual", description=__doc__)
    parser.add_argument(
        "--diagrams", action="store_true", help="first draw changed Mermaid diagrams (needs npm and Chromium)"
    )
    options = parser.parse_args(argv)
    try:
        if options.diagrams:
            for picture in diagrams.draw():
                echo(f"Drew {picture.name}.")
        with step("build the manual"):
            count = site.build()
    except (diagrams.DrawingError, *site.FAULTS) as fault:
        echo(str(fault))
        return 1
    echo(f"{count} pages in {site.TARGET.relative_to(ROOT)}; the app serves them at /manual/.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
