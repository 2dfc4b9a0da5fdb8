"""`dev.py up`: start everything, print its addresses, and stay up until Ctrl-C."""

from __future__ import annotations

import signal

if __name__ == "__main__":  # until and after `interruptible`, Ctrl-C ends the process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import json
import sys

from tools.console import echo
from tools.services import processes
from tools.services.processes import ServiceError
from tools.services.stack import LocalStack
from tools.state import State

MAX_PORT = 65535


def main(argv: list[str]) -> int:
    """Return 0 after Ctrl-C or SIGTERM, 1 if something did not start."""
    parser = argparse.ArgumentParser(prog="dev.py up")
    parser.add_argument("--port", type=_port)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args(argv)
    state = State.open()
    with processes.interruptible():
        try:
            with LocalStack(state, options.port, options.fresh) as stack:
                sys.stdout.write(json.dumps(stack.access) + "\n" if options.json else banner(state))
                sys.stdout.flush()
                while True:
                    stack.tick()
        except ServiceError as error:
            echo(str(error))
            return 1
        except KeyboardInterrupt:
            echo("Stopped.")
            return 0


def banner(state: State) -> str:
    """Return the addresses and logins of the running stack, as text for a person."""
    access = state.read("up.json")
    return f"""
The service is running.
  Page      {access["base_url"]}
  API       {access["base_url"]}/api
  Manual    {access["base_url"]}/manual/
  API docs  {access["base_url"]}/docs
  Sign in   {access["email"]}   password: {access["password"]}
  Flower    {access["flower_url"]}   login: {access["flower_login"]}
  Logs      {state.logs}
For the examples in README.md, paste this into a shell:
  BASE={access["base_url"]} EMAIL={access["email"]} PASSWORD={access["password"]}
Ctrl-C stops it.
"""


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text} is not a port: choose one from 1 to {MAX_PORT}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
