"""The TypeScript client: its types are generated, compiled with the walk by tsc, and packed by npm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tools.clients.commands import ClientError, run
from tools.state import ROOT

SOURCE = ROOT / "clients" / "typescript"
WALK = Path("build") / "walk.js"
QUIET = ("--no-audit", "--no-fund", "--ignore-scripts")


class InstallError(ClientError):
    """The locked npm packages could not be downloaded; the message has the output of npm."""


def is_possible() -> bool:
    """Return whether Node and npm are installed."""
    return all(shutil.which(program) for program in ("node", "npm"))


def build(document: dict[str, Any], folder: Path) -> Path:
    """Generate the types into an empty folder, compile them and the walk, and return the package.

    Raises:
        InstallError: the packages that it needs could not be downloaded.
        ClientError: a tool failed.

    """
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "openapi.json").write_text(json.dumps(document))
    try:
        run("npm", "ci", *QUIET, cwd=folder)
    except ClientError as error:
        raise InstallError(str(error)) from error
    for script in ("generate", "build", "build-walk"):
        run("npm", "run", "--silent", script, cwd=folder)
    run("npm", "pack", "--silent", cwd=folder)
    (package,) = folder.glob("*.tgz")
    return package
