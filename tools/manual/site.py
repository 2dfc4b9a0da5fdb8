"""Builds the manual with Zensical, and puts it where the app serves it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.console import echo, step
from tools.manual import diagrams, pages
from tools.state import ROOT, Lock, State

CONFIGURATION = ROOT / "tools/manual/zensical.toml"
TARGET = ROOT / "app/manual"
MANIFEST = "manifest.json"
"""The file of the built site with the digest of its sources and the CSP hashes of its inline scripts."""
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)


class BuildError(RuntimeError):
    """Zensical refused to build the site."""


FAULTS = (BuildError, diagrams.MissingDiagramError)
"""What can be wrong with the documentation."""


def sources_digest(root: Path = ROOT) -> str:
    """Return a digest of everything that the site is built from."""
    files = [*(root / "docs").rglob("*"), *(root / path for path in pages.PAGES_OUTSIDE_DOCS)]
    files += [CONFIGURATION, *Path(__file__).parent.glob("*.py")]
    digest = hashlib.sha256()
    for file in sorted(path for path in files if path.is_file()):
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def build_if_changed() -> None:
    """Build the site unless it is current, or another process is building it; report a fault and continue.

    The service works without the manual.
    """
    lock = Lock(State.open().path("manual.lock"))
    try:
        if not is_current() and lock.acquire():
            with step("build the manual"):
                build()
    except FAULTS as fault:
        echo(str(fault))
    finally:
        lock.release()


def is_current() -> bool:
    """Return whether the built site is that of the present sources."""
    try:
        manifest = json.loads((TARGET / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(manifest["sources"] == sources_digest())


def build(target: Path = TARGET) -> int:
    """Build the site in the folder in place of the previous one; return the number of pages.

    Raises:
        BuildError: a page has a fault, such as a link to a page that does not exist.
        diagrams.MissingDiagramError: a diagram has no picture.

    """
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        count = pages.write(project / "docs")
        shutil.copy(CONFIGURATION, project)
        _run_zensical(project)
        _write_manifest(project / "site")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(project / "site", target, dirs_exist_ok=True)
    return count


def _run_zensical(project: Path) -> None:
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise BuildError(f"The manual was not built:\n{done.stdout}{done.stderr}")


def _write_manifest(site: Path) -> None:
    manifest = {"sources": sources_digest(), "script_hashes": sorted(_script_hashes(site))}
    (site / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def _script_hashes(site: Path) -> set[str]:
    """Return the CSP hashes of the inline scripts (https://www.w3.org/TR/CSP3/#grammardef-hash-source)."""
    codes = {
        match["code"]
        for page in site.rglob("*.html")
        for match in _SCRIPT.finditer(page.read_text(encoding="utf-8"))
        if "src=" not in match["attributes"] and "application/json" not in match["attributes"]
    }
    return {f"sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}" for code in codes}
