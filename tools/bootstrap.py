"""Create `.venv` from a lock file with hashes, using uv or pip, without root (standard library only)."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from tools.console import echo, step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STAMP = "lock.sha256"
NO_VENV = "The virtual environment could not be created; the lines above say why."
NO_PACKAGES = """The packages could not be installed. If the network or a proxy is the cause, check
HTTPS_PROXY, or set a mirror in PIP_INDEX_URL (for pip) or UV_DEFAULT_INDEX (for uv). Then run it again."""
NO_PIP = """This Python has neither venv nor pip, so its packages cannot be installed. Any one of these helps:
  - install uv (https://docs.astral.sh/uv/), which needs no root, and run this again
  - on Debian and Ubuntu: apt-get install python3-venv
  - use another Python, 3.11 or newer"""


class BootstrapError(Exception):
    """The environment could not be created; the message says what to do next."""


def environment(root: Path, locks: Sequence[Path]) -> Path:
    """Return the Python of the environment; if it has none of `locks` installed, install the first."""
    venv = root / ".venv"
    python = venv / "bin" / "python"
    if python.exists() and _stamp(venv) in {_expected(venv, lock) for lock in locks if lock.exists()}:
        return python
    if not locks[0].exists():
        raise BootstrapError(
            f"{locks[0].name} is missing. Restore it from the repository, or write it: dev.py lock"
        )
    echo(f"Preparing {venv.name} from {locks[0].name} (first start or changed lock; needs the network once)")
    log = root / ".data" / "logs" / "environment.log"
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.write_text("")
    if not _usable(venv):
        with step("create the virtual environment"):
            _create(venv, log)
    with step("download and install the packages"):
        _install(venv, locks[0], log)
    (venv / STAMP).write_text(_expected(venv, locks[0]))
    return python


def write_locks(root: Path, locks: Mapping[Path, Sequence[str]]) -> None:
    """Resolve pyproject.toml, with these dependency groups, into each lock file."""
    uv = shutil.which("uv")
    if uv is None:
        raise BootstrapError("Writing the locks needs uv (https://docs.astral.sh/uv/) on the PATH.")
    flags = "--universal --python-version 3.11 --generate-hashes --quiet"
    flags += " --no-emit-index-url --no-emit-find-links --no-header"  # which depend on this machine
    for lock, groups in locks.items():
        group_options = [argument for group in groups for argument in ("--group", group)]
        options = [*group_options, *flags.split(), "-o", lock.name]
        command = [uv, "pip", "compile", "pyproject.toml", *options]
        with step(f"resolve {lock.name}"):
            completed = subprocess.run(command, cwd=root, check=False)  # noqa: S603 - arguments from this file
        if completed.returncode:
            raise BootstrapError(f"{lock.name} could not be resolved; uv's message above says why.")


def _expected(venv: Path, lock: Path) -> str:
    # Includes the path: console scripts name their interpreter, so an environment breaks when it is moved.
    return f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {venv}\n"


def _stamp(venv: Path) -> str:
    try:
        return (venv / STAMP).read_text()
    except OSError:
        return ""


def _usable(venv: Path) -> bool:
    """Return whether the environment runs Python 3.11 or newer and has not been moved."""
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        moved = (venv / STAMP).exists() and not _stamp(venv).endswith(f" {venv}\n")
        command = [str(venv / "bin" / "python"), "-c", probe]
        return not moved and subprocess.run(command, check=False).returncode == 0  # noqa: S603 - our own Python
    except OSError:
        return False


def _create(venv: Path, log: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--python", sys.executable, str(venv)], log, NO_VENV)
    elif importlib.util.find_spec("venv") is None:
        raise BootstrapError(NO_PIP)
    elif _imports("ensurepip"):
        _run([sys.executable, "-m", "venv", str(venv)], log, NO_VENV)
    elif _imports("pip"):  # Debian without python3-venv: its own pip can still install into an environment
        command = [sys.executable, "-m", "venv", "--without-pip", str(venv)]
        _run(command, log, NO_VENV)
    else:
        raise BootstrapError(NO_PIP)


def _imports(module: str) -> bool:
    # In a separate process: Debian packages ensurepip separately, and it may be installed in part.
    command = [sys.executable, "-c", f"import {module}"]
    completed = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)  # noqa: S603 - our own Python
    return completed.returncode == 0


def _install(venv: Path, lock: Path, log: Path) -> None:
    (venv / STAMP).unlink(missing_ok=True)
    python, uv = str(venv / "bin" / "python"), shutil.which("uv")
    if uv:
        command = [uv, "pip", "sync", "--python", python, "--require-hashes", str(lock)]
    else:
        has_pip = (venv / "bin" / "pip").exists()
        pip = [python, "-m", "pip"] if has_pip else [sys.executable, "-m", "pip", "--python", python]
        flags = ["--require-hashes", "--no-deps", "--no-input", "--disable-pip-version-check"]
        command = [*pip, "install", *flags, "-r", str(lock)]
    _run(command, log, NO_PACKAGES)


def _run(command: list[str], log: Path, advice: str) -> None:
    """Run a command with its output in the log.

    Raises:
        BootstrapError: it failed; the message has the end of its output, and `advice`.

    """
    with log.open("ab") as output:
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        completed = subprocess.run(  # noqa: S603 - arguments from this file
            command, check=False, stdout=output, stderr=subprocess.STDOUT, env=env
        )
    if completed.returncode:
        tail = "\n".join("  | " + line for line in log.read_text(errors="replace").splitlines()[-12:])
        raise BootstrapError(f"{tail}\n{advice}\nThe full output: {log}")
