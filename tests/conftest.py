"""Fixtures for all tests: settings, an empty database, a Redis-protocol server, the app, a client."""

from __future__ import annotations

import dataclasses
import functools
import gc
import os
import shutil
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
import structlog
from apiflask import APIFlask
from argon2 import PasswordHasher
from flask.testing import FlaskClient
from local_servers import POSTGRES, empty_database, free_port, start_redis
from playwright.sync_api import Browser, Playwright, sync_playwright
from process_groups import ProcessGroupScheduling
from redis import BlockingConnectionPool
from sqlalchemy import create_engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from app.infra.database.session import Session

os.environ["SECRET_KEY"] = "test-secret-key-of-more-than-32-characters"
os.environ["SUPPRESSION_KEY"] = "test-suppression-key-of-more-than-32-chars"
os.environ.setdefault("DATABASE_URL", "sqlite://")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
os.environ["LOG_LEVEL"] = "warning"

from e2e_stack import Stack, running
from jobs_support import a_workspace
from page_browser_support import OPERATORS, launch
from page_support import Visitor, visitor
from polling import wait_until
from settings_support import change_settings
from users_support import SignedInUser, create_user

from app import settings as app_settings
from app.engine import tables
from app.infra.crypto import passwords
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import dialect_keys, engines
from app.infra.database.db import Base, Database
from app.infra.database.engines import parsed_url
from app.infra.telemetry import log
from app.settings import Settings
from app.web.services import AppServices
from cli.application import create_app

PRODUCTION_HASHER = passwords._hasher  # noqa: SLF001 - replaced below
PRODUCTION_SQLITE = engines._configure_sqlite  # noqa: SLF001 - likewise
PLAIN_LOG = [
    *structlog.get_config()["processors"][:-1],
    structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
]
"""structlog's defaults, but with Python's own tracebacks: rich takes seconds to render one."""


TESTS = Path(__file__).parent
END_TO_END, EXTENSION = "e2e", "extension"
OWN_SERVICE = TESTS / END_TO_END / "own_service"
"""Tests that start a service of their own, and kill or misconfigure it."""
USERS_OF_THE_DATABASE = {"audit", "sweeper"}
"""Names of the worker's threads that use the database."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests of the slow folders and those that use a database, and put the slowest files first.

    The markers are set before pytest selects by them. The order is changed after the tests were shuffled: the
    short tests at the end keep all processes of the run busy until it is over.
    """
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if item.path.is_relative_to(OWN_SERVICE):
            item.add_marker("release")
        if folder in {END_TO_END, EXTENSION} or item.get_closest_marker("release"):
            item.add_marker("slow")
        is_for_postgresql = hasattr(getattr(item, "module", None), "POSTGRES")
        if folder == END_TO_END or is_for_postgresql or "database_url" in getattr(item, "fixturenames", ()):
            item.add_marker("database")
    yield
    items.sort(key=_order)


def _order(item: pytest.Item) -> int:
    """Return 0 for end-to-end tests, whose files take longest, 1 for other slow tests, 2 for short ones."""
    if item.get_closest_marker("slow") is None:
        return 2
    return 0 if item.path.is_relative_to(TESTS / END_TO_END) else 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ProcessGroupScheduling | None:
    """Run the tests that share a service in one process, unless another way was chosen."""
    return ProcessGroupScheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt what is imported and collected from garbage collection, which would visit it many times."""
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return result


def _configure_volatile_sqlite(connection: Any, record: Any) -> None:
    """Configure the connection as in production, but do not wait for the disk."""
    PRODUCTION_SQLITE(connection, record)
    connection.execute("PRAGMA synchronous=OFF")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, once for all tests: it keeps a loop in their thread, so there cannot be two."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(autouse=True)
def _closed_redis_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the idle connections of all Redis clients that the test made.

    A connection that is left to the garbage collector causes a ResourceWarning, in whichever test runs then.
    """
    pools: list[BlockingConnectionPool] = []
    construct = BlockingConnectionPool.__init__

    def remember(pool: BlockingConnectionPool, *arguments: Any, **options: Any) -> None:
        construct(pool, *arguments, **options)
        pools.append(pool)

    monkeypatch.setattr(BlockingConnectionPool, "__init__", remember)
    yield
    for pool in pools:
        pool.disconnect(inuse_connections=False)


@pytest.fixture(scope="session", autouse=True)
def _cheap_settings() -> Iterator[None]:
    """Hash passwords at the lowest cost of Argon2, and write SQLite files without waiting for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        patch.setattr(engines, "_configure_sqlite", _configure_volatile_sqlite)
        yield


@pytest.fixture(scope="session", autouse=True)
def _shared_statements() -> Iterator[None]:
    """Compile each SQL statement once for all engines, as production does with its single engine.

    Every test has its own engine and therefore its own dialect, and SQLAlchemy's caches are keyed by dialect.
    """
    create = functools.partial(create_engine, execution_options={"compiled_cache": LRUCache(2000)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DefaultDialect, "__eq__", _is_alike)
        patch.setattr(DefaultDialect, "__hash__", lambda dialect: hash(type(dialect)))
        patch.setattr(engines, "create_engine", create)
        yield


def _is_alike(dialect: DefaultDialect, other: object) -> bool:
    """Return whether statements compiled for one dialect run with the other, which decrypts with its keys."""
    return type(dialect) is type(other) and dialect_keys.find_ring(dialect) == dialect_keys.find_ring(other)


@pytest.fixture(scope="session", autouse=True)
def _shared_url_builders() -> Iterator[None]:
    """Compile the functions that build URLs once for all applications, whose routes are equal."""
    compile_builder = Rule._compile_builder  # noqa: SLF001 - replaced below
    builders: dict[tuple[str, ...], Callable[..., tuple[str, str]]] = {}

    def compile_once(rule: Rule, *arguments: bool) -> Callable[..., tuple[str, str]]:
        key = tuple(map(repr, (rule.rule, rule.subdomain, rule.defaults, *arguments)))
        if key not in builders:
            builders[key] = compile_builder(rule, *arguments)
        return builders[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", compile_once)
        yield


@pytest.fixture
def production_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords and write SQLite files as the service does."""
    monkeypatch.setattr(passwords, "_hasher", PRODUCTION_HASHER)
    monkeypatch.setattr(engines, "_configure_sqlite", PRODUCTION_SQLITE)


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """Undo changes that a test's application made to the process's logging."""
    structlog.configure(processors=PLAIN_LOG)
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of this test process's own empty database with all tables."""
    with empty_database(tmp_path_factory.mktemp("template"), f"test_{worker_id}") as url:
        tables.register()
        database = Database(url)
        Base.metadata.create_all(database.engine)
        database.close()
        yield url


