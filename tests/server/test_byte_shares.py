from __future__ import annotations

import pytest

from app.domain.errors import RateLimited, Unavailable
from app.server.byte_shares import ByteShares


def test_one_holder_gets_at_most_half_and_another_one_finds_room() -> None:
    shares = ByteShares(100)
    shares.take("one", 30)
    shares.take("one", 20)

    with pytest.raises(RateLimited) as refused:
        shares.take("one", 1)
    shares.take("another", 25)

    assert refused.value.retry_after
    assert shares.free == 25


def test_a_holder_of_nothing_is_told_that_the_service_is_full() -> None:
    shares = ByteShares(100)
    shares.take("one", 50)

    with pytest.raises(Unavailable) as refused:
        shares.take("another", 26)

    assert refused.value.retry_after


def test_bytes_are_given_back_however_the_block_ends() -> None:
    shares = ByteShares(100)

    with pytest.raises(KeyError), shares.hold("one", 50):
        raise KeyError

    assert shares.free == 100
    shares.take("one", 50)


def test_more_than_half_is_never_given() -> None:
    with pytest.raises(Unavailable):
        ByteShares(100).take("one", 51)
