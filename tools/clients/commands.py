"""Runs the tools that generate, check and pack the clients."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


class ClientError(Exception):
    """A client could not be generated, checked or packed; the message has the output of the tool."""


def run(*command: str, cwd: Path, **variables: str) -> str:
    """Run a tool of this environment or of the PATH, with these variables, and return its output.

    Raises:
        ClientError: its exit code is not 0, or it is not installed.

    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    program = shutil.which(command[0], path=path)
    if program is None:
        raise ClientError(f"{command[0]} is not installed.")
    done = subprocess.run(  # noqa: S603 - arguments from this package
        [program, *command[1:]],
        cwd=cwd,
        env=os.environ | variables | {"PATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    if done.returncode:
        raise ClientError(f"{' '.join(command)} exited with code {done.returncode}:\n{output}")
    return output
