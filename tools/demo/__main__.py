"""`dev.py demo`: start everything, call every endpoint with a line for each step, stay up until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading

from rich.console import Console

from tools.console import echo
from tools.demo import steps
from tools.demo.client import DemoClient, DemoError
from tools.services import processes
from tools.services.processes import ServiceError
from tools.services.stack import LocalStack, find_running
from tools.state import State
from tools.up import banner


def main(argv: list[str]) -> int:
    """Return 0 if every step succeeded, otherwise 1."""
    parser = argparse.ArgumentParser(prog="dev.py demo")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(argv)
    state = State.open()
    running = find_running(state)
    if running and not options.fresh:
        echo(f"The service is already running; using {running['base_url']}.")
        return run_steps(running, verbose=options.verbose)
    with processes.interruptible():
        try:
            with LocalStack(state, fresh=options.fresh) as stack:
                return _run_beside_stack(stack, state, once=options.once, verbose=options.verbose)
        except ServiceError as error:
            echo(str(error))
        except KeyboardInterrupt:
            echo("Stopped.")
            return 130
        return 1


def run_steps(access: dict[str, str], *, verbose: bool = False) -> int:
    """Run the steps against a running service; print the result, and a failed step in full."""
    console = Console(soft_wrap=True)
    client = DemoClient(console, access["base_url"], verbose=verbose)
    try:
        steps.run(client, access["email"], access["password"])
    except DemoError as error:
        if not verbose:
            client.print_exchange()
        console.print("\n[bold red]The demo failed.[/]")
        console.print(str(error), highlight=False, markup=False)
        return 1
    console.print("\n[bold green]Every response was as documented.[/]")
    if not verbose:
        console.print("Requests and responses in full: python3 dev.py demo --verbose", highlight=False)
    return 0


def _run_beside_stack(stack: LocalStack, state: State, *, once: bool, verbose: bool) -> int:
    """Run the steps in a thread, while this one restarts processes that exit; return the exit code."""
    results: list[int] = []
    access = stack.access or {}
    thread = threading.Thread(target=lambda: results.append(run_steps(access, verbose=verbose)), daemon=True)
    thread.start()
    while thread.is_alive():
        stack.tick()
    code = results[0] if results else 1
    if once:
        return code
    echo(banner(state))
    try:
        while True:
            stack.tick()
    except KeyboardInterrupt:
        echo("Stopped.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
