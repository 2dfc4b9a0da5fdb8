"""Streams the write-ahead log of a PostgreSQL server into a directory until it is stopped."""

from __future__ import annotations

import math
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

import psycopg
from sqlalchemy import URL

from app.features.backup.copies import programs
from app.features.backup.copies.archive import BackupError
from app.features.backup.copies.wal import SLOT, WalDirectory
from app.infra import clock

CHECK_SECONDS = 1.0
SLOT_CHECK_SECONDS = 30.0
STOP_SECONDS = 5.0


def stream(
    url: URL, directory: WalDirectory, *, every: timedelta, keep: int, report: Callable[[str], None]
) -> None:
    """Receive WAL until SIGTERM or SIGINT, with a new base backup when the newest is older than `every`."""
    directory.prepare()
    programs.find("pg_receivewal")  # a slot without a receiver would fill the server's disk
    create_slot(url)
    slot_checked_at = -math.inf
    with _stopped_by_signals(), _receiving(url, directory) as process:
        report(f"Receiving WAL into {directory.wal}.")
        while process.poll() is None:
            if time.monotonic() - slot_checked_at >= SLOT_CHECK_SECONDS:
                require_slot(url)
                slot_checked_at = time.monotonic()
            newest = directory.newest_base_at()
            if newest is None or clock.now() - newest >= every:
                base = directory.create_base(url, clock.now())
                directory.prune(keep)
                report(f"Wrote the base backup {base}.")
            time.sleep(CHECK_SECONDS)


def create_slot(url: URL) -> None:
    """Create the replication slot, unless it exists: from now on the server keeps WAL that was not received.

    `pg_receivewal --create-slot` would not reserve WAL, and the checkpoint of the first base backup could
    remove the segment that it starts with.
    """
    try:
        with psycopg.connect(
            programs.address(url), password=url.password, replication="true", autocommit=True
        ) as connection:
            connection.execute(f"CREATE_REPLICATION_SLOT {SLOT} PHYSICAL RESERVE_WAL")
    except psycopg.errors.DuplicateObject:
        return
    except psycopg.Error as error:
        raise BackupError(f"The replication slot cannot be created: {str(error).strip()}") from None


def require_slot(url: URL) -> None:
    """Check that the server still has all WAL since the slot was created; an unreachable server passes.

    A server with `max_slot_wal_keep_size` removes it if the receiver was away for long, and `pg_receivewal`
    would request it again and again.
    """
    query = "SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s"
    try:
        with psycopg.connect(programs.address(url), password=url.password, autocommit=True) as connection:
            row = connection.execute(query, [SLOT]).fetchone()
    except psycopg.OperationalError:
        return
    if row == ("lost",):
        raise BackupError(
            "The server has removed WAL that was not received, so this directory cannot restore what was"
            f" written since. Run SELECT pg_drop_replication_slot('{SLOT}') in the database, stream into a"
            " new directory, and raise max_slot_wal_keep_size."
        )


@contextmanager
def _receiving(url: URL, directory: WalDirectory) -> Iterator[subprocess.Popen[bytes]]:
    """Run `pg_receivewal` as long as the block; it reconnects by itself."""
    command = [*_receiver(url), f"--directory={directory.wal}", "--synchronous", "--status-interval=1"]
    process = subprocess.Popen(command, env=programs.environment(url))  # noqa: S603 -- words from this package
    try:
        yield process
        raise BackupError("pg_receivewal ended; its last message says why.")
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _receiver(url: URL) -> list[str]:
    address = f"--dbname={programs.address(url)}"
    return [programs.find("pg_receivewal"), f"--slot={SLOT}", "--no-password", address]


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End the process with code 0 on SIGTERM, so that the program that it started is stopped too."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(0)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
