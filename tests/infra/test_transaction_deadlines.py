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
from app.infra.db import Database

pytestmark = pytest.mark.skipif(
    not POSTGRES, reason="SQLite has no network in between; see TEST_DATABASE_URL"
)


class Network:
    """A TCP proxy between the service and a server; while `passes` is not set it drops all data."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.passes = threading.Event()
        self.passes.set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        while True:
            try:
                inside, _ = self._door.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(inside,), daemon=True).start()

    def _carry(self, inside: socket.socket) -> None:
        with inside, socket.create_connection(self._target) as outside:
            other = {inside: outside, outside: inside}
            while True:
                for ready in select.select(list(other), [], [])[0]:
                    piece = ready.recv(65536)
                    if not piece:
                        return
                    if self.passes.is_set():
                        other[ready].sendall(piece)


@pytest.fixture
def network(database_url: str) -> Iterator[Network]:
    url = make_url(database_url)
    network = Network(url.host or "", url.port or 5432)
    yield network
    network.close()


@pytest.fixture
def behind(database_url: str, network: Network) -> Iterator[Database]:
    """The test's database behind the proxy, with a short transaction deadline."""
    url = make_url(database_url).set(host="127.0.0.1", port=network.port, query={"connect_timeout": "2"})
    database = Database(url.render_as_string(hide_password=False), seconds=0.6)
    yield database
    database.engine.dispose()


def ask(database: Database, what: str = "SELECT 1", *, no_deadline: bool = False) -> object:
    with database.reading(no_deadline=no_deadline) as session:
        return session.scalar(text(what))


def ask_while_it_turns_black(database: Database, network: Network) -> None:
    with database.transaction() as session:
        session.execute(text("SELECT 1"))
        network.passes.clear()
        session.execute(text("SELECT 1"))


def test_a_reply_that_never_arrives_is_not_waited_for(behind: Database, network: Network) -> None:
    with pytest.raises(Unavailable):
        ask_while_it_turns_black(behind, network)


def test_a_reply_on_a_pooled_connection_is_not_waited_for_either(behind: Database, network: Network) -> None:
    ask(behind)
    network.passes.clear()

    with pytest.raises(Unavailable):
        ask(behind)


def test_the_database_is_used_again_after_a_cut_connection(behind: Database, network: Network) -> None:
    ask(behind)
    network.passes.clear()
    with pytest.raises(Unavailable):
        ask(behind)

    network.passes.set()

    assert ask(behind) == 1


def test_a_slow_statement_is_cut_off(behind: Database) -> None:
    with pytest.raises(Unavailable):
        ask(behind, "SELECT pg_sleep(5)")


def test_a_statement_without_a_deadline_is_not_cut_off(behind: Database) -> None:
    assert ask(behind, "SELECT 1 FROM pg_sleep(1.5)", no_deadline=True) == 1


def test_a_finished_transaction_is_not_cut_off_later(behind: Database) -> None:
    ask(behind)

    assert ask(behind, "SELECT 1 FROM pg_sleep(1.5)", no_deadline=True) == 1


def test_a_pooled_connection_that_was_cut_is_replaced(behind: Database) -> None:
    own = ask(behind, "SELECT pg_backend_pid()")
    killer = Database(behind.engine.url.render_as_string(hide_password=False))
    ask(killer, f"SELECT pg_terminate_backend({own}, 5000)")  # returns once the backend has ended
    killer.engine.dispose()
    time.sleep(0.2)  # until the proxy has passed the end on

    assert ask(behind, "SELECT pg_backend_pid()") != own


def test_the_server_ends_the_transaction_of_a_frozen_client(behind: Database) -> None:
    assert ask(behind, "SHOW idle_in_transaction_session_timeout") == "1min"


def test_conditional_updates_see_committed_changes(behind: Database) -> None:
    assert ask(behind, "SHOW transaction_isolation") == "read committed"