@pytest.fixture
def database_url(_template: str, tmp_path: Path) -> str:
    if POSTGRES:
        return _template
    template = _template.removeprefix("sqlite:///")
    for suffix in ("", "-wal"):
        if Path(template + suffix).exists():
            shutil.copy(template + suffix, tmp_path / f"test.sqlite3{suffix}")
    return f"sqlite:///{tmp_path}/test.sqlite3"


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    spool = str(tmp_path / "spool")
    return dataclasses.replace(app_settings.load(), database_url=database_url, spool_folder=spool)


@pytest.fixture(scope="session")
def _empty(_template: str) -> Iterator[Callable[[], object]]:
    """Empty this test process's database on PostgreSQL, by a connection that knows the tables from before."""
    deletes = "; ".join(str(table.delete()) for table in Base.metadata.sorted_tables)
    engine = create_engine(parsed_url(_template), isolation_level="AUTOCOMMIT", poolclass=StaticPool)

    def empty() -> None:
        with engine.connect() as connection:  # in one round trip, without triggers; TRUNCATE takes far longer
            connection.exec_driver_sql(
                f"BEGIN; SET LOCAL session_replication_role = replica; {deletes}; COMMIT"
            )

    yield empty if POSTGRES else lambda: None
    engine.dispose()


@pytest.fixture
def database(settings: Settings, _empty: Callable[[], object]) -> Iterator[Database]:
    """An empty database with all tables; on PostgreSQL it is emptied after the test."""
    database = Database(settings.database_url, keys=DigestKeys.from_settings(settings))
    yield database
    database.close()
    _empty()
    # A thread that is left would open connections that nobody closes, and fail whichever test runs then.
    assert not [thread for thread in threading.enumerate() if thread.name in USERS_OF_THE_DATABASE]


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A session that is rolled back after the test."""
    with Session(database.engine, keys=database.keys, settings=database.settings) as session:
        yield session
        session.rollback()


@pytest.fixture(scope="session", autouse=True)
def _no_listener_is_left() -> Iterator[None]:
    """Check at the end that no test left a job listener running: it would fail in a test that patches it."""
    yield
    wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "job-listener"])


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis-protocol server that this test process started."""
    port = free_port()
    server = start_redis(port, tmp_path_factory.mktemp("redis"))
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait()


@pytest.fixture(scope="session")
def _applications() -> dict[Settings, APIFlask]:
    """The applications of this test process by their settings, without those of one test."""
    return {}


@pytest.fixture
def app(
    settings: Settings, database: Database, redis_url: str, _applications: dict[Settings, APIFlask]
) -> Iterator[APIFlask]:
    """The application on the test's database and the test run's Redis.

    Tests with equal settings share its routes, which take longer to register than most tests, but not its
    services. A test that registers more functions uses `own_app`.
    """
    settings = dataclasses.replace(settings, redis_url=redis_url)
    shared = dataclasses.replace(settings, database_url="", spool_folder="")
    if shared not in _applications:
        _applications[shared] = create_app(settings)
    app = _applications[shared]
    app.extensions["services"] = AppServices.build(settings)
    log.configure(level=settings.log_level, style=settings.log_format)
    with _closing_services(app):
        yield app


@pytest.fixture
def own_app(settings: Settings, database: Database, redis_url: str) -> Iterator[APIFlask]:
    """The same application, but used by one test only."""
    app = create_app(dataclasses.replace(settings, redis_url=redis_url))
    with _closing_services(app):
        yield app


@contextmanager
def _closing_services(app: APIFlask) -> Iterator[None]:
    """Close the application's services after the block, and empty its Redis."""
    redis_url = app.extensions["services"].settings.redis_url
    yield
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()


@pytest.fixture
def client(app: APIFlask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


@pytest.fixture
def operator(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser of an operator, who is not an admin."""
    change_settings(app, operators=(user.email,))
    return visitor(app, user)


@pytest.fixture
def browser(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser that is signed in as the user."""
    return visitor(app, user)


@pytest.fixture
def workspace_id(session: Session) -> str:
    """The id of a workspace with ten credits."""
    return a_workspace(session)


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """A real Chromium; every visit has a context of its own."""
    chromium = launch(playwright)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def service(chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """A running service that may call loopback, for tests that create an operator of their own."""
    folder = tmp_path_factory.mktemp("pages")
    settings = {"OPERATORS": ",".join(OPERATORS.values()), "WEBHOOK_NETWORKS": "127.0.0.1/32"}
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"pages_{worker_id}"))
        yield stop.enter_context(running(folder, url, WEB_CONCURRENCY="1", **settings))
