"""A shell at a terminal of its own, as a reader has it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

END = "----- end of a block -----"
CONTROLLED = """
import fcntl, os, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv("/bin/sh", ["sh"])
"""
"""Makes the terminal control the session, as prompts for passwords need, and becomes a shell."""
PROMPTS = (b"Password: ", b"confirmation: ")


class Terminal:
    """A plain shell in a directory; types the password wherever it is asked for one."""

    def __init__(self, directory: Path, environment: Mapping[str, str], *, password: str) -> None:
        self.block = directory / "block.sh"
        self.password = password
        self.screen, keyboard = os.openpty()
        modes = termios.tcgetattr(keyboard)
        modes[1] &= ~termios.OPOST  # lines end as the program ends them
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(keyboard, termios.TCSANOW, modes)
        plain = {"TERM": "dumb", "COLUMNS": "200", "PS1": "", "PS2": "", "VIRTUAL_ENV_DISABLE_PROMPT": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLED],
            cwd=directory,
            env={**environment, **plain},
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            start_new_session=True,
        )
        os.close(keyboard)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self.screen)  # hangs up
        self.process.wait()

    def run(self, commands: str, *, seconds: float = 300) -> tuple[str, int]:
        """Return what the commands print on both outputs, and the exit code of the last.

        Raises:
            TimeoutError: they take longer; they are killed.

        """
        self.block.write_text(commands)  # a prompt for a password discards what was typed before it
        os.write(self.screen, f". {self.block}; printf '\\n%s %s\\n' '{END}' $?\n".encode())
        deadline = time.monotonic() + seconds
        output = b""
        while (end := output.find(f"{END} ".encode())) < 0 or b"\n" not in output[end:]:
            if not select.select([self.screen], [], [], max(0, deadline - time.monotonic()))[0]:
                os.killpg(self.process.pid, signal.SIGKILL)
                raise TimeoutError(f"{commands}\n{output.decode()}")
            output += os.read(self.screen, 65536)
            if output.endswith(PROMPTS):
                os.write(self.screen, f"{self.password}\n".encode())
        text, _, code = output.decode().partition(END)
        return text.strip("\n"), int(code)
