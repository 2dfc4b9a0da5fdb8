"""Start the servers of the service under test, with proxies in front of them."""

from __future__ import annotations

import shlex
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from chaos.system.process_manager import ProcessManager
from chaos.system.proxy import Proxy
from chaos.system.redis_server import RedisServer
from chaos.system.service import FLASK, MAX_OUTPUT, ServiceUnderTest
from chaos.system.service_env import service_env
from tools.services import ports, postgres
from tools.services.processes import Reaper, ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def running(folder: Path, *, sqlite: bool) -> Iterator[ServiceUnderTest]:
    """Start the servers and migrate the database; stop everything at the end of the block.

    The processes are started by `up`.
    """
    with ExitStack() as stop:
        reaper = Reaper()
        stop.callback(reaper.close)
        redis = RedisServer(folder, reaper)
        redis.start()
        stop.callback(redis.kill)
        redis_proxy = Proxy(redis.port)
        redis_port = redis_proxy.start()
        stop.callback(redis_proxy.stop)
        database = None if sqlite else stop.enter_context(postgres.server(postgres.DURABLE_SETTINGS))
        database_proxy, url, proxied_url = None, f"sqlite:///{folder}/chaos.sqlite3", ""
        if database is not None:
            url = database.url
            database_proxy = Proxy(int(make_url(url).port or 0))
            proxied_url = make_url(url).set(port=database_proxy.start()).render_as_string(hide_password=False)
            stop.callback(database_proxy.stop)
        port = ports.any_free()
        manager = ProcessManager(folder, reaper)
        engine = create_engine(url, pool_pre_ping=True)
        stop.callback(engine.dispose)
        env = service_env(folder, proxied_url or url, f"redis://{ports.LOOPBACK}:{redis_port}/0", port)
        base_url = f"http://{ports.LOOPBACK}:{port}"
        service = ServiceUnderTest(
            folder, manager, redis, redis_proxy, engine, env, base_url, database, database_proxy
        )
        stop.callback(manager.close)
        _migrate(service)
        yield service


def _migrate(service: ServiceUnderTest) -> None:
    completed = service.run([*FLASK, "database", "upgrade"])
    if completed.returncode:
        error = completed.stderr[-MAX_OUTPUT:]
        raise ServiceError(f"{shlex.join(FLASK)} database upgrade failed:\n{error}")
