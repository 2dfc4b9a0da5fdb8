"""The product, as `dev.py up` runs it: every process of Procfile.small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.system import LOAD, Part, Role, Running, Scale, Workload, wait_until
from tools.services import environment, ports
from tools.services.processes import ServiceError, tail
from tools.services.supervisor import RELEASE, procfile_commands, run_to_completion
from tools.state import ROOT, State

UNLIMITED = "100000000/minute"
LIMITS = ("LOOKUP", "SPEND", "WRITE", "READ", "LOGIN_ADDRESS", "LOGIN_ACCOUNT")
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
MAX_OUTPUT = 2000  # characters of a failed command's output
STOP_SECONDS = 30.0


@dataclass(slots=True)
class Product:
    """The service with its default settings, apart from rate limits that are never reached.

    It uses PostgreSQL, or with `embedded` the SQLite database of `dev.py up`. Two products at the same time
    need different names and numbers of the Redis database.
    """

    name: str = "product"
    title: str = "this product"
    role: Role = Role.PRODUCT
    workloads: tuple[Workload, ...] = (Workload.REVEAL, Workload.LOOKUP)
    max_callers: int = 1_000_000
    driver: str = LOAD
    env: dict[str, str] = field(default_factory=dict)
    embedded: bool = False
    redis_number: int = 0

    def prepare(self, servers: Servers, scale: Scale) -> list[str]:
        """Migrate the database, import the people, and sign in for each workspace."""
        state = self._state(servers)
        self.env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self.env |= {f"LIMIT_{name}": UNLIMITED for name in LIMITS} | {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), self.env.get("PATH", os.defpath)]),
            "PYTHONPATH": str(ROOT),
            "DEV_DATA_DIR": str(state.directory),
            "REDIS_URL": servers.redis_database(self.redis_number),
        }
        if not self.embedded:
            url = servers.create_database(self.name)
            self.env["DATABASE_URL"] = url.replace("postgresql://", "postgresql+psycopg://")
        env = environment.for_children(state, self.env, redis_url=self.env["REDIS_URL"])
        run_to_completion(procfile_commands()[RELEASE], state, env, RELEASE)
        return _seed(servers.folder, scale, env)

    def start(self, servers: Servers) -> Iterator[Running]:
        """Run `dev.py up`, and yield once it says that everything is ready."""
        state, port = self._state(servers), ports.any_free()
        log = state.logs / "up.log"
        command = [sys.executable, "-m", "tools.up", "--port", str(port)]
        up = servers.reaper.spawn(command, log, self.env)
        try:
            wait_until(
                lambda: up.poll() is not None or bool(state.read("up.json")), self.title, lambda: tail(log)
            )
            pids = _pids(up.pid)
            yield Running(port, pids, self.env)
            if up.poll() is not None or _pids(up.pid) != pids:
                raise ServiceError(f"A process of the product has exited:\n{tail(log)}")
        finally:
            servers.reaper.stop([up], grace=STOP_SECONDS)

    def _state(self, servers: Servers) -> State:
        return State.open(servers.folder / self.name)


def _seed(folder: Path, scale: Scale, env: dict[str, str]) -> list[str]:
    """Create the data; return the tokens."""
    module = "benchmarks.comparison.systems.product_seed"
    arguments = [str(folder), str(scale.workspaces), str(scale.people)]
    completed = subprocess.run(  # noqa: S603 - arguments from this file
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode:
        raise ServiceError(f"The product's data could not be created:\n{completed.stderr[-MAX_OUTPUT:]}")
    tokens: list[str] = json.loads(completed.stdout.splitlines()[-1])
    return tokens


def _pids(up: int) -> dict[Part, list[int]]:
    """Return the processes by part; beat, Flower and `dev.py up` itself are `OTHER`."""
    pids: dict[Part, list[int]] = {Part.WEB: [], Part.WORKER: [], Part.OTHER: [up]}
    for child in psutil.Process(up).children():
        command = child.cmdline()
        if any(word.endswith("gunicorn") for word in command):
            pids[Part.WEB].append(child.pid)
        elif child.name().startswith("worker") or "worker" in command:  # a forked one has only a name
            pids[Part.WORKER].append(child.pid)
    return pids
