"""Start and stop groups of processes, and see to it that none outlives the one that started them."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

GRACE_SECONDS = 10.0  # seconds between SIGTERM and SIGKILL
KILL_SECONDS = 2.0


class ServiceError(Exception):
    """A service cannot run; the message says why and what to do next."""


class Reaper:
    """A helper process that stops what is left when its owner is gone, be it by SIGKILL.

    It reads the groups to watch from a pipe whose other end only the owner holds: when the pipe ends, the
    owner is dead. This works on macOS too, and reaches grandchildren; PR_SET_PDEATHSIG does neither.
    """

    def __init__(self, *, hold: Iterable[int] = (), grace: float = GRACE_SECONDS) -> None:
        """Start the helper; `hold` are lock files that stay locked until it is done."""
        self.process = subprocess.Popen(  # noqa: S603 - our own Python and module
            [sys.executable, "-m", "tools.services.reaper", str(grace)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(hold),
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Stop this group when the owner dies."""
        self._write(f"+{group}\n")

    def unwatch(self, group: int) -> None:
        """Leave this group alone: it is over."""
        self._write(f"-{group}\n")

    def close(self) -> None:
        """Let the helper go; it stops what is still watched."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()

    def _write(self, line: str) -> None:
        if self.process.stdin:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()


def spawn(
    command: list[str],
    log: Path,
    env: Mapping[str, str] | None = None,
    user: str | None = None,
    pass_fds: Iterable[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a command as the leader of its own group, with both outputs at the end of `log`.

    It inherits the files in `pass_fds`, such as a socket that listens already. With `user` (only root may
    name one) it runs as that user, in no group but theirs.
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


def stop(
    groups: Iterable[int], children: Iterable[subprocess.Popen[bytes]] = (), grace: float = GRACE_SECONDS
) -> None:
    """End whole groups: SIGTERM, after `grace` seconds SIGKILL for what is left; wait until they are gone.

    `children` are those of ours among their leaders: a group lasts until its leader has been waited for.
    """
    left, children = set(groups), list(children)
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, KILL_SECONDS)):
        for group in left:
            _signal(group, number)
        deadline = time.monotonic() + patience
        while left and time.monotonic() < deadline:
            for child in children:
                child.poll()
            left = {group for group in left if _signal(group, 0)}
            time.sleep(0.02)


def tail(log: Path, lines: int = 15) -> str:
    """Return the end of a log, marked as a quotation."""
    try:
        found = log.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        found = []
    return "\n".join(f"  | {line}" for line in found) or "  | (it wrote nothing)"


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt, as SIGINT is, so that `finally` runs for all three."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_interrupts() -> None:
    """Let the stopping finish: its length is bounded, and cutting it short would leave orphans."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; False when nobody is left in it."""
    with suppress(ProcessLookupError):
        try:
            os.killpg(group, number)
        except PermissionError:  # macOS says this of a group of zombies
            return False
        return True
    return False
