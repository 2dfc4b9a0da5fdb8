"""A throw-away RabbitMQ server with its management API, for tests and for `dev.py matrix`."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tools.console import step
from tools.services import ports, processes
from tools.services.processes import Reaper, ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 90.0
LOGIN = "guest:guest"  # which RabbitMQ accepts on loopback only
NOT_FOUND = "No RabbitMQ was found. Install it, for example: apt-get install rabbitmq-server"


@dataclass(frozen=True, slots=True)
class RabbitMq:
    """The addresses of a running server, and its process if it was started here."""

    port: int
    api_port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def api(self) -> str:
        """The URL of the management API, with the login, as Flower takes it."""
        return f"http://{LOGIN}@{ports.LOOPBACK}:{self.api_port}/api/"

    def url(self, vhost: str = "/") -> str:
        """Return the URL of a virtual host."""
        return f"amqp://{LOGIN}@{ports.LOOPBACK}:{self.port}/{quote(vhost, safe='')}"

    def create_vhost(self, name: str) -> str:
        """Create a virtual host, which has queues of its own; return its URL."""
        self._call("PUT", f"vhosts/{name}")
        return self.url(name)

    def delete_vhost(self, name: str) -> None:
        """Delete a virtual host with its queues, and close its connections."""
        self._call("DELETE", f"vhosts/{name}")

    def responds(self) -> bool:
        """Return whether the server has started."""
        try:
            self._call("GET", "overview")
        except (urllib.error.URLError, OSError):
            return False
        return True

    def _call(self, method: str, path: str) -> None:
        address = f"http://{ports.LOOPBACK}:{self.api_port}/api/{path}"
        login = base64.b64encode(LOGIN.encode()).decode()
        request = urllib.request.Request(address, method=method, headers={"Authorization": f"Basic {login}"})
        with urllib.request.urlopen(request, timeout=10):  # noqa: S310 - likewise
            pass


def program() -> Path | None:
    """Return the start script of the server on PATH; None if there is none."""
    found = shutil.which("rabbitmq-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        return None
    # Debian's is a wrapper that works for the user `rabbitmq` only; the script is beside it.
    script = Path(found).resolve().parent / "rabbitmq-server"
    return script if script.exists() else Path(found)


@contextmanager
def server() -> Iterator[RabbitMq]:
    """Yield a server that runs as long as the block, with its data in a temporary directory.

    Raises:
        ServiceError: RabbitMQ is not installed, or does not start.

    """
    script = program()
    if script is None:
        raise ServiceError(NOT_FOUND)
    with tempfile.TemporaryDirectory(prefix="throw-away-rabbitmq-") as name:
        folder, reaper = Path(name), Reaper()
        started = RabbitMq(ports.any_free(), ports.any_free())
        try:
            with step("start a throw-away RabbitMQ server"):
                env = _configure(folder, started)
                # The server would start epmd as a daemon, which would outlive it.
                epmd = ["epmd", "-address", ports.LOOPBACK, "-port", env["ERL_EPMD_PORT"]]
                names = reaper.spawn(epmd, folder / "epmd.log", env)
                process = reaper.spawn([str(script)], folder / "server.log", env)
                _wait_until_ready(process, started, folder / "server.log")
            try:
                yield replace(started, process=process)
            finally:
                reaper.stop([process, names], grace=5.0)
        finally:
            reaper.close()


def _configure(folder: Path, server: RabbitMq) -> dict[str, str]:
    """Write the configuration; return the environment of the server."""
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = {ports.LOOPBACK}:{server.port}\n"
        f"management.tcp.ip = {ports.LOOPBACK}\nmanagement.tcp.port = {server.api_port}\n"
        "disk_free_limit.absolute = 50MB\nlog.console = true\nlog.console.level = warning\n"
    )
    (folder / "enabled_plugins").write_text("[rabbitmq_management].\n")
    return {
        **os.environ,
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{server.port}@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_DIST_PORT": str(ports.any_free()),
        "ERL_EPMD_PORT": str(ports.any_free()),
        "ERL_EPMD_ADDRESS": ports.LOOPBACK,
        # One scheduler that sleeps when it has nothing to do: the tests need the processors.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
    }


def _wait_until_ready(process: subprocess.Popen[bytes], server: RabbitMq, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if server.responds():
            return
        time.sleep(0.3)
    processes.stop([process], grace=1.0)
    raise ServiceError(f"RabbitMQ does not start:\n{processes.tail(log)}")
