from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from local_servers import POSTGRES
from sqlalchemy import text
from sqlalchemy.engine import make_url

from app.domain.errors import Unavailable
from app.infra.database.db import Database

pytestmark = pytest.mark.skipif(
    not POSTGRES, reason="SQLite has no network in between; see TEST_DATABASE_URL"
)


class LossyProxy:
    """A TCP proxy between the service and a server; while `passes` is not set it drops all data."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.passes = threading.Event()
        self.passes.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server:
            other = {client: server, server: client}
            while True:
                for ready in select.select(list(other), [], [])[0]:
                    chunk = ready.recv(65536)
                    if not chunk:
                        return
                    if self.passes.is_set():
                        other[ready].sendall(chunk)


@pytest.fixture
def proxy(database_url: str) -> Iterator[LossyProxy]:
    url = make_url(database_url)
    proxy = LossyProxy(url.host or "", url.port or 5432)
    yield proxy
    proxy.close()


@pytest.fixture
def proxied_database(database_url: str, proxy: LossyProxy) -> Iterator[Database]:
    """The test's database behind the proxy, with a short transaction deadline."""
    url = make_url(database_url).set(host="127.0.0.1", port=proxy.port, query={"connect_timeout": "2"})
    database = Database(url.render_as_string(hide_password=False), seconds=0.6)
    yield database
    database.close()


def query(database: Database, statement: str = "SELECT 1", *, no_deadline: bool = False) -> object:
    with database.reading(no_deadline=no_deadline) as session:
        return session.scalar(text(statement))


def query_while_packets_are_lost(database: Database, proxy: LossyProxy) -> None:
    with database.transaction() as session:
        session.execute(text("SELECT 1"))
        proxy.passes.clear()
        session.execute(text("SELECT 1"))


def test_a_reply_that_never_arrives_is_not_waited_for(proxied_database: Database, proxy: LossyProxy) -> None:
    with pytest.raises(Unavailable):
        query_while_packets_are_lost(proxied_database, proxy)


def test_a_reply_on_a_pooled_connection_is_not_waited_for_either(
    proxied_database: Database, proxy: LossyProxy
) -> None:
    query(proxied_database)
    proxy.passes.clear()

    with pytest.raises(Unavailable):
        query(proxied_database)


def test_the_database_is_used_again_after_a_cut_connection(
    proxied_database: Database, proxy: LossyProxy
) -> None:
    query(proxied_database)
    proxy.passes.clear()
    with pytest.raises(Unavailable):
        query(proxied_database)

    proxy.passes.set()

    assert query(proxied_database) == 1


def test_a_slow_statement_is_cut_off(proxied_database: Database) -> None:
    with pytest.raises(Unavailable):
        query(proxied_database, "SELECT pg_sleep(5)")


def test_a_statement_without_a_deadline_is_not_cut_off(proxied_database: Database) -> None:
    assert query(proxied_database, "SELECT 1 FROM pg_sleep(1.5)", no_deadline=True) == 1


def test_a_finished_transaction_is_not_cut_off_later(proxied_database: Database) -> None:
    query(proxied_database)

    assert query(proxied_database, "SELECT 1 FROM pg_sleep(1.5)", no_deadline=True) == 1


def test_a_pooled_connection_that_was_cut_is_replaced(proxied_database: Database) -> None:
    own = query(proxied_database, "SELECT pg_backend_pid()")
    killer = Database(proxied_database.engine.url.render_as_string(hide_password=False))
    query(killer, f"SELECT pg_terminate_backend({own}, 5000)")  # returns once the backend has ended
    killer.close()
    time.sleep(0.2)  # until the proxy has passed the end on

    assert query(proxied_database, "SELECT pg_backend_pid()") != own


def test_the_server_ends_the_transaction_of_a_frozen_client(proxied_database: Database) -> None:
    assert query(proxied_database, "SHOW idle_in_transaction_session_timeout") == "1min"


def test_conditional_updates_see_committed_changes(proxied_database: Database) -> None:
    assert query(proxied_database, "SHOW transaction_isolation") == "read committed"


def test_a_process_checks_all_of_its_databases_with_one_thread(database_url: str) -> None:
    databases = [Database(database_url, seconds=0.2) for _ in range(3)]
    try:
        for database in databases:
            with database.reading() as session:
                session.execute(text("SELECT 1"))

        names = [thread.name for thread in threading.enumerate()]
        with pytest.raises(Unavailable), databases[-1].reading() as session:
            session.execute(text("SELECT pg_sleep(30)"))
    finally:
        for database in databases:
            database.close()

    assert names.count("transaction-reaper") == 1
