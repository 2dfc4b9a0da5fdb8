from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
from polling import wait_until

from app.domain.errors import Unavailable
from app.server import bulkhead as module
from app.server.bulkhead import MAX_READS, Bulkhead


def test_a_single_workspace_gets_half_of_the_wait_slots() -> None:
    bulkhead = Bulkhead(10)

    with ExitStack() as waiting:
        granted = [waiting.enter_context(bulkhead.wait_slot("wks_first")) for _ in range(7)]

    assert granted == [True] * 5 + [False] * 2


def test_other_workspaces_find_free_wait_slots() -> None:
    bulkhead = Bulkhead(10)

    with ExitStack() as waiting:
        for _ in range(7):
            waiting.enter_context(bulkhead.wait_slot("wks_first"))
        second = [waiting.enter_context(bulkhead.wait_slot("wks_second")) for _ in range(4)]
        third = waiting.enter_context(bulkhead.wait_slot("wks_third"))

    assert second == [True, True, True, False]
    assert third


def test_a_finished_request_frees_its_wait_slot() -> None:
    bulkhead = Bulkhead(2)

    with bulkhead.wait_slot("wks_one"):
        pass
    with bulkhead.wait_slot("wks_one") as granted:
        assert granted

    assert dict(bulkhead._by_workspace) == {}  # noqa: SLF001 -- nothing of a finished waiter is retained


def test_concurrent_database_slots_are_limited() -> None:
    bulkhead = Bulkhead()
    gate, holding = threading.Event(), []

    def hold_slot() -> None:
        with bulkhead.db_slot():
            holding.append(1)
            gate.wait(10)

    threads = [threading.Thread(target=hold_slot) for _ in range(MAX_READS + 3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(holding) == MAX_READS)
    concurrent = len(holding)
    gate.set()
    for thread in threads:
        thread.join()

    assert concurrent == MAX_READS
    assert len(holding) == MAX_READS + 3


def test_waiting_for_a_database_slot_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUE_SECONDS", 0.01)
    bulkhead = Bulkhead()

    with ExitStack() as held_slots:
        for _ in range(MAX_READS):
            held_slots.enter_context(bulkhead.db_slot())

        with pytest.raises(Unavailable), bulkhead.db_slot():
            pass
