"""`dev.py run <command …>`: run a command with the services and settings of `dev.py up`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

from tools.console import echo, step
from tools.services import embedded_redis, environment, processes, revisions
from tools.services.processes import ServiceError
from tools.services.supervisor import RELEASE, procfile_commands, run_to_completion
from tools.state import State

COMMAND_NOT_FOUND = 127  # the shell's exit code


def main(argv: list[str]) -> int:
    """Return the exit code of the command, as a shell would report it."""
    if not argv:
        echo("Name a command to run, such as: python3 dev.py run flask accounts list")
        return 2
    if shutil.which(argv[0]) is None:
        echo(f"{argv[0]}: command not found, neither in the environment nor on the PATH")
        return COMMAND_NOT_FOUND
    state = State.open()
    with processes.interruptible():
        try:
            with embedded_redis.running(state, os.environ) as redis_url:
                env = environment.for_children(state, os.environ, redis_url=redis_url)
                _migrate_if_new(state, env)
                return _run_in_foreground(argv, env)
        except ServiceError as error:
            echo(str(error))
            return 1
        except KeyboardInterrupt:
            return 128 + signal.SIGINT


def _migrate_if_new(state: State, env: dict[str, str]) -> None:
    """Create the embedded database if it does not exist yet."""
    revisions.discard_unreleased(state)
    release = procfile_commands().get(RELEASE)
    embedded = env["DATABASE_URL"] == f"sqlite:///{state.database}"
    if release and embedded and not state.database.exists():
        with step("migrate the new database"):
            run_to_completion(release, state, env, RELEASE)


def _run_in_foreground(command: list[str], env: dict[str, str]) -> int:
    """Run the command with our terminal, including its Ctrl-C; return its exit code."""
    process = subprocess.Popen(command, env=env)  # noqa: S603 - what the user asked for
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM if not sys.stdin.isatty() else signal.SIGINT)
        else:
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
