from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
from polling import wait_until

from app.domain.errors import Unavailable
from app.server import bulkhead
from app.server.bulkhead import MAX_READS, Bulkhead


def test_a_single_workspace_gets_half_of_the_wait_slots() -> None:
    room = Bulkhead(10)

    with ExitStack() as waiting:
        seated = [waiting.enter_context(room.wait_slot("wks_greedy")) for _ in range(7)]

    assert seated == [True] * 5 + [False] * 2


def test_other_workspaces_find_free_wait_slots() -> None:
    room = Bulkhead(10)

    with ExitStack() as waiting:
        for _ in range(7):
            waiting.enter_context(room.wait_slot("wks_greedy"))
        second = [waiting.enter_context(room.wait_slot("wks_second")) for _ in range(4)]
        third = waiting.enter_context(room.wait_slot("wks_third"))

    assert second == [True, True, True, False]
    assert third


def test_a_finished_request_frees_its_wait_slot() -> None:
    room = Bulkhead(2)

    with room.wait_slot("wks_one"):
        pass
    with room.wait_slot("wks_one") as seated:
        assert seated

    assert dict(room._by_workspace) == {}  # noqa: SLF001 -- nothing of a finished waiter is retained


def test_concurrent_database_slots_are_limited() -> None:
    room = Bulkhead()
    gate, inside = threading.Event(), []

    def visit() -> None:
        with room.db_slot():
            inside.append(1)
            gate.wait(10)

    visitors = [threading.Thread(target=visit) for _ in range(MAX_READS + 3)]
    for visitor in visitors:
        visitor.start()
    wait_until(lambda: len(inside) == MAX_READS)
    at_once = len(inside)
    gate.set()
    for visitor in visitors:
        visitor.join()

    assert at_once == MAX_READS
    assert len(inside) == MAX_READS + 3


def test_waiting_for_a_database_slot_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulkhead, "MAX_QUEUE_SECONDS", 0.01)
    room = Bulkhead()

    with ExitStack() as attended:
        for _ in range(MAX_READS):
            attended.enter_context(room.db_slot())

        with pytest.raises(Unavailable), room.db_slot():
            pass
