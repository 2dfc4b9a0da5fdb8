"""The n8n node: its types are generated, it is compiled and linted by n8n's tool, and packed by npm."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.clients import document
from tools.clients.commands import ClientError, run
from tools.clients.typescript_client import QUIET, InstallError
from tools.console import echo, step
from tools.state import ROOT, State

SOURCE = ROOT / "clients" / "n8n"
WALK = "walk.cjs"
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "schema.ts", "build-tools")


def build(specification: dict[str, Any], folder: Path) -> Path:
    """Build and lint the node in an empty folder, and return the folder of the package, with its `.tgz`.

    The packages of n8n's tool are locked in `build-tools`, because the package of a node may not replace
    those that nothing here needs; those that are installed there are used, if any.

    Raises:
        InstallError: the packages that it needs could not be downloaded.
        ClientError: a tool failed.

    """
    package = folder / "n8n"
    shutil.copytree(SOURCE, package, ignore=LEFT_OUT)
    (folder / "openapi.json").write_text(json.dumps(specification))
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


def main() -> int:
    """Write the package to `.data/clients`; return 1 if that failed."""
    target = State.open().path("clients")
    target.mkdir(exist_ok=True)
    specification = json.loads(document.PATH.read_text(encoding="utf-8"))
    try:
        with step(f"build {SOURCE.relative_to(ROOT)}"), tempfile.TemporaryDirectory() as folder:
            [package] = build(document.for_generators(specification), Path(folder)).glob("*.tgz")
            built = shutil.copy(package, target)
    except ClientError as error:
        echo(str(error))
        return 1
    sys.stdout.write(f"{built}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
