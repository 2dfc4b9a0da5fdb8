"""`dev.py release`: build what a release consists of, with checksums and signatures.

The folder has the Python packages, the zip of the extension, the OpenAPI document, the bill of materials, the
release notes, SHA256SUMS, and Ed25519 signatures of SHA256SUMS and of the zip.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from app.domain.version import VERSION
from tools import extension
from tools.console import echo, step
from tools.manual import site
from tools.release import breaking_changes, changelog, guessing, signing
from tools.state import ROOT, State

EXTENSION = "contact-lookup-extension.zip"
SBOM = "contact-lookup.cdx.json"


class BuildError(RuntimeError):
    """A part of the release was not built."""


def main(argv: list[str]) -> int:
    """Return 0 if the release was built, 1 if something is missing or breaks clients."""
    parser = argparse.ArgumentParser(prog="dev.py release", description=__doc__)
    parser.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="FILE",
        help="the Ed25519 key that signs, as PEM: openssl genpkey -algorithm ed25519 -out FILE",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="(default: .data/release/<version>)")
    options = parser.parse_args(argv)
    folder = (options.out or State.open().path(f"release/{VERSION}")).resolve()
    try:
        build(folder, options.key)
    except (BuildError, changelog.ChangelogError, signing.SigningKeyError, *site.FAULTS) as fault:
        echo(str(fault))
        return 1
    for path in sorted(folder.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:>12,}  {path.name}\n")
    sys.stdout.write(f"Release {VERSION} is in {folder}. After publishing it, copy clients/openapi.json to\n")
    sys.stdout.write("clients/released/openapi.json, so that the next release is compared with this one.\n")
    return 0


def build(folder: Path, key_file: Path) -> None:
    """Build the release in the folder, in place of what is there.

    Raises:
        BuildError: the API breaks clients of the last release, or a tool failed.
        changelog.ChangelogError: CHANGELOG.md has no section of this version.
        signing.SigningKeyError: the key cannot be used.

    """
    key = signing.read_key(key_file)
    notes = changelog.notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)
    if breaking_changes.main():
        raise BuildError("The release was not built.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with step("measure what the server learns about visited websites"):
        rates = guessing.section()
    (folder / "release-notes.md").write_text(f"{notes}\n{rates}", encoding="utf-8")
    shutil.copy(breaking_changes.CURRENT, folder / "openapi.json")
    with step("pack the extension"):
        extension.pack(folder / EXTENSION)
    if not site.is_current():
        with step("build the manual"):
            site.build()
    with step("build the Python packages"):
        _run(["hatchling", "build", "--directory", str(folder)])
    with step("list the dependencies"):
        _run(
            [
                *["cyclonedx_py", "requirements", "requirements.lock", "--pyproject", "pyproject.toml"],
                *["--output-reproducible", "--output-file", str(folder / SBOM)],
            ]
        )
    signing.write_sums(folder)
    signing.sign(folder, key)


def _run(arguments: list[str]) -> None:
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise BuildError(f"{arguments[0]} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
