"""The directory of `flask backup stream`; `dev.py chaos --only R15` streams and recovers a real server."""

from __future__ import annotations

import io
import json
import shlex
import stat
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.features.backup.copies.archive import BackupError
from app.features.backup.copies.wal import WalDirectory

SEGMENT_BYTES = 16 * 1024 * 1024


@pytest.fixture
def directory(tmp_path: Path) -> WalDirectory:
    """A directory with three base backups, and the segments 1 to 6 and an unfinished one."""
    directory = WalDirectory(tmp_path)
    directory.prepare()
    for day, start in ((1, "0/2000028"), (2, "0/4000060"), (3, "0/6000028")):
        add_base(tmp_path / f"base-2026110{day}T030000Z", start)
    for number in range(1, 7):
        add_segment(directory, f"0000000100000000{number:08X}")
    add_segment(directory, f"0000000100000000{7:08X}.partial")
    return directory


def add_base(base: Path, start: str) -> None:
    base.mkdir()
    (base / "backup_manifest").write_text(json.dumps({"WAL-Ranges": [{"Timeline": 1, "Start-LSN": start}]}))
    with tarfile.open(base / "base.tar.gz", "w:gz") as archive:
        content = base.name.encode()
        member = tarfile.TarInfo("backup_label")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def add_segment(directory: WalDirectory, name: str) -> None:
    with (directory.wal / name).open("wb") as file:
        file.truncate(SEGMENT_BYTES)


def segments(directory: WalDirectory) -> list[int]:
    return sorted(int(file.name[16:24], 16) for file in directory.wal.iterdir())


def test_pruning_keeps_what_the_oldest_kept_base_backup_needs(directory: WalDirectory) -> None:
    directory.prune(2)

    assert [base.name for base in directory.bases()] == ["base-20261102T030000Z", "base-20261103T030000Z"]
    assert segments(directory) == [4, 5, 6, 7]


def test_pruning_without_old_base_backups_keeps_them(directory: WalDirectory) -> None:
    directory.prune(5)

    assert len(directory.bases()) == 3
    assert segments(directory) == [2, 3, 4, 5, 6, 7]


def test_pruning_deletes_no_segment_that_is_being_written_nor_a_history(tmp_path: Path) -> None:
    """`pg_receivewal` fills a new segment with zeros first; its size says nothing then."""
    directory = WalDirectory(tmp_path)
    directory.prepare()
    add_base(tmp_path / "base-20261101T030000Z", "0/4000028")
    for name in ("000000020000000000000004.partial", "00000002.history"):
        (directory.wal / name).write_bytes(b"1")

    directory.prune(2)

    assert len(list(directory.wal.iterdir())) == 2


def test_an_unfinished_base_backup_is_not_used(directory: WalDirectory) -> None:
    add_base(directory.path / "base-20261104T030000Z.partial", "0/7000028")
    (directory.path / "base-20261105T030000Z").mkdir()

    assert directory.newest_base_at() == datetime(2026, 11, 3, 3, tzinfo=UTC)


def test_recovery_unpacks_the_newest_base_backup_and_names_the_wal(
    directory: WalDirectory, tmp_path: Path
) -> None:
    data = tmp_path / "data"

    base = directory.recover(data)

    assert (data / "backup_label").read_text() == base.name == "base-20261103T030000Z"
    assert (data / "recovery.signal").exists()
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    settings = (data / "postgresql.auto.conf").read_text()
    assert f"restore_command = 'cp {directory.wal}/%f %p 2>/dev/null || cp " in settings
    assert f"{directory.wal}/%f.partial %p'" in settings
    assert "recovery_target_time" not in settings


def test_recovery_to_a_time_takes_the_base_backup_before_it(directory: WalDirectory, tmp_path: Path) -> None:
    base = directory.recover(tmp_path / "data", datetime(2026, 11, 2, 12, tzinfo=UTC))

    assert base.name == "base-20261102T030000Z"
    settings = (tmp_path / "data" / "postgresql.auto.conf").read_text()
    assert "recovery_target_time = '2026-11-02 12:00:00+00:00'" in settings


def test_a_path_with_a_quote_is_quoted_for_the_shell_and_the_server(tmp_path: Path) -> None:
    directory = WalDirectory(tmp_path / "it's here")
    directory.path.mkdir()
    directory.prepare()
    add_base(directory.path / "base-20261101T030000Z", "0/2000028")

    directory.recover(tmp_path / "data")

    line = (tmp_path / "data" / "postgresql.auto.conf").read_text().splitlines()[0]
    command = line.removeprefix("restore_command = '").removesuffix("'").replace("''", "'")
    assert shlex.split(command)[:2] == ["cp", f"{directory.wal}/%f"]


def test_data_that_exists_is_never_overwritten(directory: WalDirectory, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").touch()

    with pytest.raises(BackupError, match=r"data is not empty\. Name a new data directory"):
        directory.recover(tmp_path / "data")


def test_another_server_may_not_stream_into_a_recovered_directory(
    directory: WalDirectory, tmp_path: Path
) -> None:
    directory.recover(tmp_path / "data")

    with pytest.raises(BackupError, match="Stream the new server into another directory"):
        directory.prepare()


def test_a_directory_without_a_base_backup_cannot_be_recovered(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="has no complete base backup"):
        WalDirectory(tmp_path).recover(tmp_path / "data")
