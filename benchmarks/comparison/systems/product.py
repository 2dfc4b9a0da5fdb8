"""The product: every process of the Procfile, as `dev.py up` starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import LOAD, Duty, Part, Role, Running, Scale, wait_until
from tools import http_client
from tools.services import environment, ports, processes
from tools.services.processes import ServiceError
from tools.services.supervisor import RELEASE, Supervisor, procfile_commands, run_to_completion
from tools.state import ROOT, State

UNLIMITED = "100000000/minute"
LIMITS = ("LOOKUP", "SPEND", "WRITE", "READ", "LOGIN_ADDRESS", "LOGIN_ACCOUNT")
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
MAX_OUTPUT = 2000  # characters of a failed command's output
OK = 200


@dataclass(slots=True)
class Product:
    """The service with its default settings, apart from rate limits that are never reached."""

    name: str = "product"
    title: str = "this product"
    role: Role = Role.PRODUCT
    duties: tuple[Duty, ...] = (Duty.REVEAL, Duty.LOOKUP)
    max_callers: int = 1_000_000
    driver: str = LOAD
    env: dict[str, str] = field(default_factory=dict)

    def prepare(self, servers: Servers, scale: Scale) -> list[str]:
        """Migrate the database, import the people, and sign in for each workspace."""
        state = self._state(servers)
        url = servers.create_database(self.name).replace("postgresql://", "postgresql+psycopg://")
        base = {name: os.environ[name] for name in INHERITED if name in os.environ}
        base |= {"DATABASE_URL": url} | {f"LIMIT_{name}": UNLIMITED for name in LIMITS}
        base["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), base.get("PATH", os.defpath)])  # noqa: PTH120 - resolving the link would leave the environment
        self.env = environment.for_children(state, base, redis_url=servers.redis_database(0))
        run_to_completion(procfile_commands()[RELEASE], state, self.env, RELEASE)
        return self._seed(servers, scale)

    def start(self, servers: Servers) -> Iterator[Running]:
        """Start every process, and yield once `/readyz` answers 200."""
        state, port = self._state(servers), ports.any_free()
        env = self.env | {
            "WEB_BIND": f"{ports.LOOPBACK}:{port}",
            "FLOWER_PORT": str(ports.any_free()),
            "FLOWER_ADDRESS": ports.LOOPBACK,
        }
        commands = {name: command for name, command in procfile_commands().items() if name != RELEASE}
        supervisor = Supervisor(commands, env, state.logs, servers.reaper)
        supervisor.start()
        try:
            wait_until(lambda: _is_ready(port), "The product", lambda: processes.tail(state.logs / "web.log"))
            yield Running(port, _pids(supervisor), env)
            exited = [
                one.name for one in supervisor.children if one.process and one.process.poll() is not None
            ]
            if exited:
                raise ServiceError(f"These processes of the product have exited: {', '.join(exited)}.")
        finally:
            supervisor.stop()

    def _state(self, servers: Servers) -> State:
        return State.open(servers.folder / self.name)

    def _seed(self, servers: Servers, scale: Scale) -> list[str]:
        module = "benchmarks.comparison.systems.product_seed"
        command = [
            sys.executable,
            "-m",
            module,
            str(servers.folder),
            str(scale.workspaces),
            str(scale.people),
        ]
        completed = subprocess.run(  # noqa: S603 - arguments from this file
            command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=False
        )
        if completed.returncode:
            raise ServiceError(f"The product's data could not be created:\n{completed.stderr[-MAX_OUTPUT:]}")
        tokens: list[str] = json.loads(completed.stdout.splitlines()[-1])
        return tokens


def _is_ready(port: int) -> bool:
    try:
        return http_client.send("GET", f"http://{ports.LOOPBACK}:{port}/readyz").status == OK
    except OSError:
        return False


def _pids(supervisor: Supervisor) -> dict[Part, list[int]]:
    """Return the processes by part: beat and Flower are `OTHER`, every worker is `WORKER`."""
    pids: dict[Part, list[int]] = {Part.WEB: [], Part.WORKER: [], Part.OTHER: []}
    for child in supervisor.children:
        part = Part.WEB if child.name == "web" else Part.OTHER
        part = Part.WORKER if child.name.startswith("worker") else part
        pids[part] += [child.process.pid] if child.process else []
    return pids
