from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.domain.errors import RateLimited, Unavailable
from app.server.spool import PIECE_BYTES, Spool, SpooledBody

CONTENT = b"Ada Lovelace;ada@acme.com\n" * 10_000
UNTIL_KILLED = """
import sys
from pathlib import Path
from app.server.spool import Spool

class Source:
    def read(self, size):
        print("reading", flush=True)
        return b"x" * size if sys.stdin.readline() else b""

with Spool(Path(sys.argv[1]), 10_000_000).receive(Source(), 5_000_000, "one"):
    pass
"""


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "data" / "spool", 4 * len(CONTENT))


class Failing(io.BytesIO):
    """A client that disconnects after the first piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise ConnectionResetError
        return super().read(size)


def test_a_body_is_read_as_it_was_sent(spool: Spool) -> None:
    with spool.receive(io.BytesIO(CONTENT), len(CONTENT), "one") as body:
        pieces = [body.read(100), body.read()]

    assert b"".join(pieces) == CONTENT
    assert body.length == len(CONTENT)


def test_no_more_is_read_than_the_announced_length(spool: Spool) -> None:
    source = io.BytesIO(CONTENT)

    with spool.receive(source, 10, "one") as body:
        assert body.read() == CONTENT[:10]

    assert source.tell() == 10


def test_a_body_that_ends_early_has_another_length(spool: Spool) -> None:
    with spool.receive(io.BytesIO(CONTENT), len(CONTENT) + 1, "one") as body:
        assert body.length == len(CONTENT)


def test_a_file_has_no_name_and_only_its_owner_may_enter_the_folder(tmp_path: Path, spool: Spool) -> None:
    with spool.receive(io.BytesIO(CONTENT), len(CONTENT), "one"):
        names = list((tmp_path / "data" / "spool").iterdir())

    assert names == []
    assert (tmp_path / "data" / "spool").stat().st_mode & 0o777 == 0o700


def test_the_disk_has_no_readable_byte_of_a_body(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+b") as file:
        for _ in range(2):  # the same body twice, under another key
            SpooledBody(file).write(CONTENT)
        file.seek(0)
        stored = file.read()

    assert len(stored) == 2 * len(CONTENT)
    assert b"Lovelace" not in stored
    assert stored[: len(CONTENT)] != stored[len(CONTENT) :]


def test_a_sender_whose_share_is_used_is_refused_before_anything_is_read(spool: Spool) -> None:
    source = io.BytesIO(CONTENT)

    with (
        spool.receive(io.BytesIO(CONTENT), 2 * len(CONTENT), "one"),
        pytest.raises(RateLimited),
        spool.receive(source, len(CONTENT), "one"),
    ):
        pytest.fail("it was received")

    assert source.tell() == 0


def test_the_room_of_a_client_that_disconnects_is_free_again(spool: Spool) -> None:
    before = spool.free

    with pytest.raises(ConnectionResetError), spool.receive(Failing(CONTENT), PIECE_BYTES * 2, "one"):
        pytest.fail("it was received")

    assert spool.free == before


def test_a_folder_that_cannot_be_created_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spool = Spool(tmp_path / "file" / "spool", 1000)

    with pytest.raises(Unavailable, match="unavailable"), spool.receive(io.BytesIO(b"x"), 1, "one"):
        pytest.fail("it was received")

    assert spool.free == 1000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has this device")
def test_a_full_disk_is_unavailable() -> None:
    with open("/dev/full", "r+b", buffering=0) as full:  # noqa: PTH123 - a device
        body = SpooledBody(full)

        with pytest.raises(Unavailable):
            body.write(CONTENT)


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", UNTIL_KILLED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n" * 3)
        process.stdin.flush()
        for _ in range(4):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)

    assert list(tmp_path.iterdir()) == []
