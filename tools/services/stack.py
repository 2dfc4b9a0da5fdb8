"""Everything that runs on one machine: Redis, migrations, all processes, and a workspace to try it with."""

from __future__ import annotations

import os
import shlex
import socket
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from tools.console import echo, step
from tools.services import embedded_redis, environment, ports, processes, procfile
from tools.services.processes import ServiceError
from tools.services.supervisor import Supervisor, run_to_completion
from tools.state import DEMO_EMAIL, ROOT, Lock, State, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

WEB, FLOWER = "web", "flower"  # in the Procfile
FIRST_PORT = 8000
FIRST_FLOWER_PORT = 5555
READY_SECONDS = 120.0
LOCK_WAIT_SECONDS = 2 * processes.GRACE_SECONDS
POLL_SECONDS = 0.2  # seconds between two looks at the processes
ACCOUNT_TAKEN_OVER = f"""  The database had the account {DEMO_EMAIL} already, so it was taken over:
  it has a new password, and its sessions and API keys have ended."""


@dataclass(slots=True)
class LocalStack:
    """A running stack: enter it to start it, `tend` it while it runs, leave it to stop it."""

    state: State
    port: int | None = None
    fresh: bool = False
    supervisor: Supervisor | None = None
    exit_stack: ExitStack | None = None
    access: dict[str, str] | None = None
    env: dict[str, str] = field(default_factory=dict)
    base_url: str = ""

    def __enter__(self) -> Self:
        """Start everything, and return once `/readyz` answers."""
        with ExitStack() as stack:
            try:
                self._start_all(stack)
            except BaseException:
                processes.ignore_interrupts()
                raise
            stack.callback(processes.ignore_interrupts)
            self.exit_stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything in the reverse order."""
        if self.exit_stack:
            self.exit_stack.__exit__(kind, error, trace)

    def tick(self) -> None:
        """Look after the processes once, and rest a moment."""
        if self.supervisor:
            self.supervisor.restart_exited()
            if self.supervisor.is_down(FLOWER):
                self._move_flower_port()
        time.sleep(POLL_SECONDS)

    def _start_all(self, stack: ExitStack) -> None:
        lock = self._take_lock()
        stack.callback(lock.release)
        stack.callback(self.state.path("up.json").unlink, missing_ok=True)
        self._wait_for_redis()
        if self.fresh:
            self.state.clear()
        if not self.state.database.exists():
            self.state.forget_seeding(f"sqlite:///{self.state.database}")
        web = stack.enter_context(_listen_for_web(self.port))
        redis_url = stack.enter_context(embedded_redis.running(self.state, os.environ))
        self.env = environment.for_children(
            self.state,
            os.environ,
            redis_url=redis_url,
            web_bind=f"fd://{web.fileno()}",
            flower_port=ports.next_free(FIRST_FLOWER_PORT),
        )
        self.base_url = f"http://{ports.LOOPBACK}:{web.getsockname()[1]}"
        reaper = processes.Reaper(hold=[lock.descriptor])
        stack.callback(reaper.close)
        self._start_processes(stack, web, reaper)
        self._publish_access()

    def _take_lock(self) -> Lock:
        lock = Lock(self.state.path("up.lock"))
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not lock.acquire():
            running = self.state.read("up.json")
            if running and _is_alive(int(running["pid"])):
                raise ServiceError(f"It is already up at {running['base_url']} (process {running['pid']}).")
            if time.monotonic() > deadline:
                raise ServiceError(
                    "Another start is under way, or the last one is still stopping. Try again."
                )
            time.sleep(POLL_SECONDS)
        return lock

    def _wait_for_redis(self) -> None:
        """Wait until a `dev.py run`, or what is left of a killed `up`, has let go of the embedded Redis."""
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while embedded_redis.is_in_use(self.state):
            if time.monotonic() > deadline:
                raise ServiceError(
                    "A `dev.py run` uses the embedded Redis server. Try again when it is over."
                )
            time.sleep(POLL_SECONDS)

    def _move_flower_port(self) -> None:
        """Give Flower another port if somebody took its own before it started."""
        taken = int(self.env["FLOWER_PORT"])
        if ports.is_free(taken):
            return
        self.env["FLOWER_PORT"] = str(ports.next_free(taken + 1))
        echo(f"Port {taken} was taken meanwhile; Flower uses {self.env['FLOWER_PORT']}.")
        if self.access:
            self._publish_access()

    def _start_processes(self, stack: ExitStack, web: socket.socket, reaper: processes.Reaper) -> None:
        env = self.env
        commands = procfile.read(ROOT / "Procfile")
        release = commands.pop(procfile.RELEASE, None)
        if release:
            with step("migrate the database"):
                run_to_completion(release, self.state, env, procfile.RELEASE)
        self.supervisor = Supervisor(commands, env, self.state.logs, reaper, inherited={WEB: (web.fileno(),)})
        stack.callback(self.supervisor.stop)
        self.supervisor.start()
        if not self._seed_record(env).get("complete"):
            with step("make the demo workspace, while the processes start"):
                own = {**env, "DEV_DATA_DIR": str(self.state.directory)}
                run_to_completion(
                    f"exec {shlex.quote(sys.executable)} -m tools.demo.seed", self.state, own, "seed"
                )
            if self._seed_record(env).get("taken_over"):
                echo(ACCOUNT_TAKEN_OVER)
        with step("start " + ", ".join(commands)):
            self._wait_until_ready(f"{self.base_url}/readyz")

    def _seed_record(self, env: Mapping[str, str]) -> dict[str, Any]:
        """Return what is remembered of the samples in this database."""
        known: dict[str, Any] = self.state.read("seeded.json").get(fingerprint(env["DATABASE_URL"]), {})
        return known

    def _wait_until_ready(self, url: str) -> None:
        supervisor, deadline = self.supervisor, time.monotonic() + READY_SECONDS
        while supervisor and not _is_ready(url):
            self.tick()
            failing = supervisor.find_unstable(3)
            if failing:
                raise ServiceError(f"{failing} does not start; see above, and {self.state.logs}")
            if time.monotonic() > deadline:
                end = processes.tail(self.state.logs / "web.log")
                raise ServiceError(f"{url} does not answer 200 after {READY_SECONDS:.0f} s:\n{end}")

    def _publish_access(self) -> None:
        """Write down where everything is, for whoever asks for it later."""
        self.access = {
            "base_url": self.base_url,
            "email": DEMO_EMAIL,
            "password": self.state.secrets()["DEMO_PASSWORD"],
            "flower_url": f"http://{ports.LOOPBACK}:{self.env['FLOWER_PORT']}",
        }
        known = {
            "pid": os.getpid(),
            "flower_login": self.env["FLOWER_BASIC_AUTH"],
            "redis_url": self.env["REDIS_URL"],
        }
        self.state.write("up.json", self.access | known)


def find_running(state: State) -> dict[str, str] | None:
    """Return what is known of the stack that runs from this directory, if one does."""
    lock = Lock(state.path("up.lock"))
    taken = lock.acquire()
    lock.release()
    return None if taken else state.read("up.json") or None


def _listen_for_web(wanted: int | None) -> socket.socket:
    """Listen for the API from now on, so that its port cannot be taken until it starts."""
    found = ports.listen(FIRST_PORT) if wanted is None else ports.listen(wanted, attempts=1)
    if found is None:
        what = f"Port {wanted} is" if wanted else f"The ports from {FIRST_PORT} on are"
        raise ServiceError(f"{what} taken by another program. Choose another --port, or leave it out.")
    port = found.getsockname()[1]
    if wanted is None and port != FIRST_PORT:
        echo(f"Port {FIRST_PORT} is taken; using {port}.")
    return found


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - our own loopback address
            return bool(response.status == 200)  # noqa: PLR2004 - HTTP's OK
    except (OSError, urllib.error.URLError):
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
