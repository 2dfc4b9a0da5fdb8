"""The n8n node: its types are generated, it is compiled and linted by n8n's tool, and packed by npm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tools.clients.commands import ClientError, run
from tools.clients.typescript_client import QUIET, InstallError
from tools.state import ROOT

SOURCE = ROOT / "clients" / "n8n"
WALK = "walk.cjs"
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "schema.ts", "build-tools")


def build(document: dict[str, Any], folder: Path) -> Path:
    """Build and lint the node in an empty folder, and return the folder of the package, with its `.tgz`.

    The packages of n8n's tool are locked in `build-tools`, because the package of a node may not replace
    those that nothing here needs; those that are installed there are used, if any.

    Raises:
        InstallError: the packages that it needs could not be downloaded.
        ClientError: a tool failed.

    """
    package = folder / "n8n"
    shutil.copytree(SOURCE, package, ignore=LEFT_OUT)
    (folder / "openapi.json").write_text(json.dumps(document))
    _install(package)
    for script in ("build", "lint"):
        run("npm", "run", "--silent", script, cwd=package, CI="1")
    run("npm", "pack", "--silent", "--ignore-scripts", cwd=package)
    return package


def _install(package: Path) -> None:
    tools = SOURCE / "build-tools"
    if not (tools / "node_modules").is_dir():
        tools = Path(shutil.copytree(tools, package.parent / "build-tools"))
        try:
            run("npm", "ci", *QUIET, cwd=tools)
        except ClientError as error:
            raise InstallError(str(error)) from error
    (package / "node_modules").symlink_to(tools / "node_modules")
