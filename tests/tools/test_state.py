from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tools.services import environment
from tools.state import DEMO_EMAIL, Lock, State


def test_secrets_are_generated_once_and_only_the_owner_can_read_them(state: State) -> None:
    first = state.secrets()

    assert state.secrets() == first
    assert stat.S_IMODE(state.path("secrets.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.directory.stat().st_mode) == 0o700
    assert len(first["SECRET_KEY"]) >= 32
    assert len(first["SUPPRESSION_KEY"]) >= 32


def test_clearing_the_state_deletes_all_but_the_logs(state: State) -> None:
    before = state.secrets()
    state.database.write_text("data")
    state.path("valkey").mkdir()
    (state.logs / "web.log").write_text("line")

    state.clear()

    assert {entry.name for entry in state.directory.iterdir()} == {"logs"}
    assert state.secrets() != before


def test_a_lock_has_one_holder_and_can_be_acquired_again_after_its_release(state: State) -> None:
    first, second = Lock(state.path("up.lock")), Lock(state.path("up.lock"))

    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_variables_of_the_caller_stay_and_missing_ones_are_filled_in(state: State) -> None:
    env = environment.for_children(
        state,
        {"DATABASE_URL": "postgresql://there/it", "SECRET_KEY": "", "OTHER": "kept"},
        redis_url="redis://r",
        web_bind="fd://8",
        flower_port=5123,
    )

    assert env["DATABASE_URL"] == "postgresql://there/it"
    assert env["SECRET_KEY"] == state.secrets()["SECRET_KEY"]
    assert (env["REDIS_URL"], env["OTHER"]) == ("redis://r", "kept")
    assert env["WEB_BIND"] == "fd://8"
    assert (env["FLOWER_PORT"], env["FLOWER_ADDRESS"]) == ("5123", "127.0.0.1")
    assert env["FLOWER_BASIC_AUTH"]


def test_the_default_database_is_a_file_in_the_data_directory(state: State) -> None:
    env = environment.for_children(state, {}, redis_url="redis://r")

    assert env["DATABASE_URL"] == f"sqlite:///{state.database}"


def test_the_account_of_the_demo_is_an_operator_unless_others_are_named(state: State) -> None:
    default = environment.for_children(state, {}, redis_url="redis://r")
    chosen = environment.for_children(state, {"OPERATORS": "ada@acme.example"}, redis_url="redis://r")

    assert (default["OPERATORS"], chosen["OPERATORS"]) == (DEMO_EMAIL, "ada@acme.example")


def test_a_data_directory_that_cannot_be_created_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(SystemExit, match=r"file/data cannot be written: Not a directory\."):
        State.open(tmp_path / "file" / "data")
