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
    done = run_seed(url, env, state)
    assert done.returncode == 0, done.stderr


def run_seed(url: str, env: dict[str, str], state: State) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.demo.seed"],
        env=env | environment(url, state) | {"DEV_DATA_DIR": str(state.directory)},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )


def sign_in(settings: Settings, url: str, password: str) -> tuple[int, dict[str, Any]]:
    app = create_app(dataclasses.replace(settings, database_url=url))
    response = app.test_client().post("/api/ext/login", json={"email": DEMO_EMAIL, "password": password})
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()
    return response.status_code, response.get_json()


@pytest.mark.release
def test_a_demo_account_from_a_deleted_data_directory_is_taken_over(
    bare: dict[str, str], url: str, settings: Settings, tmp_path: Path
) -> None:
    first, second = State.open(tmp_path / "first"), State.open(tmp_path / "second")
    kept = {name: first.secrets()[name] for name in ("SECRET_KEY", "SUPPRESSION_KEY")}  # with the database
    second.write("secrets.json", kept)
    seed(url, bare, first)

    seed(url, bare, second)

    status, body = sign_in(settings, url, second.secrets()["DEMO_PASSWORD"])
    assert (status, body["credits"]["balance"]) == (200, 250)
    assert sign_in(settings, url, first.secrets()["DEMO_PASSWORD"])[0] == 401
    seeded = second.read("seeded.json")[fingerprint(url)]
    assert (seeded["taken_over"], seeded["complete"]) == (True, True)
    assert "taken_over" not in first.read("seeded.json")[fingerprint(url)]


@pytest.mark.release
def test_a_database_whose_keys_are_lost_is_reported(bare: dict[str, str], url: str, tmp_path: Path) -> None:
    seed(url, bare, State.open(tmp_path / "first"))

    done = run_seed(url, bare, State.open(tmp_path / "second"))

    assert done.returncode == 1
    assert "cannot be decrypted: its key is not in ENCRYPTION_KEYS, SECRET_KEY was replaced" in done.stderr


def test_the_seeding_record_of_a_deleted_database_is_deleted(state: State) -> None:
    state.write("seeded.json", {fingerprint("sqlite:///gone"): {"complete": True}, "other": {}})

    state.forget_seeding("sqlite:///gone")

    assert state.read("seeded.json") == {"other": {}}
