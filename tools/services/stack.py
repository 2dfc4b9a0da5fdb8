"""The whole product on one machine: Redis, the migrated database, every process, and a demo workspace."""

from __future__ import annotations

import os
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from tools.console import echo, step
from tools.manual import site
from tools.services import embedded_redis, environment, ports, preloading, processes, revisions
from tools.services.processes import Reaper, ServiceError
from tools.services.reachability import wait_for_servers
from tools.services.seeding import seed
from tools.services.supervisor import RELEASE, Supervisor, procfile_commands, run_to_completion
from tools.state import DEMO_EMAIL, Lock, State

if TYPE_CHECKING:
    from types import TracebackType

PROCFILE = "Procfile.small"
WEB, FLOWER = "web", "flower"  # in the Procfile
FIRST_PORT = 8000
FIRST_FLOWER_PORT = 5555
READY_SECONDS = 120.0
MAX_STARTUP_EXITS = 3  # of one process, until the start fails
LOCK_WAIT_SECONDS = 2 * processes.GRACE_SECONDS
POLL_SECONDS = 0.5
TICK_SECONDS = 1.0
START_POLL_SECONDS = 0.05


@dataclass(slots=True)
class LocalStack:
    """Context manager that starts everything and stops it again; call `tick` in between."""

    state: State
    port: int | None = None
    fresh: bool = False
    supervisor: Supervisor | None = None
    exit_stack: ExitStack | None = None
    access: dict[str, str] | None = None
    env: dict[str, str] = field(default_factory=dict)
    base_url: str = ""

    def __enter__(self) -> Self:
        """Start everything, and return once `/readyz` answers 200."""
        with ExitStack() as stack:
            try:
                self._start(stack)
            except BaseException:
                processes.ignore_interrupts()
                raise
            stack.callback(processes.ignore_interrupts)
            self.exit_stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything, in reverse order."""
        if self.exit_stack:
            self.exit_stack.__exit__(kind, error, trace)

    def tick(self, seconds: float = TICK_SECONDS) -> None:
        """Restart processes that have exited, then sleep for a moment."""
        if self.supervisor:
            self.supervisor.restart_exited()
            if self.supervisor.is_down(FLOWER):
                self._move_flower()
        time.sleep(seconds)

    def _start(self, stack: ExitStack) -> None:
        lock = self._acquire_lock()
        stack.callback(lock.release)
        stack.callback(self.state.path("up.json").unlink, missing_ok=True)
        self._wait_for_redis()
        if self.fresh:
            self.state.clear()
        revisions.discard_unreleased(self.state)
        if not self.state.database.exists():
            self.state.forget_seeding(f"sqlite:///{self.state.database}")
        web = stack.enter_context(_listen(self.port))
        wait_for_servers(os.environ)
        redis_url = stack.enter_context(embedded_redis.running(self.state, os.environ))
        self.env = environment.for_children(
            self.state,
            os.environ,
            redis_url=redis_url,
            web_bind=f"fd://{web.fileno()}",
            flower_port=ports.next_free(FIRST_FLOWER_PORT),
        )
        self.base_url = f"http://{ports.LOOPBACK}:{web.getsockname()[1]}"
        reaper = Reaper(locks=[lock.descriptor])
        stack.callback(reaper.close)
        self._start_processes(stack, web, reaper)
        self._publish_access()

    def _acquire_lock(self) -> Lock:
        """Acquire the lock of this data directory, waiting for a stack that is still stopping."""
        lock = Lock(self.state.path("up.lock"))
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while not lock.acquire():
            running = self.state.read("up.json")
            if running and _is_alive(int(running["pid"])):
                raise ServiceError(
                    f"The service is already running at {running['base_url']} (process {running['pid']})."
                )
            if time.monotonic() > deadline:
                raise ServiceError(
                    "Another start is in progress, or the last one is still stopping. Try again."
                )
            time.sleep(POLL_SECONDS)
        return lock

    def _wait_for_redis(self) -> None:
        """Wait while a `dev.py run`, or what remains of a killed `up`, uses the embedded Redis."""
        deadline = time.monotonic() + LOCK_WAIT_SECONDS
        while embedded_redis.is_in_use(self.state):
            if time.monotonic() > deadline:
                raise ServiceError(
                    "A `dev.py run` uses the embedded Redis server. Try again when it has ended."
                )
            time.sleep(POLL_SECONDS)

    def _start_processes(self, stack: ExitStack, web: socket.socket, reaper: Reaper) -> None:
        site.build_if_changed()
        commands = procfile_commands(PROCFILE)
        release = commands.pop(RELEASE, None)
        if release and not revisions.is_at_head(self.env["DATABASE_URL"]):
            with step("migrate the database"):
                run_to_completion(release, self.state, self.env, RELEASE)
        forked = preloading.forkable(commands, self.env)
        self.supervisor = Supervisor(
            commands, self.env, self.state.logs, reaper, inherited={WEB: (web.fileno(),)}, forked=forked
        )
        stack.callback(self.supervisor.stop)
        self.supervisor.start(name for name in commands if name not in forked)
        if forked:
            with step("import the workers while the API starts"):
                if not preloading.import_workers(self.env):
                    self.supervisor.forked = {}
            self.supervisor.start()
        seed(self.state, self.env)
        with step("start " + ", ".join(commands)):
            self._wait_until_ready(self.supervisor)

    def _wait_until_ready(self, supervisor: Supervisor) -> None:
        url, deadline = f"{self.base_url}/readyz", time.monotonic() + READY_SECONDS
        while not _is_ready(url):
            self.tick(START_POLL_SECONDS)
            unstable = supervisor.find_unstable(MAX_STARTUP_EXITS)
            if unstable:
                raise ServiceError(f"{unstable} does not start; see above, and {self.state.logs}")
            if time.monotonic() > deadline:
                end = processes.tail(self.state.logs / "web.log")
                raise ServiceError(f"{url} did not answer 200 within {READY_SECONDS:.0f} s:\n{end}")

    def _move_flower(self) -> None:
        """Choose another port for Flower if another program took its port before it started."""
        port = int(self.env["FLOWER_PORT"])
        if ports.is_free(port):
            return
        self.env["FLOWER_PORT"] = str(ports.next_free(port + 1))
        echo(f"Port {port} has been taken by another program; Flower uses {self.env['FLOWER_PORT']}.")
        if self.access:
            self._publish_access()

    def _publish_access(self) -> None:
        """Write the addresses and logins to `up.json`, for other commands."""
        self.access = {
            "base_url": self.base_url,
            "email": DEMO_EMAIL,
            "password": self.state.secrets()["DEMO_PASSWORD"],
            "flower_url": f"http://{ports.LOOPBACK}:{self.env['FLOWER_PORT']}",
        }
        internal = {
            "pid": os.getpid(),
            "flower_login": self.env["FLOWER_BASIC_AUTH"],
            "redis_url": self.env["REDIS_URL"],
        }
        self.state.write("up.json", self.access | internal)


def find_running(state: State) -> dict[str, str] | None:
    """Return the addresses and logins of the stack that runs from this data directory, or None."""
    lock = Lock(state.path("up.lock"))
    acquired = lock.acquire()
    lock.release()
    return None if acquired else state.read("up.json") or None


def _listen(chosen: int | None) -> socket.socket:
    """Return a listening socket for the API, so that no other program takes its port before it starts."""
    listener = ports.listen(FIRST_PORT) if chosen is None else ports.listen(chosen, attempts=1)
    if listener is None:
        what = f"Port {chosen} is" if chosen else f"The ports from {FIRST_PORT} on are"
        raise ServiceError(f"{what} taken by another program. Choose another --port, or leave it out.")
    port = listener.getsockname()[1]
    if chosen is None and port != FIRST_PORT:
        echo(f"Port {FIRST_PORT} is taken; using {port}.")
    return listener


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
    except PermissionError:  # it belongs to another user
        return True
    return True
