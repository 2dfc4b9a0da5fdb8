from __future__ import annotations

import os

import pytest

from app.server.connection_counts import ConnectionCount, ConnectionCounts


def counts_of(*connections: int) -> list[ConnectionCount]:
    """Return the counts of processes with these numbers of connections."""
    counts = ConnectionCounts(len(connections))
    added = [count for _ in connections if (count := counts.add())]
    for count, number in zip(added, connections, strict=True):
        count.set(number)
    return added


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (0, [0], False),
        (1, [0], False),
        (2, [0], True),
        (5, [4], False),
        (6, [4], False),
        (7, [4], True),
        (100, [80], False),
        (102, [80], True),
        (7, [7, 9, 4], True),
        (7, [], False),
    ],
)
def test_a_count_is_high_beside_a_process_with_clearly_fewer(
    own: int, others: list[int], expected: object
) -> None:
    count, *_ = counts_of(own, *others)

    assert count.is_high is expected


def test_processes_share_the_counts() -> None:
    parent, child = counts_of(2, 2)

    if (pid := os.fork()) == 0:
        child.set(0)
        os._exit(0)
    os.waitpid(pid, 0)

    assert parent.is_high


def test_the_place_of_a_process_that_has_exited_is_given_to_the_next() -> None:
    counts = ConnectionCounts(2)
    first, second = counts.add(), counts.add()
    assert first is not None
    assert second is not None
    first.set(5)

    first.remove()

    assert not second.is_high
    assert counts.add() == first
    assert counts.add() is None


def test_the_count_of_a_process_that_has_exited_is_not_compared() -> None:
    busy, gone = counts_of(5, 0)

    gone.remove()

    assert not busy.is_high
