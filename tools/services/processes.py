"""Start and stop process groups, so that none outlives the process that started it."""

from __future__ import annotations

import pwd
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tools.services.process_groups import Process, stop_groups
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_TRACEBACK = re.compile(r"^( *)Traceback \(most recent call last\):\n(?:\1 .*\n)*", re.MULTILINE)

GRACE_SECONDS = 10.0  # between SIGTERM and SIGKILL


class ServiceError(Exception):
    """A service cannot run; the message says why and what to do next."""


class Reaper:
    """Starts process groups, and a helper process that stops them if this process dies, even by SIGKILL.

    The helper reads the groups from a pipe whose write end only this process holds, so the end of the pipe
    means that this process is gone. Unlike PR_SET_PDEATHSIG, this works on macOS and reaches grandchildren.
    """

    def __init__(self, *, locks: Iterable[int] = (), grace: float = GRACE_SECONDS) -> None:
        """Start the helper; it inherits the lock files `locks`, which stay locked until it exits."""
        self._helper = subprocess.Popen(  # noqa: S603 - our own Python and module
            [sys.executable, "-m", "tools.services.reaper", str(grace)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(locks),
            start_new_session=True,
        )

    def spawn(
        self,
        command: list[str],
        log: Path,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        pass_fds: Iterable[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a command as `spawn` below does, and watch its group."""
        process = spawn(command, log, env, user, pass_fds)
        self.watch(process)
        return process

    def watch(self, leader: Process) -> None:
        """Watch the group that this process leads."""
        self._write(f"+{leader.pid}\n")

    def stop(self, leaders: Iterable[Process], grace: float = GRACE_SECONDS) -> None:
        """Stop the groups that these processes lead, as `stop` below does, and stop watching them."""
        leaders = list(leaders)
        stop(leaders, grace)
        for leader in leaders:
            self.unwatch(leader)

    def unwatch(self, leader: Process) -> None:
        """Stop watching the group that this process leads: it has ended."""
        self._write(f"-{leader.pid}\n")

    def close(self) -> None:
        """Stop the groups that are still watched, and the helper."""
        if self._helper.stdin:
            self._helper.stdin.close()
        self._helper.wait()

    def _write(self, line: str) -> None:
        if self._helper.stdin:
            self._helper.stdin.write(line.encode())
            self._helper.stdin.flush()


def spawn(
    command: list[str],
    log: Path,
    env: Mapping[str, str] | None = None,
    user: str | None = None,
    pass_fds: Iterable[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a command as the leader of a new process group, and append its stdout and stderr to `log`.

    It inherits the file descriptors `pass_fds`, such as a listening socket. With `user` (which only root may
    pass) it runs as that user, without supplementary groups.
    """
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - from the Procfile or this package
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
        )


def stop(leaders: Iterable[Process], grace: float = GRACE_SECONDS) -> None:
    """Stop the groups that these processes lead, as `stop_groups` does."""
    leaders = list(leaders)
    stop_groups([leader.pid for leader in leaders], leaders, grace=grace)


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, each marked as a quotation, and of a traceback only its last line."""
    try:
        written = log.read_text(errors="replace")
    except OSError:
        written = ""
    last = _TRACEBACK.sub("", written).splitlines()[-lines:]
    return "\n".join(f"  | {line}" for line in last) or "  | (no output)"


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP as on SIGINT, so that `finally` blocks run."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_interrupts() -> None:
    """Ignore further signals while stopping: it takes a bounded time, and aborting it would leave orphans."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
