"""A shell at a terminal of its own, as a reader has it."""

from __future__ import annotations

import os
import pty
import select
import signal
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

END = "----- end of a block -----"
PROMPTS = (b"Password: ", b"confirmation: ")


class Terminal:
    """A plain shell in a directory; types the password wherever it is asked for one."""

    def __init__(self, directory: Path, environment: Mapping[str, str], *, password: str) -> None:
        self.block = directory / "block.sh"
        self.password = password
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            plain = {
                "TERM": "dumb",
                "COLUMNS": "200",
                "PS1": "",
                "PS2": "",
                "VIRTUAL_ENV_DISABLE_PROMPT": "1",
            }
            os.execve("/bin/sh", ["/bin/sh"], {**environment, **plain})  # noqa: S606
        modes = termios.tcgetattr(self.screen)
        modes[1] &= ~termios.OPOST  # lines end as the program ends them
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self.screen, termios.TCSANOW, modes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self.screen)  # hangs up
        os.waitpid(self.process, 0)

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
                os.killpg(self.process, signal.SIGKILL)
                raise TimeoutError(f"{commands}\n{output.decode()}")
            output += os.read(self.screen, 65536)
            if output.endswith(PROMPTS):
                os.write(self.screen, f"{self.password}\n".encode())
        text, _, code = output.decode().partition(END)
        return text.strip("\n"), int(code)
