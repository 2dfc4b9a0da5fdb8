"""`python -m benchmarks.comparison.load`: the callers, in a process of their own.

It reads a plan as a line of JSON, connects every caller, prints `ready`, and starts at the next line of its
input. It prints what it has observed as JSON, and keeps the connections open until its input ends, so that
they can be counted.
"""

from __future__ import annotations

import json
import resource
import sys

import uvloop

from benchmarks.comparison import callers
from benchmarks.comparison.plan import Plan


async def main() -> None:
    """Run a plan."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    run, connected = await callers.connect(Plan(**json.loads(sys.stdin.readline())))
    _print("ready")
    sys.stdin.readline()
    _print(json.dumps(await callers.send(run, connected)))
    sys.stdin.read()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main())
