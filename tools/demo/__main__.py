"""`dev.py demo`: start everything, walk through all endpoints, a line for each step, stay up until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from rich.console import Console

from tools.console import echo
from tools.demo import steps
from tools.demo.client import DemoClient, DemoError
from tools.services import processes, stack
from tools.services.processes import ServiceError
from tools.state import State
from tools.up import banner


def main(argv: list[str]) -> int:
    """Return 0 if the walk went well, else 1."""
    parser = argparse.ArgumentParser(prog="dev.py demo")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args(argv)
    state = State.open()
    known = stack.find_running(state)
    if known and not chosen.fresh:
        echo(f"It is already up; walking at {known['base_url']}.")
        return run_steps(known, verbose=chosen.verbose)
    with processes.interruptible():
        try:
            with stack.LocalStack(state, fresh=chosen.fresh) as running:
                return _run_beside_stack(running, state, once=chosen.once, verbose=chosen.verbose)
        except ServiceError as problem:
            echo(str(problem))
        except KeyboardInterrupt:
            echo("Stopped.")
            return 130
        return 1


def run_steps(known: dict[str, str], *, verbose: bool = False) -> int:
    """Take the walk at a running service, and report how it went; a step that fails is printed in full."""
    console = Console(soft_wrap=True)
    client = DemoClient(console, known["base_url"], verbose=verbose)
    try:
        steps.run(client, known["email"], known["password"])
    except DemoError as problem:
        if not verbose:
            client.print_exchange()
        console.print("\n[bold red]The walk failed.[/]")
        console.print(str(problem), highlight=False, markup=False)
        return 1
    console.print("\n[bold green]Every step answered as promised.[/]")
    if not verbose:
        console.print("Requests and answers in full: python3 dev.py demo --verbose", highlight=False)
    return 0


def _run_beside_stack(running: stack.LocalStack, state: State, *, once: bool, verbose: bool) -> int:
    """Walk in a thread, so that the processes are looked after meanwhile."""
    results: list[int] = []
    known = running.access or {}
    walking = threading.Thread(target=lambda: results.append(run_steps(known, verbose=verbose)), daemon=True)
    walking.start()
    while walking.is_alive():
        running.tick()
    code = results[0] if results else 1
    if once:
        return code
    echo(banner(state))
    try:
        while True:
            running.tick()
    except KeyboardInterrupt:
        echo("Stopped.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
