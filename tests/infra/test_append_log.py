from __future__ import annotations

from pathlib import Path

import pytest

from app.infra import append_log


def test_lines_are_appended_to_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "log"

    append_log.append(file, ["one", "zwei ü"])
    append_log.append(file, ["three"])

    assert file.read_text(encoding="utf-8") == "one\nzwei ü\nthree\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_line_that_was_left_unfinished_does_not_damage_the_next(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("one\ntw")

    append_log.append(file, ["three"])

    assert file.read_text() == "one\ntw\nthree\n"


def test_a_file_in_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        append_log.append(tmp_path / "missing" / "log", ["one"])
