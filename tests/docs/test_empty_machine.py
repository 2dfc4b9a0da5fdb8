"""The commands of the pages that install the service, in order, on a machine that has none of it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest
from local_servers import REDIS_SERVER, free_port
from pages import OPERATING, Block, code_blocks, command_blocks, text_of
from terminal import Terminal
from walk import faults, runnable

from tools.services import postgres
from tools.state import ROOT

INSTALL, GOING_LIVE = "docs/install.md", "docs/going-live.md"
BACKUPS = "/var/backups/contact-lookup"
PASSWORD = secrets.token_urlsafe(24)
AS_ROOT = {
    "apt-get install": "needs root; the test brings its own servers",
    "useradd": "the user of the test is the service's user",
    "cp -r deploy/systemd": "needs systemd: honcho is started instead, as the page says",
    "install -d -o contact-lookup -m 0700 /var/backups": "needs systemd",
    "cd /opt/contact-lookup && git fetch": "a later version: tests/cli/test_upgrade_under_traffic.py",
}
"""The start of the blocks and lines of docs/install.md that are left out, and the reason."""
ELSEWHERE = {"flask backup stream": "runs on another machine, until it is stopped"}
"""The commands of docs/going-live.md that are left out, and the reason."""

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(), reason="no git repository"),
]


@dataclass(frozen=True, slots=True)
class Machine:
    """A folder in the place of /opt, a PostgreSQL and a Redis-protocol server as the page sets them up."""

    folder: Path
    settings: dict[str, str]

    @property
    def checkout(self) -> Path:
        return self.folder / "contact-lookup"

    def here(self, commands: str) -> str:
        """Return the commands with the folder, the repository and the user of this machine."""
        return (
            commands.replace("/opt/contact-lookup", str(self.checkout))
            .replace("https://your.git.server/contact-lookup.git", str(ROOT))
            .replace("-o contact-lookup ", "")
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("machine")
    (sql,) = code_blocks(INSTALL, "sql")
    port = free_port()
    configuration = folder / "redis.conf"
    (redis_block,) = (block for block in code_blocks(INSTALL, "") if "maxmemory-policy" in block)
    configuration.write_text(f"{redis_block}port {port}\ndir {folder}\n")
    with postgres.running() as url, subprocess.Popen([REDIS_SERVER, str(configuration)]) as redis:
        server = url.replace("+psycopg", "")
        with psycopg.connect(server, autocommit=True) as connection:
            for statement in sql.split(";\n"):
                connection.execute(statement.replace("a long random one", PASSWORD).encode())
        address = server.rpartition("@")[2].partition("/")[0]
        yield Machine(
            folder,
            {
                "DATABASE_URL": f"postgresql://contact_lookup:{PASSWORD}@{address}/contact_lookup",
                "REDIS_URL": f"redis://:a-long-random-one@127.0.0.1:{port}/0",
                "SECRET_KEY": secrets.token_urlsafe(48),
                "SUPPRESSION_KEY": secrets.token_urlsafe(48),
                "FLOWER_BASIC_AUTH": f"admin:{PASSWORD}",
                "WEB_BIND": f"127.0.0.1:{free_port()}",
                "FLOWER_PORT": str(free_port()),
            },
        )
        redis.terminate()


@pytest.fixture(scope="module")
def terminal(machine: Machine) -> Iterator[Terminal]:
    """A shell in the place of /opt, whose environment names no service."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG"))}
    python = Path(getattr(sys, "_base_executable", sys.executable)).parent
    path = os.pathsep.join([str(postgres.find_binaries()), str(python), os.environ["PATH"]])
    trusted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environment = kept | trusted | {"PATH": path, "HOME": str(machine.folder)}
    with Terminal(machine.folder, environment, password=PASSWORD) as terminal:
        yield terminal
        terminal.run("kill $SERVICE; wait $SERVICE")


@pytest.fixture(scope="module")
def install_faults(machine: Machine, terminal: Terminal) -> list[str]:
    """Run the commands of docs/install.md; set the settings when the page does."""
    found = []
    for block in command_blocks(INSTALL):
        if any(block.commands.startswith(start) for start in AS_ROOT if start != "useradd"):
            continue
        lines = (line for line in block.commands.splitlines(keepends=True) if not line.startswith("useradd"))
        found += faults(terminal, [replace(block, commands=machine.here("".join(lines)))], is_fresh=True)
        if ".env.example .env" in block.commands:
            set_settings(machine, machine.settings)
    return found


def set_settings(machine: Machine, settings: dict[str, str]) -> None:
    """Write settings into `.env` as an operator does, and remove the sandbox as the page says."""
    file = machine.checkout / ".env"
    text = file.read_text().replace(",sandbox", "")
    for name, value in settings.items():
        text, count = re.subn(rf"^#? ?{name}=.*$", f"{name}={value}", text, count=1, flags=re.MULTILINE)
        assert count == 1, f"{name} is not in .env.example"
    file.write_text(text)


@pytest.fixture(scope="module")
def service(machine: Machine, terminal: Terminal, install_faults: list[str]) -> str:
    """Start the Procfile's processes, and wait until they are ready."""
    assert install_faults == [], "\n".join(install_faults)
    terminal.run("honcho start > honcho.log 2>&1 & SERVICE=$!")
    bind = machine.settings["WEB_BIND"]
    deadline = time.monotonic() + 120
    while (answer := readiness(bind)) != 200:
        assert time.monotonic() < deadline, (answer, (machine.checkout / "honcho.log").read_text())
        time.sleep(0.5)
    return f"http://{bind}"


def readiness(bind: str) -> int | None:
    connection = HTTPConnection(bind, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def checklist() -> list[str]:
    """Return the commands in the checklist of docs/going-live.md, as printed."""
    spans = re.findall(r"`((?:flask|curl) [^`]+)`", text_of(GOING_LIVE).partition("## Checklist\n")[2])
    assert spans
    return [span for span in spans if span not in ELSEWHERE]


def test_an_empty_machine_becomes_a_service_with_users(
    machine: Machine, terminal: Terminal, service: str
) -> None:
    assert terminal.run(f"BASE={service}") == ("", 0)

    found = faults(terminal, runnable(*OPERATING), is_fresh=True)

    assert found == [], "\n".join(found)


def test_its_checklist_passes_before_it_goes_live(machine: Machine, terminal: Terminal, service: str) -> None:
    key, code = terminal.run("flask backup key backup.key")
    assert code == 0, key
    set_settings(machine, {"BACKUP_RECIPIENTS": key.rpartition("BACKUP_RECIPIENTS=")[2]})
    backups = machine.folder / "backups"
    backup, code = terminal.run(f"install -d -m 0700 {backups} && flask backup create {backups}")
    assert code == 0, backup
    (variables,) = code_blocks(GOING_LIVE, "sh")
    here = variables.replace("https://lookup.example.com", service).replace(BACKUPS, str(backups))

    blocks = [Block(GOING_LIVE, 0, commands) for commands in (here, *checklist())]
    found = faults(terminal, blocks, is_fresh=True)

    assert found == [], "\n".join(found)
    assert "Nothing to correct" in terminal.run("flask doctor")[0]
    assert re.search(r"^All \d+ rules hold", terminal.run("flask audit ledger")[0], re.MULTILINE)


def test_nothing_is_left_out_that_the_pages_no_longer_have() -> None:
    commands = "".join(block.commands for block in command_blocks(INSTALL))
    assert [start for start in AS_ROOT if start not in commands] == []
    assert [command for command in ELSEWHERE if command not in text_of(GOING_LIVE)] == []
