"""A feature is deleted with its folder and its line in the registry: the rest starts, and its tests pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.feature_registry import FEATURES
from tools.state import ROOT

COPIED = (
    "app",
    "cli",
    "clients",
    "docs",
    "extension",
    "mcp_server",
    "tests",
    "tools",
    "workers",
    "benchmarks",
)
TESTS_OF_THE_REST = (
    "tests/api/ops",
    "tests/api/test_erased_people.py",
    "tests/api/all_endpoints/test_who_may_what.py",
    "tests/cli/lists/test_contacts_cli.py",
    "tests/engine/audit/test_audits.py",
    "tests/engine/mentions",
    "tests/engine/privacy/test_erasure.py",
    "tests/engine/privacy/test_reencryption.py",
    "tests/engine/privacy/test_reencrypted_secrets.py",
    "tests/isolation/test_hidden_everywhere.py",
    "tests/workers/jobs/test_by_hash_jobs.py",
    "tests/workers/jobs/test_upkeep.py",
    "tests/pages/test_admin_pages.py",
    "tests/pages/test_events_page.py",
    "tests/pages/test_keys_page.py",
    "tests/pages/test_recorded_once.py",
    "tests/pages/test_search_page.py",
    "tests/pages/test_sign_in.py",
    "tests/pages/test_who_may_see_what.py",
    "tests/web",
)
TESTED_WITHOUT = os.environ.get("TESTED_WITHOUT", "crm,uploads")
"""The features without which the tests of the rest run too, deleted together: the run takes minutes."""
START = """
import sys

from app.factory import create_app
from cli.commands import Commands
from workers import main

create_app()
commands = Commands()
names = commands.list_commands(None)
for name in names:
    commands.get_command(None, name)
print(sys.argv[1] in names)
"""
"""Loads the application, the workers and every command."""


@pytest.fixture
def without(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the source without the features of the parameter and their lines in the registry."""
    features: list[str] = request.param.split(",")
    for name in COPIED:
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for feature in features:
        shutil.rmtree(tmp_path / "app" / "features" / feature)
        shutil.rmtree(tmp_path / "tests" / "features" / feature)
    registry = tmp_path / "app" / "feature_registry.py"
    lines = registry.read_text(encoding="utf-8").splitlines(keepends=True)
    deleted = {f'    "{feature}",\n' for feature in features}
    registry.write_text("".join(line for line in lines if line not in deleted), encoding="utf-8")
    return tmp_path


@pytest.mark.release
@pytest.mark.parametrize(
    ("without", "feature"), list(zip(FEATURES, FEATURES, strict=True)), indirect=["without"]
)
def test_without_a_feature_the_service_starts(without: Path, feature: str) -> None:
    started = _run(without, "-c", START, feature)

    assert started.stdout.splitlines()[-1:] == ["False"], started.stderr


@pytest.mark.release
@pytest.mark.parametrize("without", [TESTED_WITHOUT], indirect=True)
def test_without_features_the_tests_of_the_rest_pass(without: Path) -> None:
    others = str(without / "tests" / "features")
    selected = ("-m", "not slow and not release", *TESTS_OF_THE_REST, others)

    tested = _run(without, "-m", "pytest", "-q", "-n0", "--no-cov", *selected)

    assert tested.returncode == 0, tested.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy, with the settings of this test run."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
