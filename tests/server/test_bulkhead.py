from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from polling import wait_until

from app.domain.errors import Unavailable
from app.server import bulkhead as module
from app.server.bulkhead import (
    CROWD,
    MAX_READS,
    MAX_TURNS,
    MAX_WRITES,
    PAUSE_SECONDS,
    Bulkhead,
    Crowds,
    FairSlots,
)


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


def test_concurrent_database_slots_are_limited(queue: SlotQueue) -> None:
    for number in range(MAX_READS + 3):
        queue.request(f"wks_{number}")

    concurrent = len(queue.served)
    queue.release_all()

    assert concurrent == MAX_READS
    assert len(queue.served) == MAX_READS + 3


def test_a_workspace_alone_holds_half_of_the_database_slots(queue: SlotQueue) -> None:
    for _ in range(MAX_READS):
        queue.request("wks_flood")

    assert queue.served == ["wks_flood"] * (MAX_READS // 2)


def test_a_few_requests_beside_another_workspace_hold_half_of_the_slots(queue: SlotQueue) -> None:
    queue.request("wks_other")
    queue.release("wks_other")

    for _ in range(MAX_READS):
        queue.request("wks_four_people")

    assert queue.served == ["wks_other"] + ["wks_four_people"] * (MAX_READS // 2)


def test_a_crowd_beside_another_workspace_holds_one_slot(queue: SlotQueue) -> None:
    queue.request("wks_other")
    queue.release("wks_other")
    for _ in range(MAX_READS // 2 + CROWD):
        queue.request("wks_flood")

    queue.release("wks_flood")
    queue.release("wks_flood")

    assert queue.served == ["wks_other"] + ["wks_flood"] * (MAX_READS // 2 + 1)


def test_crowds_do_not_limit_each_other(queue: SlotQueue) -> None:
    floods = ["wks_flood", "wks_other_flood"]
    for holder in floods:
        for _ in range(MAX_READS // 2 + CROWD):
            queue.request(holder)

    for holder in floods:
        queue.release(holder)

    assert Counter(queue.holding) == dict.fromkeys(floods, MAX_READS // 2)


def test_a_workspace_that_came_before_several_crowds_limits_them() -> None:
    crowds, floods = Crowds(), ["wks_flood", "wks_other_flood", "wks_third_flood"]
    slots = FairSlots(2 * len(floods), crowds)
    slots.acquire("wks_other", 0)
    slots.release("wks_other")
    for holder in floods:
        crowds.note(holder, CROWD)

    granted = [slots.acquire(holder, 0) for holder in floods * 2]

    assert granted == [True, True, True, False, False, False]


def test_a_workspace_stays_a_crowd_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = Crowds()
    crowds.note("wks_flood", CROWD)
    crowds.note("wks_four_people", CROWD - 1)

    was_crowd = "wks_flood" in crowds
    monkeypatch.setattr(module, "CROWD_SECONDS", 0)

    assert was_crowd
    assert "wks_flood" not in crowds
    assert "wks_four_people" not in crowds


def test_crowds_that_do_not_come_back_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = Crowds()
    crowds.note("network of a day ago", CROWD)
    monkeypatch.setattr(module, "CROWD_SECONDS", 0)

    crowds.note("wks_flood", CROWD)

    assert set(crowds._crowded_at) == {"wks_flood"}  # noqa: SLF001 -- no other way to see them


def test_the_holders_of_a_crowd_are_crowds() -> None:
    bulkhead = Bulkhead()
    bulkhead._crowds.note("wks_flood", CROWD)  # noqa: SLF001 -- instead of that many threads

    with bulkhead.turn("wks_flood", "account"), bulkhead.turn("wks_other", "another"):
        pass

    assert "account" in bulkhead._crowds  # noqa: SLF001 -- likewise
    assert "another" not in bulkhead._crowds  # noqa: SLF001 -- likewise


@pytest.mark.parametrize(("others", "pauses"), [([], []), (["wks_other"], [PAUSE_SECONDS])])
def test_a_request_of_a_crowd_that_waited_for_a_slot_pauses_beside_others(
    queue: SlotQueue, monkeypatch: pytest.MonkeyPatch, others: list[str], pauses: list[float]
) -> None:
    paused: list[float] = []
    for holder in [*others, *["wks_flood"] * (MAX_READS // 2 + CROWD)]:
        queue.request(holder)
    monkeypatch.setattr(module, "time", FakeTime(paused))

    queue.release("wks_flood")
    queue.release("wks_flood")

    assert set(paused) == set(pauses)


def test_a_workspace_that_has_left_limits_no_other(queue: SlotQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECENT_SECONDS", 0)
    queue.request("wks_other")
    queue.release("wks_other")

    for _ in range(MAX_READS // 2 + CROWD):
        queue.request("wks_flood")
    queue.release("wks_flood")

    assert queue.served == ["wks_other"] + ["wks_flood"] * (MAX_READS // 2 + 1)
    assert len(queue.holding) == MAX_READS // 2


def test_a_workspace_with_many_requests_does_not_delay_the_others(queue: SlotQueue) -> None:
    for _ in range(20):
        queue.request("wks_flood")
    others = [f"wks_{number}" for number in range(4)]
    for holder in others:
        queue.request(holder)

    queue.release_all()

    assert set(others) < set(queue.served[: MAX_READS // 2 + len(others) + 1])


def test_a_request_that_was_served_before_is_next_of_its_workspace() -> None:
    slots, order = FairSlots(1), list[str]()
    slots.acquire("wks_first", 1)

    def take(name: str, *, first: bool) -> None:
        slots.acquire("wks_second", 10, first=first)
        order.append(name)
        slots.release("wks_second")

    with ThreadPoolExecutor(2) as pool:
        pool.submit(take, "new", first=False)
        wait_until(lambda: "wks_second" in slots._queues)  # noqa: SLF001 -- it waits
        pool.submit(take, "served before", first=True)
        wait_until(lambda: len(slots._queues["wks_second"]) == 2)  # noqa: SLF001 -- both wait
        slots.release("wks_first")

    assert order == ["served before", "new"]


def test_workspaces_that_wait_take_turns(queue: SlotQueue) -> None:
    for holder in ("wks_1", "wks_2", "wks_3", "wks_4"):
        queue.request(holder)
    for holder in ("wks_a", "wks_a", "wks_a", "wks_b", "wks_b", "wks_b"):
        queue.request(holder)

    for holder in ("wks_1", "wks_2", "wks_a", "wks_b", "wks_a"):
        queue.release(holder)

    assert queue.served[MAX_READS:] == ["wks_a", "wks_b", "wks_a", "wks_b", "wks_a"]


def test_writes_have_slots_of_their_own() -> None:
    bulkhead = Bulkhead()

    with ExitStack() as held_slots:
        for number in range(MAX_WRITES):
            held_slots.enter_context(bulkhead.db_slot(f"wks_{number}", to_write=True))
        with bulkhead.db_slot("wks_reader"):
            pass


def test_waiting_for_a_database_slot_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_QUEUE_SECONDS", 0.01)
    bulkhead = Bulkhead()

    with ExitStack() as held_slots:
        for number in range(MAX_READS):
            held_slots.enter_context(bulkhead.db_slot(f"wks_{number}"))

        with pytest.raises(Unavailable), bulkhead.db_slot("wks_late"):
            pass
    with bulkhead.db_slot("wks_late"):  # the slot that it did not get is not lost
        pass


def test_a_submission_that_waits_too_long_for_its_turn_begins_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_TURN_SECONDS", 0.01)
    bulkhead, begun = Bulkhead(), 0

    with ExitStack() as turns:
        for _ in range(MAX_TURNS):
            turns.enter_context(bulkhead.turn("wks_slow"))
            begun += 1
    with bulkhead.turn("wks_slow"):  # the turns are free again
        begun += 1

    assert begun == MAX_TURNS + 1
    assert not bulkhead._turns._held  # noqa: SLF001 -- every turn was returned


def test_a_request_that_gives_up_leaves_the_queue_to_the_others_of_its_workspace() -> None:
    slots = FairSlots(1)
    slots.acquire("wks_first", 1)

    with ThreadPoolExecutor(1) as pool:
        patient = pool.submit(slots.acquire, "wks_second", 10)
        wait_until(lambda: "wks_second" in slots._queues)  # noqa: SLF001 -- it waits
        assert not slots.acquire("wks_second", 0.01)
        slots.release("wks_first")

    assert patient.result()


@dataclass(frozen=True, slots=True)
class FakeTime:
    """The module `time`, which notes pauses instead of sleeping."""

    pauses: list[float]

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(slots=True)
class SlotQueue:
    """Requests for read slots, each in a thread; `served` has them in the order in which they got one."""

    slots: FairSlots = field(default_factory=lambda: FairSlots(MAX_READS))
    served: list[str] = field(default_factory=list)
    holding: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def request(self, holder: str) -> None:
        """Request a slot; return once it is granted or the request waits."""
        self.threads.append(threading.Thread(target=self._acquire, args=(holder,)))
        self.threads[-1].start()
        wait_until(self._is_quiet)

    def release(self, holder: str) -> None:
        """Release a slot; return once a request that waits has it."""
        self.holding.remove(holder)
        self.slots.release(holder)
        wait_until(self._is_quiet)

    def release_all(self) -> None:
        """Release the slots in the order in which they were granted, until none is held."""
        while self.holding:
            self.release(self.holding[0])

    def _acquire(self, holder: str) -> None:
        if self.slots.acquire(holder, 10):
            self.holding.append(holder)
            self.served.append(holder)

    def _is_quiet(self) -> bool:
        waiting = sum(map(len, self.slots._queues.values()))  # noqa: SLF001 -- no other way to see them
        return len(self.served) + waiting == len(self.threads)


@pytest.fixture
def queue() -> Iterator[SlotQueue]:
    requests = SlotQueue()
    yield requests
    requests.release_all()
    for thread in requests.threads:
        thread.join()
