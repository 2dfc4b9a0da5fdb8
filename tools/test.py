"""`dev.py test [--fast | --release] [--postgres] [pytest arguments]`: run the tests.

`--fast` leaves out the tests that start a browser or processes of the service, or take seconds. Unless paths
name what to run, it leaves out the tests that use a database, too.
`--release` runs those that build what is released or walk the service and its operation, left out otherwise.
`--postgres` runs the tests that use a database, on a throw-away PostgreSQL server instead of SQLite.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.console import echo
from tools.services import postgres

FAST, RELEASE, ON_POSTGRES = "--fast", "--release", "--postgres"
PROCESSES = "4"  # more than processors: many tests wait for a time limit or another process
MARKERS = {FAST: "not slow", RELEASE: "release", ON_POSTGRES: "database"}  # set in tests/conftest.py
ESTIMATES = {  # on two processors
    frozenset(): "The tests on SQLite, without the lane of a release: about seven minutes.",
    frozenset({RELEASE}): "The builds, walks and measurements of a release, on SQLite: a quarter of an hour.",
    frozenset({FAST}): "The tests that use no browser, no service and no database: about a minute.",
    frozenset({ON_POSTGRES}): "The tests that use a database, on PostgreSQL: about eight minutes.",
    frozenset({FAST, ON_POSTGRES}): "The tests that use a database but start no service, on PostgreSQL: "
    "about two minutes.",
    frozenset({RELEASE, ON_POSTGRES}): "The long walks of a release, on PostgreSQL: several minutes.",
}


def main(argv: list[str]) -> int:
    """Run pytest on the chosen tests and return its exit code."""
    chosen = frozenset(MARKERS).intersection(argv)
    if {FAST, RELEASE} <= chosen:
        sys.exit(f"{FAST} and {RELEASE} exclude each other: choose one.")
    arguments = [argument for argument in argv if argument not in MARKERS]
    if not any(_is_path(argument) for argument in arguments):
        echo(ESTIMATES[chosen])
    command = [sys.executable, "-m", "pytest", *_defaults(chosen, arguments), *arguments]
    # Without bytecode each test process would compile, and pytest rewrite, several hundred modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if ON_POSTGRES in chosen:
        return postgres.main(command)
    os.execv(command[0], command)  # noqa: S606 - no shell wanted
    return 1


def _defaults(chosen: frozenset[str], arguments: list[str]) -> list[str]:
    """Return the options that the arguments leave open."""
    defaults = []
    if not any(argument.startswith(("-n", "--numprocesses")) for argument in arguments):
        defaults += ["-n", PROCESSES]
    markers = [MARKERS[option] for option in sorted(chosen)]
    names_paths = any(_is_path(argument) for argument in arguments)
    if chosen == {FAST} and not names_paths:
        markers.append(f"not {MARKERS[ON_POSTGRES]}")
    if RELEASE not in chosen and not names_paths:
        markers.append(f"not {MARKERS[RELEASE]}")
    if markers and "-m" not in arguments:
        defaults += ["-m", " and ".join(markers)]
    return defaults


def _is_path(argument: str) -> bool:
    return Path(argument.partition("::")[0]).exists()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
