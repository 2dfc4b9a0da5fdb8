from __future__ import annotations

import hashlib

import pytest

from app.engine.lookups.company_filters import SIZES
from app.features.company_filter import fuse_filter
from app.features.company_filter.fuse_filter import FuseFilter

HASHES = [int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:8]) for number in range(55_000)]
KEYS, OTHERS = HASHES[:5_000], HASHES[5_000:]


@pytest.fixture(scope="module", params=SIZES)
def built(request: pytest.FixtureRequest) -> FuseFilter:
    return fuse_filter.build(KEYS, request.param)


def test_every_key_is_in_the_filter(built: FuseFilter) -> None:
    assert [key for key in KEYS if key not in built] == []


def test_one_in_2_to_the_bits_of_the_other_keys_is_in_it_too(built: FuseFilter) -> None:
    found = sum(key in built for key in OTHERS)

    expected = len(OTHERS) / 2**built.bits
    assert expected - 4 * expected**0.5 <= found <= expected + 4 * expected**0.5 + 1


def test_the_order_and_repetitions_of_the_keys_do_not_matter(built: FuseFilter) -> None:
    assert fuse_filter.build([*reversed(KEYS), *KEYS[:10]], built.bits) == built


@pytest.mark.parametrize("entries", [0, 1, 2, 3, 10, 300])
def test_a_small_filter_has_its_keys_and_few_others(entries: int) -> None:
    small = fuse_filter.build(KEYS[:entries], 16)

    assert small.entries == entries
    assert all(key in small for key in KEYS[:entries])
    assert sum(key in small for key in OTHERS[:2_000]) < 5


def test_keys_that_share_their_positions_are_built_with_another_seed() -> None:
    first = fuse_filter.build([], 8).seed
    pairs = [KEYS[number : number + 2] for number in range(0, 2_000, 2)]

    retried = [(pair, built) for pair in pairs if (built := fuse_filter.build(pair, 8)).seed != first]

    assert retried
    assert all(key in built for pair, built in retried for key in pair)


def test_a_large_filter_takes_less_than_a_quarter_more_than_its_fingerprints() -> None:
    keys = HASHES[:50_000]

    built = fuse_filter.build(keys, 8)

    assert 1.125 < len(built.fingerprints) / len(keys) < 1.25
