"""Connections to PostgreSQL in a process that gevent has patched, as the API is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from local_servers import POSTGRES

ROOT = Path(__file__).parents[3]
PREAMBLE = """
from gevent import monkey; monkey.patch_all()
import sys, time
import gevent
from sqlalchemy import text
from app.domain.errors import Unavailable
from app.infra.database.db import Database
from app.infra.database.gevent_connection import GeventConnection

database = Database(sys.argv[1])
with database.reading() as session:
    assert isinstance(session.connection().connection.driver_connection, GeventConnection)

def run(statement, **parameters):
    with database.reading() as session:
        return session.execute(text(statement), parameters).all()
"""
CONCURRENT = """
order = []
def sleep(seconds):
    run("SELECT pg_sleep(:seconds)", seconds=seconds)
    order.append(seconds)
gevent.joinall([gevent.spawn(sleep, seconds) for seconds in (0.6, 0.1)], raise_error=True)
print(order)
"""
LARGE = """
size = 8_000_000
print(run("SELECT length(:sent), repeat('x', :size) = :sent", sent="x" * size, size=size))
"""
MANY_CLIENTS = """
import os, resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
database.close()
sockets = [os.dup(0) for _ in range(1100)]
"""
INTERRUPTED = """
with gevent.Timeout(0.2, False):
    run("SELECT pg_sleep(30)")
print(run("SELECT 1"))
"""
OVERDUE = """
database.seconds = 0.2
try:
    run("SELECT pg_sleep(30)")
except Unavailable:
    print("unavailable")
print(run("SELECT 1"))
"""

pytestmark = pytest.mark.skipif(not POSTGRES, reason="SQLite has no network in between")


def printed(script: str, url: str) -> str:
    """Run the script in a process that gevent has patched; return what it printed."""
    completed = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script, url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()


def test_a_waiting_query_lets_those_of_other_greenlets_run(database_url: str) -> None:
    assert printed(CONCURRENT, database_url) == "[0.1, 0.6]"


def test_a_query_and_a_result_larger_than_the_buffers_of_the_socket_are_transferred(
    database_url: str,
) -> None:
    assert printed(LARGE, database_url) == "[(8000000, True)]"


def test_a_large_query_is_sent_while_more_than_a_thousand_clients_are_connected(database_url: str) -> None:
    assert printed(MANY_CLIENTS + LARGE, database_url) == "[(8000000, True)]"


def test_the_reply_of_an_interrupted_query_is_not_read_as_that_of_the_next_one(database_url: str) -> None:
    assert printed(INTERRUPTED, database_url) == "[(1,)]"


def test_an_overdue_query_ends_and_the_next_one_gets_another_connection(database_url: str) -> None:
    lines = printed(OVERDUE, database_url).splitlines()

    assert lines[-2:] == ["unavailable", "[(1,)]"]  # after a line of the log
