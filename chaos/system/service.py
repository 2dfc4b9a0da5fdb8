"""The service under test: every process and server, behind proxies, each of which can be made to fail."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Engine

from chaos.system.process_manager import ProcessManager
from chaos.system.proxy import Mode, Proxy
from chaos.system.redis_server import RedisServer
from tools import http_client
from tools.services import postgres, processes
from tools.services.processes import ServiceError
from tools.services.supervisor import procfile_commands
from tools.state import ROOT

if TYPE_CHECKING:
    from pathlib import Path

READY_SECONDS = 90.0
REFERENCE_BOOT_SECONDS = 7.0  # on an idle machine with two cores
MAX_SLOWNESS = 3.0
MAX_OUTPUT = 2000  # characters of a failed command's output
THREAD_WORKERS = ("interactive1", "interactive2")
PREFORK_WORKER = "interactive3"
INTERACTIVE = (*THREAD_WORKERS, PREFORK_WORKER)
UPKEEP, BEAT, WEB = "upkeep", "beat", "web"
OK = 200
READY = "ready"
FLASK = [sys.executable, "-m", "flask", "--app", "cli.application:create_app"]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workspace, and a session token of its account."""

    workspace: str
    token: str


@dataclass(frozen=True, slots=True)
class SeedData:
    """The tenants of a scenario, and the ids of the stored contacts that they reveal."""

    tenants: tuple[Tenant, ...]
    contacts: tuple[str, ...]


@dataclass(slots=True)
class ServiceUnderTest:
    """A running service. `engine` connects to the database without the proxy, for the checks."""

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
        """How much longer the service took to start than on an idle machine with two cores: 1 to 3 times."""
        return min(max(1.0, self.boot_seconds / REFERENCE_BOOT_SECONDS), MAX_SLOWNESS)

    @property
    def proxies(self) -> list[Proxy]:
        """The proxies of Redis and PostgreSQL; there is none for SQLite."""
        return [self.redis_proxy, *([self.database_proxy] if self.database_proxy else [])]

    def up(self, **settings: str) -> None:
        """Run all processes with these additional settings; restart those that run with other settings.

        Raises:
            ServiceError: the service does not become ready.

        """
        self.restore_network()
        if settings != self.settings or not self.processes.names:
            self.processes.stop(self.processes.names)
            self.settings = dict(settings)
            started = time.monotonic()
            self.start(*self.commands())
            self.wait_until_ready()
            self.boot_seconds = time.monotonic() - started
        elif missing := [name for name in self.commands() if name not in self.processes.names]:
            self.start(*missing)
        self.wait_until_ready()

    def commands(self) -> dict[str, str]:
        """Return the shell command of each process: those of the Procfile, with three interactive workers."""
        procfile = procfile_commands()
        worker = procfile["worker_interactive"].replace("-Q interactive", "-Q interactive,providers")
        commands = {WEB: procfile["web"], UPKEEP: procfile["worker_upkeep"], BEAT: procfile["beat"]}
        for name in INTERACTIVE:
            commands[name] = re.sub(r"-n \S+", f"-n {name}@%h", worker)
        commands[PREFORK_WORKER] = re.sub(r"-P threads -c \S+", "-P prefork -c 2", commands[PREFORK_WORKER])
        return commands

    def start(self, *names: str) -> None:
        """Start processes by name."""
        commands = self.commands()
        for name in names:
            self.processes.start(name, commands[name], self.env | self.settings)

    def restore_network(self) -> None:
        """Make all proxies forward without disturbance."""
        for proxy in self.proxies:
            proxy.set(Mode.PASS)

    def wait_until_ready(self) -> None:
        """Return once `/readyz` answers 200.

        Raises:
            ServiceError: it does not within a minute and a half.

        """
        deadline = time.monotonic() + READY_SECONDS
        while (readiness := self._readiness()) != READY:
            if time.monotonic() > deadline:
                end = processes.tail(self.folder / f"{WEB}.log")
                message = f"The service is not ready after {READY_SECONDS:.0f} s: {readiness}\n{end}"
                raise ServiceError(message)
            time.sleep(0.2)

    def seed(self, *, workspaces: int, contacts: int) -> SeedData:
        """Create workspaces with credits and an account, and contacts with a valid address; sign in."""
        arguments = [str(self.folder), str(workspaces), str(contacts)]
        command = [sys.executable, "-m", "chaos.system.seed", *arguments]
        completed = self.run(command)
        if completed.returncode:
            raise ServiceError(f"The scenario's data could not be created:\n{completed.stderr[-MAX_OUTPUT:]}")
        created: dict[str, Any] = json.loads(completed.stdout.splitlines()[-1])
        tenants = [
            Tenant(tenant["workspace"], self._sign_in(tenant["email"], created["password"]))
            for tenant in created["tenants"]
        ]
        return SeedData(tuple(tenants), tuple(created["contacts"]))

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command with the service's settings, but a direct connection to the database, to its end."""
        url = self.engine.url.render_as_string(hide_password=False)
        env = self.env | self.settings | {"DATABASE_URL": url, "LOG_LEVEL": "warning"}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - arguments from this package

    def _sign_in(self, email: str, password: str) -> str:
        response = http_client.send(
            "POST",
            f"{self.base_url}/api/ext/login",
            {"email": email, "password": password},
            {"Content-Type": "application/json"},
        )
        if response.status != OK:
            raise ServiceError(f"Signing in failed with status {response.status}: {response.body}")
        return str(response.body["access_token"])

    def _readiness(self) -> str:
        """Return READY, or why `/readyz` does not answer 200."""
        try:
            response = http_client.send("GET", f"{self.base_url}/readyz")
        except OSError as error:
            return type(error).__name__
        return READY if response.status == OK else str(response.body)
