"""The import folder: which files are found, and that no name or link leads out of it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.features.imports import import_folder
from app.features.imports.import_folder import DONE, REJECTED, FileUnusableError, FoundFile, ImportFolder

TEXT = b"Name,Email\nAda,ada@acme.example\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "lists"
    path.mkdir()
    return path


@pytest.fixture
def folder(path: Path) -> Iterator[ImportFolder]:
    with import_folder.opened(str(path)) as folder:
        yield folder


def the_file(folder: ImportFolder) -> FoundFile:
    (found,) = folder.files()
    return found


def test_lists_are_found_in_the_order_of_their_names(path: Path, folder: ImportFolder) -> None:
    for name in ("b.csv", "A.TSV", "c.txt"):
        (path / name).write_bytes(TEXT)

    assert [file.name for file in folder.files()] == ["A.TSV", "b.csv", "c.txt"]


def test_other_files_and_links_are_left_alone(tmp_path: Path, path: Path, folder: ImportFolder) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_bytes(TEXT)
    (path / "link.csv").symlink_to(outside)
    (path / "hard.csv").hardlink_to(outside)
    (path / "folder.csv").mkdir()
    os.mkfifo(path / "pipe.csv")
    for name in (".hidden.csv", "book.xlsx", "no-ending", "line\nbreak.csv"):
        (path / name).write_bytes(TEXT)

    assert not folder.files()


def test_a_file_that_is_taken_away_while_the_folder_is_read_is_left_out(
    path: Path, folder: ImportFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_away(name: str) -> bool:
        (path / "a.csv").unlink(missing_ok=True)
        return name == "a.csv"

    (path / "a.csv").write_bytes(TEXT)
    monkeypatch.setattr(import_folder, "is_list_name", take_away)

    assert folder.files() == []


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd.csv", ".x.csv", "a/b.csv"])
def test_no_name_leads_out_of_the_folder(folder: ImportFolder, name: str) -> None:
    with pytest.raises(FileUnusableError, match="not valid"):
        folder.open(FoundFile(name, 1, 1))


def test_a_file_that_became_a_link_is_not_opened(tmp_path: Path, path: Path, folder: ImportFolder) -> None:
    (path / "a.csv").write_bytes(TEXT)
    found = the_file(folder)
    (path / "a.csv").rename(tmp_path / "a.csv")
    (path / "a.csv").symlink_to(tmp_path / "a.csv")

    with pytest.raises(FileUnusableError, match="is a link"):
        folder.open(found)


def test_a_file_that_may_not_be_read_is_named_as_such(
    path: Path, folder: ImportFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path / "a.csv").write_bytes(TEXT)
    found = the_file(folder)
    monkeypatch.setattr(import_folder.os, "open", _not_permitted)  # root may read every file

    with pytest.raises(FileUnusableError, match="may not read the file"):
        folder.open(found)


def _not_permitted(*_arguments: object, **_options: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_file_that_was_changed_is_not_opened(path: Path, folder: ImportFolder) -> None:
    (path / "a.csv").write_bytes(TEXT)
    found = the_file(folder)
    (path / "a.csv").write_bytes(TEXT + TEXT)

    with pytest.raises(FileUnusableError, match="was changed"):
        folder.open(found)


def test_an_unchanged_file_is_opened(path: Path, folder: ImportFolder) -> None:
    (path / "a.csv").write_bytes(TEXT)

    with folder.open(the_file(folder)) as file:
        assert file.read() == TEXT


def test_a_staged_file_appears_once_it_is_complete(path: Path, folder: ImportFolder) -> None:
    staged = folder.stage("a.csv", io.BytesIO(TEXT))
    before = folder.files()
    folder.reveal("a.csv")

    assert (before, folder.files()) == ([], [staged])
    assert sorted(file.name for file in path.iterdir() if file.is_file()) == ["a.csv"]


def test_a_staged_file_replaces_no_other(path: Path, folder: ImportFolder) -> None:
    (path / "a.csv").write_bytes(TEXT)
    folder.stage("a.csv", io.BytesIO(b"other"))

    with pytest.raises(FileExistsError):
        folder.reveal("a.csv")
    assert (path / "a.csv").read_bytes() == TEXT


def test_processed_files_are_moved_with_what_belongs_to_them(path: Path, folder: ImportFolder) -> None:
    (path / "a.csv").write_bytes(TEXT)
    with folder.continued("rejects.csv", 0) as file:
        file.write(b"line\n1\n2\n")
    with folder.continued("rejects.csv", 5) as file:
        file.write(b"3\n")

    before = folder.place_of("1-a.csv")
    folder.move("a.csv", DONE, "1-a.csv")
    folder.move("a.csv", DONE, "1-a.csv")
    folder.publish("rejects.csv", DONE, "1-a.csv.rejected.csv")
    folder.publish("rejects.csv", DONE, "1-a.csv.rejected.csv")
    folder.write(REJECTED, "report", b"{}")

    assert (before, folder.place_of("1-a.csv")) == (None, DONE)
    assert (path / "done" / "1-a.csv.rejected.csv").read_bytes() == b"line\n3\n"
    assert (path / "rejected" / "report").read_bytes() == b"{}"
    assert all((path / place).stat().st_mode & 0o077 == 0 for place in ("done", "rejected", "working"))


def test_a_folder_for_processed_files_that_is_a_link_is_refused(tmp_path: Path, path: Path) -> None:
    (path / "done").symlink_to(tmp_path)

    with pytest.raises(OSError, match="done"), import_folder.opened(str(path)):
        pass


def test_a_missing_folder_is_an_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError), import_folder.opened(str(path / "missing")):
        pass
