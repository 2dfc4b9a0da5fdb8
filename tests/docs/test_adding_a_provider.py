"""The steps of CONTRIBUTING.md to add a provider, followed in a copy of the code, with the whole suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import code_blocks
from vendor_recording import CASES

from tools.state import ROOT

LINKED = ("app", "docs", "pyproject.toml")
COPIED = ("workers", "tests/workers/providers")
CLASSES = "PROVIDERS: tuple[type[Provider], ...] = (\n"
WITHOUT_REPLY = {"never_ready"}
"""The cases that the example's vendor does not have: it answers at once."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy in which steps 1, 3 and 4 were followed."""
    provider, recording = code_blocks("CONTRIBUTING.md", "python")
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "workers/providers/acme.py").write_text(provider)
    registry = tmp_path / "workers/providers/registry.py"
    text = registry.read_text().replace(CLASSES, f"{CLASSES}    Acme,\n")
    imported = "from workers.providers.apollo import Apollo\n"
    registry.write_text(text.replace(imported, f"from workers.providers.acme import Acme\n{imported}"))
    (tmp_path / "tests/workers/providers/recordings/acme_recording.py").write_text(recording)
    return tmp_path


def suite(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ["-p", "no:randomly", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "tests/workers/providers/test_conformance.py", *options],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_example_passes_the_whole_conformance_suite(checkout: Path) -> None:
    ran = suite(checkout, "-k", "acme or suite_covers")

    assert ran.returncode == 0, ran.stdout
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("acme/email "))
    states = dict(cell.rsplit(" ", 1) for cell in line.removeprefix("acme/email").strip().split("  "))
    assert states == {case: "ok" for case in CASES if case not in WITHOUT_REPLY}


@pytest.mark.slow
def test_a_registered_provider_without_a_recording_fails_the_suite(checkout: Path) -> None:
    (checkout / "tests/workers/providers/recordings/acme_recording.py").unlink()

    ran = suite(checkout, "-k", "suite_covers")

    assert ran.returncode == 1
    assert "acme" in ran.stdout
