"""The environment of the programs that the service starts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.infra import child_environment

ROOT = Path(__file__).parents[2]
SECRETS = ("SECRET_KEY", "DATABASE_URL", "HUNTER_API_KEY", "SALESFORCE_CLIENT_SECRET", "SMTP_PASSWORD")


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "concealed")


def test_it_has_no_settings_of_the_service_and_starts_a_program() -> None:
    code = "import os; print(sorted(os.environ.values()))"

    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=child_environment.minimal(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "concealed" not in printed


def test_every_program_is_started_with_an_environment_of_its_own() -> None:
    starts = re.compile(r"subprocess\.(?:Popen|run|check_\w+)\((?:[^()]|\([^()]*\))*\)")
    found = {
        str(file.relative_to(ROOT)): match[0]
        for folder in ("app", "workers")
        for file in (ROOT / folder).rglob("*.py")
        for match in starts.finditer(file.read_text())
    }

    assert found
    assert all("env=" in call for call in found.values())
