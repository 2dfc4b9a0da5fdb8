"""The commands in README and docs, pasted block by block into a shell beside one running stack."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import flask_client
import flask_server
import pytest
from pages import API, COMMANDS, EXECUTED_PAGES, NOT_RUN, SHELLS, command_blocks, languages, pages
from printed_output import differences, mismatches
from walk import faults, runnable

from tools.state import ROOT, State

VARIABLES = re.compile(r"^  (BASE=\S+ EMAIL=\S+ PASSWORD=\S+)$", re.MULTILINE)
TIMEOUT_SECONDS = 120
END = "----- end of a block -----"

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")


class Shell:
    """A plain shell in a directory of its own, in which `flask` reaches a flask_server."""

    def __init__(self, directory: Path, socket: Path) -> None:
        programs = directory / "bin"
        programs.mkdir(parents=True)
        command = shlex.join([sys.executable, "-S", str(flask_client.__file__), str(socket)])
        (programs / "flask").write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / "flask").chmod(0o700)
        (directory / "demo").symlink_to(ROOT / "demo")
        self.process = subprocess.Popen(
            ["/bin/sh"],
            cwd=directory,
            env={"PATH": f"{programs}:{os.environ['PATH']}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.timer = threading.Timer(TIMEOUT_SECONDS, self.process.kill)
        self.timer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.timer.cancel()
        self.process.communicate()

    def run(self, commands: str) -> tuple[str, int]:
        """Return what the commands print on both outputs, and the exit code of the last."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{commands}\nprintf '\\n%s %s\\n' '{END}' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(END):
                return "".join(lines).strip("\n"), int(line.split()[-1])
            lines.append(line)
        pytest.fail(f"the shell ended at: {commands}")


@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run a command as a process; interrupt it afterwards."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def read_banner(process: subprocess.Popen[str]) -> str:
    """Return the line that `dev.py up` prints for pasting, once it is up."""
    assert process.stdout
    banner = ""
    while "Ctrl-C" not in banner:
        line = process.stdout.readline()
        assert line, f"it ended: {banner}"
        banner += line
    found = VARIABLES.search(banner)
    assert found, banner
    return found[1]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an activated virtual environment, with no service named in it."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_KEY"))}
    data = tmp_path_factory.mktemp("stack") / "data"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return inherited | {
        "DEV_DATA_DIR": str(data),
        "PYTHONPATH": str(ROOT),
        "PATH": path,
        "LOG_LEVEL": "warning",
    }


@pytest.fixture(scope="module")
def stack(environment: dict[str, str]) -> Iterator[str]:
    """Run `dev.py up` and a flask_server; give the line that `up` prints for pasting."""
    socket = Path(environment["DEV_DATA_DIR"]).parent / "flask"
    up = [sys.executable, "-m", "tools.up"]
    server = [sys.executable, "-m", "tools.run", sys.executable, flask_server.__file__, str(socket)]
    with started(up, environment) as process:
        line = read_banner(process)
        with started(server, environment):
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while not socket.exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield line


@pytest.fixture(scope="module")
def shell(
    stack: str, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    socket = Path(environment["DEV_DATA_DIR"]).parent / "flask"
    with Shell(tmp_path_factory.mktemp("reader"), socket) as shell:
        assert shell.run(stack) == ("", 0)
        yield shell


@pytest.fixture(scope="module")
def first_faults(shell: Shell) -> list[str]:
    return faults(shell, runnable(*EXECUTED_PAGES), is_fresh=True)


@pytest.mark.release
@needs_curl
def test_every_command_prints_what_its_page_prints(first_faults: list[str]) -> None:
    assert first_faults == [], "\n".join(first_faults)


@pytest.mark.release
@needs_curl
def test_after_the_demo_the_calls_return_the_same_except_balances_and_traces(
    first_faults: list[str], shell: Shell, stack: str, environment: dict[str, str]
) -> None:
    # In a workspace of its own, beside what the first run stored.
    email, password = "tester@contact-lookup.example", "a long enough password"
    output, code = shell.run("flask workspaces create Demo --json")
    assert code == 0, output
    workspace = json.loads(output)["id"]
    account = f"{email} --workspace {workspace} --name Tester --role admin --api-access"
    assert shell.run(f"flask accounts create {account}")[1] == 0
    assert shell.run(f"flask credits grant {workspace} 250 --reason test")[1] == 0
    state = State.open(Path(environment["DEV_DATA_DIR"]))
    state.write("up.json", state.read("up.json") | {"email": email, "password": password})

    demo = subprocess.run(
        [sys.executable, "-m", "tools.demo", "--once"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert shell.run(f"EMAIL={email} PASSWORD='{password}'") == ("", 0)
    found = faults(shell, runnable("README.md", *API), is_fresh=False)

    assert demo.returncode == 0, demo.stdout
    assert found == [], "\n".join(found)


def test_commands_are_in_blocks_of_one_language() -> None:
    # Blocks of another language would escape the tests above.
    others = {page: languages(page) & (SHELLS - {COMMANDS}) for page in pages()}

    assert {page: found for page, found in others.items() if found} == {}


def test_every_command_block_runs_or_has_a_reason_not_to() -> None:
    blocks = [block for page in pages() for block in command_blocks(page)]

    unexplained = {
        block.page for block in blocks if block.page not in EXECUTED_PAGES and not block.reason_not_run
    }

    assert unexplained == set()
    assert {block.reason_not_run for block in blocks} >= set(NOT_RUN.values())


@pytest.mark.parametrize(
    ("printed", "found", "count"),
    [
        ({"id": "job_…", "…": "…"}, {"id": "job_1", "more": 1}, 0),
        ({"charged": 1}, {"charged": 0}, 1),
        ({"charged": 1}, {"charged": 1, "more": 1}, 1),
        ({"charged": 1, "…": "…"}, {}, 1),
        ({"id": "job_…"}, {"id": "con_1"}, 1),
        ([{"ms": "…"}], [{"ms": 3}], 0),
        ([], [1], 1),
    ],
)
def test_json_that_differs_from_the_printed_json_is_reported(
    printed: object, found: object, count: int
) -> None:
    assert len(differences(printed, found)) == count


@pytest.mark.parametrize(
    ("printed", "found", "count"),
    [
        ("Made wks_… (Acme).\n", "Made wks_06h0 (Acme).\n", 0),
        ("Made wks_… (Acme).\n", "Made wks_06h0 (Other).\n", 1),
        ("first\n…\nlast\n", "first\nsecond\nthird\nlast", 0),
        ("first\nlast\n", "first\nsecond\nlast\n", 1),
    ],
)
def test_text_that_differs_from_the_printed_text_is_reported(printed: str, found: str, count: int) -> None:
    assert len(mismatches("text", printed, found)) == count
