"""Check the types of the extension with the locked compiler; without Node and npm it says that it did not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.check.vulnerabilities import UNAVAILABLE
from tools.state import ROOT

LOCKED = ("package.json", "package-lock.json")
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
OPTIONS = {
    "allowJs": True,
    "checkJs": True,
    "strict": True,
    "noEmit": True,
    "skipLibCheck": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "lib": ["esnext", "dom", "dom.iterable"],
    "types": ["chrome"],
}


def main(extension: Path = ROOT / "extension", folder: Path = ROOT / ".data" / "extension-types") -> int:
    """Return 0 if the types agree, 1 if they do not, UNAVAILABLE if no compiler could be used."""
    if not all(map(shutil.which, ("node", "npm"))):
        return _not_checked("Node and npm are not installed")
    if not _installed(folder):
        return _not_checked("npm could not install the locked packages")
    found = list(_complaints(_compiled(extension, folder)))
    print("\n".join(found) or "The types of the extension agree.")  # noqa: T201 - a command
    return int(bool(found))


def _not_checked(reason: str) -> int:
    print(f"Not checked: {reason}.")  # noqa: T201 - a command
    return UNAVAILABLE


def _installed(folder: Path) -> bool:
    """Return whether the locked packages are in the folder; install them unless they are."""
    source = Path(__file__).parent
    lock = folder / "package-lock.json"
    is_current = lock.is_file() and lock.read_bytes() == (source / lock.name).read_bytes()
    if is_current and (folder / "node_modules" / "typescript").is_dir():
        return True
    folder.mkdir(parents=True, exist_ok=True)
    for name in LOCKED:
        shutil.copy(source / name, folder)
    done = subprocess.run(INSTALL, cwd=folder, check=False)  # noqa: S603 - the constant above
    return done.returncode == 0


def _compiled(extension: Path, folder: Path) -> Sequence[str]:
    """Return what the compiler prints, with paths relative to the folder around the extension."""
    types = folder / "node_modules" / "@types"
    options = OPTIONS | {"typeRoots": [str(types)]}
    config = folder / "tsconfig.json"
    config.write_text(json.dumps({"compilerOptions": options, "include": [f"{extension}/**/*.js"]}))
    compiler = folder / "node_modules" / "typescript" / "bin" / "tsc"
    command = ["node", str(compiler), "--project", str(config), "--pretty", "false"]
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    done = subprocess.run(  # noqa: S603 - a locked program, on files of this project
        command, cwd=extension.parent, env=environment, check=False, capture_output=True, text=True
    )
    return (done.stdout + done.stderr).splitlines()


def _complaints(lines: Sequence[str]) -> Iterator[str]:
    """Return the lines without those about the library, which is an unchanged file of others."""
    is_ours = True
    for line in lines:
        if not line.startswith(" "):  # else it continues the line before
            is_ours = not line.startswith("extension/vendor/")
        if is_ours:
            yield line


if __name__ == "__main__":
    sys.exit(main())
