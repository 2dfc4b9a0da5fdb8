"""The programs of PostgreSQL that back up and restore, and how they reach the server."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from psycopg.conninfo import make_conninfo
from sqlalchemy import URL

from app.features.backup.copies.archive import BackupError
from app.infra import child_environment


class ProgramEnded(Exception):  # noqa: N818 -- named after what happened
    """The program ended before its output or input was complete."""


def find(name: str) -> str:
    """Return the path of a program of PostgreSQL."""
    path = shutil.which(name)
    if path is None:
        message = (
            f"{name} is not installed. Install PostgreSQL's client programs, of the server's version or a"
            " later one: apt install postgresql-client"
        )
        raise BackupError(message)
    return path


def address(url: URL) -> str:
    """Return the connection string for PostgreSQL's programs, without the password: arguments are visible."""
    parts = url.set(password=None).translate_connect_args(username="user", database="dbname")
    return make_conninfo(**parts, **{name: str(value) for name, value in url.query.items()})


def environment(url: URL) -> dict[str, str]:
    """Return the environment of these programs, with the password and PostgreSQL's own variables."""
    password = {} if url.password is None else {"PGPASSWORD": str(url.password)}
    return child_environment.minimal("PG", "KRB5", "SSL_", **password)


@contextmanager
def running(
    command: list[str], env: Mapping[str, str], *, stdin: int | None = None, stdout: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program as long as the block, and wait for its end.

    If the program failed, a BackupError with its reason replaces an error that the block raised because the
    program had ended.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=env, stdin=stdin, stdout=stdout, stderr=errors)  # noqa: S603 -- words from this package
        broken = None
        try:
            yield process
        except (BrokenPipeError, ProgramEnded) as error:
            broken = error
        except BaseException:
            process.kill()
            raise
        finally:
            _close(process)
        if process.returncode or broken:
            raise BackupError(f"{os.path.basename(command[0])} failed: {_reason(errors)}")  # noqa: PTH119 -- of a word


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # the process has ended, and its exit code says why
    process.wait()


def _reason(errors: IO[bytes]) -> str:
    """Return the first error that a program printed; the lines after it can quote values of rows."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return next((line for line in lines if "error:" in line), lines[-1] if lines else "it printed nothing")
