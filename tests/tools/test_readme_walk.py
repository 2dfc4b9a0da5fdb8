"""The README's walk with curl, pasted block by block into a shell beside a fresh `dev.py up`."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from readme_support import Block, blocks, differences, split, without_history

from tools.state import ROOT

PASTED = re.compile(r"^  (BASE=\S+ EMAIL=\S+ PASSWORD=\S+)$", re.MULTILINE)
END = "----- end of a block -----"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine"),
]


@contextmanager
def up(environment: dict[str, str]) -> Iterator[str]:
    """Run `dev.py up`; give the line that it says to paste."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.up"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    try:
        banner = ""
        while "Ctrl-C" not in banner:
            line = process.stdout.readline()
            assert line, f"it ended: {banner}"
            banner += line
        found = PASTED.search(banner)
        assert found, banner
        yield found[1]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        process.stdout.close()


@pytest.fixture
def environment(bare: dict[str, str]) -> dict[str, str]:
    """The bare environment with the virtual environment active, as `dev.py` has it."""
    return bare | {"PATH": f"{Path(sys.executable).parent}:{bare['PATH']}"}


def paste(line: str, walk: list[Block], environment: dict[str, str]) -> list[str]:
    """Paste the line and every block into one plain shell; give what each block printed."""
    script = line + "\n" + "".join(f"{block.commands}\nprintf '\\n%s\\n' '{END}'\n" for block in walk)
    done = subprocess.run(
        ["/bin/sh"],
        input=script,
        env={"PATH": environment["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    return [part.strip("\n") for part in done.stdout.split(END)[:-1]]


def wrong(block: Block, printed: str) -> list[str]:
    """List what differs between an answer and what the README prints of it."""
    status, headers, body = split(printed) if block.status else ("", {}, printed)
    return [
        *differences(block.status, status, "status"),
        *differences(block.headers | {"…": "…"}, headers, "headers"),
        *differences(block.body, json.loads(body)),
    ]


def test_every_block_of_the_walk_answers_what_is_printed_under_it(environment: dict[str, str]) -> None:
    walk = blocks()

    with up(environment) as line:
        printed = paste(line, walk, environment)

    assert len(printed) == len(walk) > 7
    assert [
        fault for block, answer in zip(walk, printed, strict=True) for fault in wrong(block, answer)
    ] == []


def test_after_the_demo_the_walk_answers_the_same_but_for_the_balance(environment: dict[str, str]) -> None:
    walk = [
        Block(
            block.commands,
            block.status,
            block.headers | ({"X-Credits-Balance": "…"} if "X-Credits-Balance" in block.headers else {}),
            without_history(block.body),
        )
        for block in blocks()
    ]

    with up(environment) as line:
        demo = subprocess.run(
            [sys.executable, "-m", "tools.demo", "--once"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            check=False,
        )
        printed = paste(line, walk, environment)

    assert demo.returncode == 0
    assert [
        fault for block, answer in zip(walk, printed, strict=True) for fault in wrong(block, answer)
    ] == []


@pytest.mark.parametrize(
    ("printed", "found", "faults"),
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
def test_an_answer_that_is_not_the_printed_one_is_told(printed: object, found: object, faults: int) -> None:
    assert len(differences(printed, found)) == faults
