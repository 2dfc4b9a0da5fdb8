"""What `flask doctor` says about the spool."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import pytest

from app.settings import Settings
from cli.checks import spool
from cli.checks.findings import Finding, Level

IN_MEMORY = Path("/dev/shm")  # noqa: S108 - Linux's directory in memory


def finding(settings: Settings, folder: Path, **changes: int) -> Finding:
    (only,) = spool.findings(dataclasses.replace(settings, spool_folder=str(folder), **changes))
    return only


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    if spool._filesystem(tmp_path) in spool.IN_MEMORY:  # noqa: SLF001 - where the machine keeps its files
        pytest.skip("the temporary directory of this machine is in memory")
    return tmp_path


def test_a_folder_on_a_disk_is_good_also_before_it_exists(settings: Settings, disk: Path) -> None:
    found = finding(settings, disk / "data" / "spool", spool_max_mb=1)

    assert (found.level, found.state) == (Level.OK, f"{disk}/data/spool is on a disk")
    assert list(disk.glob("data")) == []


@pytest.mark.skipif(not IN_MEMORY.is_dir(), reason="Linux has this directory")
def test_a_folder_in_memory_is_reported(settings: Settings) -> None:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        found = finding(settings, Path(folder) / "spool", spool_max_mb=1)

    assert (found.level, "is in memory (tmpfs)" in found.state) == (Level.WARNING, True)


def test_a_folder_that_cannot_be_written_to_is_an_error(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    found = finding(settings, tmp_path / "file")

    assert (found.level, found.what) == (Level.ERROR, "SPOOL_FOLDER")


def test_a_disk_with_less_room_than_the_setting_is_reported(settings: Settings, disk: Path) -> None:
    found = finding(settings, disk, spool_max_mb=10**9)

    assert (found.level, "less than SPOOL_MAX_MB=1000000000" in found.state) == (Level.WARNING, True)
