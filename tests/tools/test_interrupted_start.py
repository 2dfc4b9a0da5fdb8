"""Ctrl-C while a command of dev.py still imports its modules."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tools.state import ROOT


@pytest.mark.parametrize("command", [["dev.py"], ["-m", "tools.up"]], ids=["dev.py", "up"])
def test_an_interrupt_during_the_imports_prints_no_traceback(command: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", *command, "--help"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        imported = next(line for line in process.stderr if "argparse" in line or "gettext" in line)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()

    assert imported
    assert "Traceback" not in rest
