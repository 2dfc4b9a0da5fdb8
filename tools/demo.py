"""`dev.py demo`: start everything, walk through all endpoints, a line for each step, stay up until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from rich.console import Console

from tools import processes, services, walk
from tools.console import say
from tools.redis_server import ServiceError
from tools.state import State
from tools.up import banner
from tools.walker import Walker, WalkError


def main(argv: list[str]) -> int:
    """Return 0 if the walk went well, else 1."""
    parser = argparse.ArgumentParser(prog="dev.py demo")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args(argv)
    state = State.open()
    known = services.already_up(state)
    if known and not chosen.fresh:
        say(f"It is already up; walking at {known['base_url']}.")
        return walk_through(known, verbose=chosen.verbose)
    with processes.interruptible():
        try:
            with services.Services(state, fresh=chosen.fresh) as running:
                return _show(running, state, once=chosen.once, verbose=chosen.verbose)
        except ServiceError as problem:
            say(str(problem))
        except KeyboardInterrupt:
            say("Stopped.")
            return 130
        return 1


def walk_through(known: dict[str, str], *, verbose: bool = False) -> int:
    """Take the walk at a running service, and report how it went; a step that fails is printed in full."""
    console = Console(soft_wrap=True)
    walker = Walker(console, known["base_url"], verbose=verbose)
    try:
        walk.take(walker, known["email"], known["password"])
    except WalkError as problem:
        if not verbose:
            walker.print_exchange()
        console.print("\n[bold red]The walk failed.[/]")
        console.print(str(problem), highlight=False, markup=False)
        return 1
    console.print("\n[bold green]Every step answered as promised.[/]")
    if not verbose:
        console.print("Requests and answers in full: python3 dev.py demo --verbose", highlight=False)
    return 0


def _show(running: services.Services, state: State, *, once: bool, verbose: bool) -> int:
    """Walk in a thread, so that the processes are looked after meanwhile."""
    results: list[int] = []
    known = running.answer or {}
    walking = threading.Thread(
        target=lambda: results.append(walk_through(known, verbose=verbose)), daemon=True
    )
    walking.start()
    while walking.is_alive():
        running.tend()
    code = results[0] if results else 1
    if once:
        return code
    say(banner(state))
    try:
        while True:
            running.tend()
    except KeyboardInterrupt:
        say("Stopped.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
