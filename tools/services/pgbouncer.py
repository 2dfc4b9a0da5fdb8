"""A throw-away PgBouncer in transaction mode, for tests and for `dev.py matrix`."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from app.infra.database.engines import PGBOUNCER, parsed_url
from tools.services import ports, postgres, processes
from tools.services.processes import Reaper, ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator

POOL_SIZE = 10
"""Connections to the server per database; fewer than the service opens, so that transactions share them."""
START_SECONDS = 20.0
NOT_FOUND = "No PgBouncer was found. Install it, for example: apt-get install pgbouncer"


def program() -> str | None:
    """Return the path of PgBouncer; None if it is not installed."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def running(server_url: str) -> Iterator[str]:
    """Yield the URL of a PgBouncer in front of this PostgreSQL server, as long as the block runs.

    Raises:
        ServiceError: PgBouncer is not installed, or does not start.

    """
    command = program()
    if command is None:
        raise ServiceError(NOT_FOUND)
    server, port, user = parsed_url(server_url), ports.any_free(), postgres.unprivileged_user()
    with tempfile.TemporaryDirectory(prefix="throw-away-pgbouncer-") as name:
        folder, reaper = Path(name), Reaper()
        (folder / "users.txt").write_text(f'"{server.username}" "{server.password}"\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={server.host} port={server.port}\n"
            f"[pgbouncer]\nlisten_addr = {ports.LOOPBACK}\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = plain\nauth_file = {folder}/users.txt\n"
            f"pool_mode = transaction\ndefault_pool_size = {POOL_SIZE}\nmax_client_conn = 500\n"
        )
        if user:
            for path in (folder, folder / "users.txt", folder / "pgbouncer.ini"):
                shutil.chown(path, user)
        try:
            process = reaper.spawn([command, str(folder / "pgbouncer.ini")], folder / "log", user=user)
            pooled = server.set(port=port)
            address = pooled.set(drivername="postgresql").render_as_string(hide_password=False)
            deadline = time.monotonic() + START_SECONDS
            while not _responds(address):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise ServiceError(f"PgBouncer does not start:\n{processes.tail(folder / 'log')}")
                time.sleep(0.05)
            yield pooled.update_query_dict({PGBOUNCER: "true"}).render_as_string(hide_password=False)
            reaper.stop([process], grace=2.0)
        finally:
            reaper.close()


def _responds(address: str) -> bool:
    try:
        psycopg.connect(address, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
