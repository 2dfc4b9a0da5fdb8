"""The service with everything real, its servers behind proxies, and every part of it within reach."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine
from sqlalchemy.engine import Engine, make_url

from chaos.process_manager import ProcessManager
from chaos.proxy import Mode, Proxy
from chaos.redis_server import RedisServer
from chaos.service_env import service_env
from tools import http_client
from tools.services import ports, postgres, processes, procfile
from tools.services.processes import ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READY_SECONDS = 90.0
REFERENCE_BOOT_SECONDS = 7.0
MAX_SLOWNESS = 3.0
THREAD_WORKERS = ("interactive1", "interactive2")
PREFORK_WORKER = "interactive3"
INTERACTIVE = (*THREAD_WORKERS, PREFORK_WORKER)
UPKEEP = "upkeep"
BEAT = "beat"
WEB = "web"
OK = 200
READY = "ready"


@dataclass(frozen=True, slots=True)
class Tenant:
    """Somebody who asks: the workspace and a session token."""

    workspace: str
    token: str


@dataclass(frozen=True, slots=True)
class SeedData:
    """Who asks in a scenario, and the ids of the stored contacts that they ask about."""

    tenants: tuple[Tenant, ...]
    contacts: tuple[str, ...]


@dataclass(slots=True)
class ServiceUnderTest:
    """A running service. `engine` goes to the database past every proxy: it is for what the run verifies."""

    folder: Path
    processes: ProcessManager
    redis: RedisServer
    redis_proxy: Proxy
    engine: Engine
    env: dict[str, str]
    base_url: str
    database: postgres.PostgresServer | None = None
    database_proxy: Proxy | None = None
    settings: dict[str, str] = field(default_factory=dict)
    boot_seconds: float = 0.0

    @property
    def slowness(self) -> float:
        """Tell how much slower this machine is now than one with two cores of its own: 1 to 3."""
        return min(max(1.0, self.boot_seconds / REFERENCE_BOOT_SECONDS), MAX_SLOWNESS)

    @property
    def proxies(self) -> list[Proxy]:
        """Give the proxies there are: SQLite is reached through none."""
        return [self.redis_proxy, *([self.database_proxy] if self.database_proxy else [])]

    def up(self, **settings: str) -> None:
        """Run all processes with these settings beside the usual ones; those that run so already stay.

        Raises:
            ServiceError: the service does not become ready.

        """
        self.restore_network()
        if settings != self.settings or not self.processes.names:
            self.processes.stop_processes(self.processes.names)
            self.settings = dict(settings)
            started = time.monotonic()
            self.start(*self.commands())
            self.wait_until_ready()
            self.boot_seconds = time.monotonic() - started
        elif missing := [name for name in self.commands() if name not in self.processes.names]:
            self.start(*missing)
        self.wait_until_ready()

    def commands(self) -> dict[str, str]:
        """Give the shell command of each process: the Procfile's, with three workers for clicks."""
        lines = procfile.read(ROOT / "Procfile")
        worker = lines["worker_interactive"].replace("-Q interactive", "-Q interactive,providers")
        found = {WEB: lines["web"], UPKEEP: lines["worker_upkeep"], BEAT: lines["beat"]}
        for name in THREAD_WORKERS:
            found[name] = re.sub(r"-n \S+", f"-n {name}@%h", worker)
        found[PREFORK_WORKER] = re.sub(r"-n \S+", f"-n {PREFORK_WORKER}@%h", worker)
        found[PREFORK_WORKER] = re.sub(r"-P threads -c \S+", "-P prefork -c 2", found[PREFORK_WORKER])
        return found

    def start(self, *names: str) -> None:
        """Start processes by name."""
        commands = self.commands()
        for name in names:
            self.processes.start(name, commands[name], self.env | self.settings)

    def restore_network(self) -> None:
        """Let the network pass everything."""
        for proxy in self.proxies:
            proxy.set(Mode.PASS)

    def wait_until_ready(self) -> None:
        """Return once `/readyz` answers 200.

        Raises:
            ServiceError: it does not within a minute and a half.

        """
        deadline = time.monotonic() + READY_SECONDS
        while (said := self._readiness()) != READY:
            if time.monotonic() > deadline:
                end = processes.tail(self.folder / f"{WEB}.log")
                raise ServiceError(f"The service is not ready after {READY_SECONDS:.0f} s: {said}\n{end}")
            time.sleep(0.2)

    def seed(self, *, workspaces: int, contacts: int) -> SeedData:
        """Make workspaces with credits and an account, and contacts with a valid address; sign in."""
        command = [sys.executable, "-m", "chaos.seed", str(self.folder), str(workspaces), str(contacts)]
        done = self.run(command)
        if done.returncode:
            raise ServiceError(f"The scenario could not be set up:\n{done.stderr[-2000:]}")
        made: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        members = [
            Tenant(one["workspace"], self._sign_in(one["email"], made["password"])) for one in made["members"]
        ]
        return SeedData(tuple(members), tuple(made["contacts"]))

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command beside the service, with its settings, past the proxies, and wait for it."""
        env = self.env | self.settings | {"DATABASE_URL": self._direct_database_url, "LOG_LEVEL": "warning"}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - words from this package

    @property
    def _direct_database_url(self) -> str:
        return self.engine.url.render_as_string(hide_password=False)

    def _sign_in(self, email: str, password: str) -> str:
        answer = http_client.send(
            "POST",
            f"{self.base_url}/api/ext/login",
            {"email": email, "password": password},
            {"Content-Type": "application/json"},
        )
        if answer.status != OK:
            raise ServiceError(f"Signing in was answered with {answer.status}: {answer.body}")
        return str(answer.body["access_token"])

    def _readiness(self) -> str:
        """Give what `/readyz` says."""
        try:
            answer = http_client.send("GET", f"{self.base_url}/readyz")
        except OSError as error:
            return type(error).__name__
        return READY if answer.status == OK else str(answer.body)


@contextmanager
def running(folder: Path, *, sqlite: bool) -> Iterator[ServiceUnderTest]:
    """Start the servers and migrate the database; the processes start with `up`. All ends with the block."""
    with ExitStack() as stop:
        reaper = processes.Reaper()
        stop.callback(reaper.close)
        redis = RedisServer(folder, reaper)
        redis.start()
        stop.callback(redis.kill)
        redis_proxy = Proxy(redis.port)
        redis_port = redis_proxy.start()
        stop.callback(redis_proxy.stop)
        database = None if sqlite else stop.enter_context(postgres.server(postgres.DURABLE_SETTINGS))
        database_proxy, url, through = None, f"sqlite:///{folder}/chaos.sqlite3", ""
        if database is not None:
            url = database.url
            database_proxy = Proxy(int(make_url(url).port or 0))
            through = make_url(url).set(port=database_proxy.start()).render_as_string(hide_password=False)
            stop.callback(database_proxy.stop)
        port = ports.any_free()
        crew = ProcessManager(folder, reaper)
        engine = create_engine(url, pool_pre_ping=True)
        stop.callback(engine.dispose)
        env = service_env(folder, through or url, f"redis://{ports.LOOPBACK}:{redis_port}/0", port)
        base_url = f"http://{ports.LOOPBACK}:{port}"
        stack = ServiceUnderTest(
            folder, crew, redis, redis_proxy, engine, env, base_url, database, database_proxy
        )
        stop.callback(crew.stop)
        _migrate(stack)
        yield stack


def _migrate(stack: ServiceUnderTest) -> None:
    flask = [sys.executable, "-m", "flask", "--app", "app.factory:create_app"]
    done = stack.run([*flask, "database", "upgrade"])
    if done.returncode:
        raise ServiceError(f"{shlex.join(flask)} database upgrade failed:\n{done.stderr[-2000:]}")
