"""`dev.py demo`: start everything, walk through all endpoints with explanations, stay up until Ctrl-C."""

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
    chosen = parser.parse_args(argv)
    state = State.open()
    known = services.already_up(state)
    if known and not chosen.fresh:
        say(f"It is already up; walking at {known['base_url']}.")
        return walk_through(known)
    with processes.interruptible():
        try:
            with services.Services(state, fresh=chosen.fresh) as running:
                return _show(running, state, once=chosen.once)
        except ServiceError as problem:
            say(str(problem))
        except KeyboardInterrupt:
            say("Stopped.")
            return 130
        return 1


def walk_through(known: dict[str, str]) -> int:
    """Take the walk at a running service, and say how it went."""
    console = Console(soft_wrap=True)
    try:
        walk.take(Walker(console, known["base_url"]), known["email"], known["password"])
    except WalkError as problem:
        console.print(f"\n[bold red]The walk failed.[/]\n{problem}", highlight=False)
        return 1
    console.print("\n[bold green]Every step answered as promised.[/]")
    return 0


def _show(running: services.Services, state: State, *, once: bool) -> int:
    """Walk in a thread, so that the processes are looked after meanwhile."""
    results: list[int] = []
    known = running.answer or {}
    walking = threading.Thread(target=lambda: results.append(walk_through(known)), daemon=True)
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
