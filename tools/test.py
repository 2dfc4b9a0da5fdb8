"""`dev.py test [--postgres] [pytest arguments]`: the tests on SQLite, or on a throw-away PostgreSQL."""

from __future__ import annotations

import os
import sys

from tools.services import postgres

ON_POSTGRES = "--postgres"


def main(argv: list[str]) -> int:
    """Return pytest's exit code."""
    words = [word for word in argv if word != ON_POSTGRES]
    parallel = (
        []
        if any(word == "-n" or word.startswith(("-n=", "--numprocesses")) for word in words)
        else ["-n", "2"]
    )
    command = [sys.executable, "-m", "pytest", *parallel, *words]
    if ON_POSTGRES in argv:
        return postgres.main(command)
    os.execv(command[0], command)  # noqa: S606 - no shell wanted
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
