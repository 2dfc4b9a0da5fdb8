from __future__ import annotations

import io
from base64 import b64encode, urlsafe_b64encode

import pytest

from app.domain.errors import InvalidValue
from app.domain.suppression_lists import drop_files, hashed_files
from app.domain.suppression_lists.drop_files import DropRow
from app.domain.suppression_lists.hashed_values import hash_of, parse_hash

HASH = hash_of("ada@acme.com")
SLASHES = bytes([255]) * 32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HASH.hex(), HASH),
        (f" {HASH.hex().upper()} ", HASH),
        (b64encode(HASH).decode(), HASH),
        (b64encode(HASH).decode().rstrip("="), HASH),
        (b64encode(SLASHES).decode(), SLASHES),
        (urlsafe_b64encode(SLASHES).decode(), SLASHES),
    ],
)
def test_a_hash_is_read_in_every_form_of_lists(text: str, expected: bytes) -> None:
    assert parse_hash(text) == expected


@pytest.mark.parametrize("text", ["", "ada@acme.com", "ab" * 31, "A" * 42, "A" * 45, "=" * 44])
def test_another_text_is_no_hash(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_hash(text)


def test_one_file_of_a_download_is_read_by_its_name() -> None:
    content = f"ID,Hash\n1,{b64encode(HASH).decode()}\n2,broken\n".encode()

    rows = list(drop_files.rows(io.BytesIO(content), "20260312_4821_Email.csv"))

    assert rows == [
        DropRow("Email", is_removed=False, sha256=HASH, line=2),
        DropRow("Email", is_removed=False, sha256=None, line=3),
    ]


@pytest.mark.parametrize("name", ["emails.csv", "20260312_4821_Names.csv"])
def test_a_file_with_another_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match="Do not rename"):
        list(drop_files.rows(io.BytesIO(b"ID,Hash\n"), name))


def test_a_file_without_hashes_is_refused() -> None:
    with pytest.raises(InvalidValue, match="must contain"):
        list(drop_files.rows(io.BytesIO(b"ID\n1\n"), "20260312_4821_Phone.csv"))


def test_rows_that_are_no_text_are_counted_as_unreadable() -> None:
    content = b"ID,Hash\n1,\xff\xfe\n"

    of_drop = list(drop_files.rows(io.BytesIO(content), "20260312_4821_Email.csv"))
    of_hashes = list(hashed_files.rows(io.BytesIO(b"email\n\xff\xfe\n")))

    assert of_drop == [DropRow("Email", is_removed=False, sha256=None, line=2)]
    assert of_hashes == [("email", None, 2)]
