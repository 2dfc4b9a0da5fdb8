"""The published company filter files, written in Python and read in JavaScript; the latter needs Node.js.

`python tests/features/company_filter/test_company_filter_vectors.py` writes the vectors again after a change
of the format.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from node_support import run_in_node

from app.domain.normal.hashes import website_hash
from app.engine.lookups.company_filters import SIZES
from app.features.company_filter import file_format, fuse_filter

VECTORS = Path(__file__).parents[3] / "app/domain/data/company_filter_vectors.json"
READER = Path(__file__).with_name("company_filter_reader.mjs")
SEED, ANOTHER_SEED = bytes(range(32)), bytes(32)
VERSION = 1_790_000_000
HASHES = [website_hash(f"site-{number}.example") for number in range(150)]
KNOWN, UNKNOWN = HASHES[:50], HASHES[50:]


def vectors() -> dict[str, Any]:
    """Compute the vectors."""
    keys = [file_format.key_of(digest) for digest in KNOWN]
    filters = [fuse_filter.build(keys, bits) for bits in SIZES]
    return {
        "key": _public(SEED),
        "another_key": _public(ANOTHER_SEED),
        "version": VERSION,
        "known": [digest.hex() for digest in KNOWN],
        "unknown": [digest.hex() for digest in UNKNOWN],
        "files": {str(built.bits): _signed(file_format.encode(built, VERSION)) for built in filters},
        "false_positives": {
            str(built.bits): [digest.hex() for digest in UNKNOWN if file_format.key_of(digest) in built]
            for built in filters
        },
    }


def _signed(unsigned: bytes) -> str:
    return _text(unsigned + Ed25519PrivateKey.from_private_bytes(SEED).sign(unsigned))


def _public(seed: bytes) -> str:
    return _text(Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


@pytest.fixture(scope="module")
def read_in_javascript() -> dict[str, Any]:
    """The results of the extension's reader."""
    answers: dict[str, Any] = run_in_node(READER, VECTORS)
    return answers


def test_the_published_files_are_those_that_python_writes() -> None:
    assert json.loads(VECTORS.read_text(encoding="utf-8")) == vectors()


@pytest.mark.parametrize("bits", ["8", "16"])
def test_javascript_finds_every_known_hash_and_the_same_false_positives(
    read_in_javascript: dict[str, Any], bits: str
) -> None:
    published = json.loads(VECTORS.read_text(encoding="utf-8"))

    read = read_in_javascript[bits]

    assert read["header"] == {"bits": int(bits), "version": VERSION, "entries": len(KNOWN)}
    assert read["known"] == [True] * len(KNOWN)
    found = [
        digest for digest, is_found in zip(published["unknown"], read["unknown"], strict=True) if is_found
    ]
    assert found == published["false_positives"][bits]


@pytest.mark.parametrize("bits", ["8", "16"])
def test_javascript_refuses_changed_files_and_those_of_another_key(
    read_in_javascript: dict[str, Any], bits: str
) -> None:
    read = read_in_javascript[bits]

    assert set(read["refused"]) | {read["another_key"]} == {"InvalidFilter"}


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1) + "\n", encoding="utf-8")
