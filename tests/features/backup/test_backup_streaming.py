"""The replication slot of `flask backup stream`; `dev.py chaos --only R15` streams and recovers a server."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from local_servers import POSTGRES, free_port
from sqlalchemy import Engine, create_engine, text

from app.features.backup.copies import streaming
from app.features.backup.copies.archive import BackupError
from app.features.backup.copies.wal import SLOT
from app.infra.database.engines import parsed_url

pytestmark = [
    pytest.mark.skipif(not POSTGRES, reason="SQLite has no replication slots"),
    pytest.mark.xdist_group("replication slot"),
]


@pytest.fixture
def server() -> Iterator[Engine]:
    """The server of the tests, without the slot, which all of its databases would share."""
    engine = create_engine(parsed_url(POSTGRES or ""), isolation_level="AUTOCOMMIT")
    yield engine
    with engine.connect() as connection:
        drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = :slot"
        connection.execute(text(drop), {"slot": streaming.SLOT})
    engine.dispose()


def test_a_new_slot_keeps_the_wal_before_anything_was_received(server: Engine) -> None:
    streaming.create_slot(server.url)
    streaming.create_slot(server.url)  # exists

    with server.connect() as connection:
        query = "SELECT restart_lsn IS NOT NULL, wal_status FROM pg_replication_slots WHERE slot_name = :slot"
        assert connection.execute(text(query), {"slot": SLOT}).one() == (True, "reserved")


def test_a_server_that_refuses_is_named(server: Engine) -> None:
    with psycopg.connect(
        server.url.set(drivername="postgresql").render_as_string(hide_password=False)
    ) as admin:
        admin.execute("CREATE ROLE plain LOGIN PASSWORD 'plain'")
        admin.commit()
        try:
            with pytest.raises(BackupError, match="slot cannot be created"):
                streaming.create_slot(server.url.set(username="plain", password="plain"))
        finally:
            admin.execute("DROP ROLE plain")


def test_a_slot_whose_wal_the_server_has_removed_ends_the_stream(server: Engine) -> None:
    streaming.create_slot(server.url)
    streaming.require_slot(server.url)
    with server.connect() as connection:
        connection.execute(text("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'"))
        connection.execute(text("SELECT pg_reload_conf()"))
        try:
            for _ in range(3):
                connection.execute(
                    text("SELECT pg_logical_emit_message(false, 'test', 'x'), pg_switch_wal()")
                )
            connection.execute(text("CHECKPOINT"))

            with pytest.raises(BackupError, match="pg_drop_replication_slot"):
                streaming.require_slot(server.url)
        finally:
            connection.execute(text("ALTER SYSTEM RESET max_slot_wal_keep_size"))
            connection.execute(text("SELECT pg_reload_conf()"))


def test_a_server_that_cannot_be_reached_is_not_one_that_has_lost_its_slot(server: Engine) -> None:
    streaming.require_slot(server.url.set(port=free_port()))
