"""Celery processes that are forked from this one, which has imported the workers: they share that memory.

Each of the six would otherwise hold 90 MB of its own and take more than a second of processor time to
start. Only the first start of a process is a fork, while this process has a single thread and no
connection; a restart executes the command.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

IS_SUPPORTED = sys.platform == "linux"  # on macOS, system libraries may crash in a fork without exec
CELERY = "exec celery "  # in a command of the Procfile
FIRST_FILE = 3  # after stdin, stdout and stderr


@dataclass(slots=True)
class ForkedProcess:
    """A forked process, with the part of `subprocess.Popen` that a supervisor needs."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative after a signal; None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def forkable(commands: Mapping[str, str], env: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the arguments of those commands of the Procfile that can be forked after `import_workers`."""
    if not IS_SUPPORTED:
        return {}
    arguments = {name: celery_arguments(command, env) for name, command in commands.items()}
    return {name: words for name, words in arguments.items() if words is not None}


def celery_arguments(command: str, env: Mapping[str, str]) -> list[str] | None:
    """Return the arguments with which a command of the Procfile executes Celery; None if it executes none.

    A shell runs what precedes Celery and expands the variables.
    """
    if command.count(CELERY) != 1:
        return None
    expansion = command.replace(CELERY, "printf '%s\\0' ")
    shell = subprocess.run(["/bin/sh", "-c", expansion], env=env, cwd=ROOT, capture_output=True, check=False)  # noqa: S603 - from the Procfile
    if shell.returncode:  # started as usual, the command reports the failure in its log
        return None
    return shell.stdout.decode().split("\0")[:-1]


def import_workers(env: Mapping[str, str]) -> bool:
    """Import what every Celery process needs, with the settings of this environment.

    Return False if a setting is invalid: started as usual, each process reports it in its log.
    """
    gc.disable()  # what is imported is permanent
    try:
        with _environment(env):
            from tools.services import worker_imports  # noqa: F401, PLC0415 - only a process that forks needs it
    except SystemExit:
        return False
    finally:
        gc.enable()
    gc.freeze()  # a collection would write to the shared pages
    return True


def fork_celery(name: str, arguments: list[str], log: Path, env: Mapping[str, str]) -> ForkedProcess:
    """Fork a process that leads a process group, appends its output to `log`, and runs Celery."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return ForkedProcess(pid)
    try:
        _become(name, log, env)
        _run_celery(arguments)
    except BaseException:  # noqa: BLE001 - the child must not return to the code of its parent
        traceback.print_exc()
    finally:
        os._exit(1)


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    """Replace the environment of this process."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _become(name: str, log: Path, env: Mapping[str, str]) -> None:
    """Set up the session, signals, files and environment of this child, as in an executed process."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    # Locks, sockets, and the pipe of the reaper.
    for file in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, not paths
        if file >= FIRST_FILE:
            with suppress(OSError):  # that of the list itself
                os.close(file)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a text file
    os.environ.clear()
    os.environ.update(env)
    with open("/proc/self/comm", "w") as title:  # noqa: PTH123 - what ps and top show
        title.write(name)


def _run_celery(arguments: list[str]) -> NoReturn:
    """Run Celery's command line, and exit with its code."""
    from celery.__main__ import main  # noqa: PLC0415 - as above

    sys.argv = ["celery", *arguments]
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
