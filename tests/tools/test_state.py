from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tools.services import environment, procfile
from tools.state import Lock, State


def test_secrets_are_made_once_and_only_their_owner_can_read_them(state: State) -> None:
    first = state.secrets()

    assert state.secrets() == first
    assert stat.S_IMODE(state.path("secrets.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(state.directory.stat().st_mode) == 0o700
    assert len(first["SECRET_KEY"]) >= 32
    assert len(first["SUPPRESSION_KEY"]) >= 32


def test_starting_afresh_forgets_all_but_the_logs(state: State) -> None:
    before = state.secrets()
    state.database.write_text("data")
    state.path("valkey").mkdir()
    (state.logs / "web.log").write_text("line")

    state.clear()

    assert {entry.name for entry in state.directory.iterdir()} == {"logs"}
    assert state.secrets() != before


def test_a_lock_is_held_once_and_free_again_after_its_release(state: State) -> None:
    first, second = Lock(state.path("up.lock")), Lock(state.path("up.lock"))

    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_what_the_caller_set_stays_and_the_rest_is_filled_in(state: State) -> None:
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


def test_the_database_is_a_file_of_ours_unless_one_is_named(state: State) -> None:
    env = environment.for_children(state, {}, redis_url="redis://r")

    assert env["DATABASE_URL"] == f"sqlite:///{state.database}"


def test_a_procfile_is_read_in_its_order_without_comments(tmp_path: Path) -> None:
    file = tmp_path / "Procfile"
    file.write_text(
        "# note\nrelease: migrate\n\nweb: serve --bind ${WEB_BIND:-0.0.0.0:80}  \nworker_1: work\n"
    )

    assert list(procfile.read(file).items()) == [
        ("release", "migrate"),
        ("web", "serve --bind ${WEB_BIND:-0.0.0.0:80}"),
        ("worker_1", "work"),
    ]


def test_a_procfile_names_a_process_once(tmp_path: Path) -> None:
    file = tmp_path / "Procfile"
    file.write_text("web: one\nweb: two\n")

    with pytest.raises(ValueError, match="web twice"):
        procfile.read(file)
