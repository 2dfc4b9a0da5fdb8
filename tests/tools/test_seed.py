"""The demo's account and samples, in a new database and in one from a deleted data directory."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import run_flask

from app.settings import Settings
from cli.application import create_app
from tools.state import DEMO_EMAIL, ROOT, State, fingerprint


@pytest.fixture
def url(tmp_path: Path, bare: dict[str, str]) -> str:
    """The URL of a database with empty tables."""
    url = f"sqlite:///{tmp_path}/kept.sqlite3"
    run_flask(bare | environment(url, State.open(Path(bare["DEV_DATA_DIR"]))), "database", "upgrade")
    return url


def environment(url: str, state: State) -> dict[str, str]:
    return {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", **state.secrets()}


def seed(url: str, env: dict[str, str], state: State) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo.seed"],
        env=env | environment(url, state) | {"DEV_DATA_DIR": str(state.directory)},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def sign_in(settings: Settings, url: str, password: str) -> tuple[int, dict[str, Any]]:
    app = create_app(dataclasses.replace(settings, database_url=url))
    response = app.test_client().post("/api/ext/login", json={"email": DEMO_EMAIL, "password": password})
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()
    return response.status_code, response.get_json()


@pytest.mark.slow
def test_a_demo_account_from_a_deleted_data_directory_is_taken_over(
    bare: dict[str, str], url: str, settings: Settings, tmp_path: Path
) -> None:
    first, second = State.open(tmp_path / "first"), State.open(tmp_path / "second")
    seed(url, bare, first)

    seed(url, bare, second)

    status, body = sign_in(settings, url, second.secrets()["DEMO_PASSWORD"])
    assert (status, body["credits"]["balance"]) == (200, 250)
    assert sign_in(settings, url, first.secrets()["DEMO_PASSWORD"])[0] == 401
    seeded = second.read("seeded.json")[fingerprint(url)]
    assert (seeded["taken_over"], seeded["complete"]) == (True, True)
    assert "taken_over" not in first.read("seeded.json")[fingerprint(url)]


def test_the_seeding_record_of_a_deleted_database_is_deleted(state: State) -> None:
    state.write("seeded.json", {fingerprint("sqlite:///gone"): {"complete": True}, "other": {}})

    state.forget_seeding("sqlite:///gone")

    assert state.read("seeded.json") == {"other": {}}
