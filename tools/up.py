"""`dev.py up`: start everything, say where it is, and stay up until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import sys

from tools.console import echo
from tools.services import processes, stack
from tools.services.processes import ServiceError
from tools.state import State

MAX_PORT = 65535


def main(argv: list[str]) -> int:
    """Return 0 after Ctrl-C or SIGTERM, 1 if something could not start."""
    parser = argparse.ArgumentParser(prog="dev.py up")
    parser.add_argument("--port", type=_port)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    chosen = parser.parse_args(argv)
    state = State.open()
    with processes.interruptible():
        try:
            with stack.LocalStack(state, chosen.port, chosen.fresh) as running:
                sys.stdout.write(json.dumps(running.access) + "\n" if chosen.json else banner(state))
                sys.stdout.flush()
                while True:
                    running.tick()
        except ServiceError as problem:
            echo(str(problem))
            return 1
        except KeyboardInterrupt:
            echo("Stopped.")
            return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text} is not a port: choose one from 1 to {MAX_PORT}")
    return int(text)


def banner(state: State) -> str:
    """Return what a person needs to know of the stack that runs."""
    known = state.read("up.json")
    return f"""
It is up.
  API       {known["base_url"]}
  Docs      {known["base_url"]}/docs
  Sign in   {known["email"]}   password: {known["password"]}
  Flower    {known["flower_url"]}   login: {known["flower_login"]}
  Logs      {state.logs}
For the walk in README.md, paste this into a shell:
  BASE={known["base_url"]} EMAIL={known["email"]} PASSWORD={known["password"]}
Ctrl-C stops it.
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
