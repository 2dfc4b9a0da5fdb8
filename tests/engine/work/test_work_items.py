"""Items of work: which are due, how they are shared among workspaces, and how long a failure is shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import select

from app.engine.work import items, specs, turns
from app.engine.work.items import SHOWN_FOR, NewItem, WorkItem
from app.engine.work.specs import WorkSpec
from app.engine.work.turns import LeaseLost
from app.infra.database import database_clock
from app.infra.database.session import Session

SECOND = timedelta(seconds=1)
SPEC = WorkSpec(
    task="upkeep.example",
    label="example",
    lease=timedelta(seconds=20),
    republish_after=timedelta(seconds=10),
    max_attempts=2,
    per_key=2,
)


@pytest.fixture(autouse=True)
def _spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(specs.SPECS, SPEC.task, SPEC)


def add(session: Session, *ids: str, workspace_id: str | None = None, spec: WorkSpec = SPEC) -> None:
    items.add(session, spec, *(NewItem(name, workspace_id, NOW) for name in ids))


def test_work_is_due_from_its_time_on_until_its_message_is_published(session: Session) -> None:
    add(session, "a")

    before = items.due_tasks(session, now=NOW - SECOND)
    due = items.due_tasks(session, now=NOW)
    first = items.claim_due(session, SPEC, now=NOW)
    second = items.claim_due(session, SPEC, now=NOW)
    lost = items.claim_due(session, SPEC, now=NOW + SPEC.republish_after)

    assert (before, due) == ([], [SPEC.task])
    assert (first, second, lost) == (["a"], [], ["a"])


def test_the_work_of_one_workspace_leaves_room_for_the_others(session: Session) -> None:
    ada, bob = a_workspace(session), a_workspace(session)
    add(session, "a1", "a2", "a3", "a4", workspace_id=ada)
    items.add(session, SPEC, NewItem("b1", bob, NOW + SECOND))

    published = items.claim_due(session, SPEC, now=NOW + SECOND)
    turn = turns.begin(session, SPEC, "a1", now=NOW + SECOND)
    meanwhile = items.claim_due(session, SPEC, now=NOW + SECOND)
    assert turn is not None
    turns.end(session, turn)
    after = items.claim_due(session, SPEC, now=NOW + SECOND)

    assert (published, meanwhile, after) == (["a1", "a2", "b1"], [], ["a3"])


def test_a_turn_knows_how_late_it_is_by_the_clock_of_the_database(session: Session) -> None:
    add(session, "a")
    items.add(session, SPEC, NewItem("b", None, database_clock.now()))

    late = [
        turns.begin(session, SPEC, "a", now=NOW + SECOND),
        turns.begin(session, SPEC, "b", now=database_clock.now() + SECOND),
    ]

    assert [turn and round(turn.late.total_seconds()) for turn in late] == [1, 1]


def test_a_message_that_comes_late_does_not_take_more_than_its_share(session: Session) -> None:
    add(session, "a", "b", "c")

    begun = [turns.begin(session, SPEC, name, now=NOW) for name in ("a", "b", "c")]

    assert [turn is not None for turn in begun] == [True, True, False]


def test_without_a_limit_all_that_is_due_is_published(session: Session) -> None:
    unlimited = WorkSpec(
        task="upkeep.other",
        label="other",
        lease=SPEC.lease,
        republish_after=SPEC.republish_after,
        max_attempts=1,
    )
    names = [f"{number:03}" for number in range(60)]
    add(session, *names, spec=unlimited)

    claimed = items.claim_due(session, unlimited, now=NOW)
    rest = items.claim_due(session, unlimited, now=NOW)

    assert claimed + rest == names
    assert turns.begin(session, unlimited, names[0], now=NOW) is not None


def test_one_worker_has_a_turn_and_another_one_after_its_lease(session: Session) -> None:
    add(session, "a")

    first = turns.begin(session, SPEC, "a", now=NOW)
    second = turns.begin(session, SPEC, "a", now=NOW + SPEC.lease - SECOND)
    assert items.claim_due(session, SPEC, now=NOW + SPEC.lease - SECOND) == []
    third = turns.begin(session, SPEC, "a", now=NOW + SPEC.lease)

    assert first is not None
    assert third is not None
    assert (second, first.attempts, third.attempts) == (None, 1, 2)
    with pytest.raises(LeaseLost):
        turns.renew(session, first, now=NOW)
    with pytest.raises(LeaseLost):
        turns.end(session, first)


def test_a_message_for_other_work_begins_nothing(session: Session) -> None:
    add(session, "a")

    other = WorkSpec(
        task="upkeep.other",
        label="other",
        lease=SPEC.lease,
        republish_after=SPEC.lease,
        max_attempts=1,
    )

    assert turns.begin(session, other, "a", now=NOW) is None
    assert turns.begin(session, SPEC, "b", now=NOW) is None


def test_attempts_start_over_with_progress_only(session: Session) -> None:
    add(session, "a")

    def attempt() -> turns.Turn:
        turn = turns.begin(session, SPEC, "a", now=NOW)
        assert turn is not None
        return turn

    turns.retry(session, attempt(), due_at=NOW)
    second = attempt()
    turns.renew(session, second, now=NOW)
    turns.retry(session, second, due_at=NOW)
    third = attempt()
    turns.renew(session, third, now=NOW, progressed=True)
    turns.retry(session, third, due_at=NOW)
    fourth = attempt()
    turns.end(session, fourth, due_at=NOW)
    fifth = attempt()

    assert [turn.attempts for turn in (second, third, fourth, fifth)] == [2, 3, 1, 1]
    assert [turn.is_exhausted for turn in (second, third)] == [False, True]


def test_work_that_is_added_again_starts_over_and_ends_the_turn(session: Session) -> None:
    add(session, "a")
    turn = turns.begin(session, SPEC, "a", now=NOW)
    assert turn is not None

    add(session, "a")

    with pytest.raises(LeaseLost):
        turns.end(session, turn)
    again = turns.begin(session, SPEC, "a", now=NOW)
    assert again is not None
    assert again.attempts == 1


def test_a_turn_whose_successor_is_published_already_is_not_published_twice(session: Session) -> None:
    add(session, "a")
    turn = turns.begin(session, SPEC, "a", now=NOW)
    assert turn is not None

    turns.end(session, turn, due_at=NOW, republish_at=NOW + SPEC.republish_after)

    assert items.claim_due(session, SPEC, now=NOW) == []
    assert turns.begin(session, SPEC, "a", now=NOW) is not None


@pytest.mark.parametrize("lasts", [False, True])
def test_failed_work_is_counted_for_an_hour_or_until_it_is_added_again(
    session: Session, monkeypatch: pytest.MonkeyPatch, *, lasts: bool
) -> None:
    spec = WorkSpec(
        task=SPEC.task,
        label=SPEC.label,
        lease=SPEC.lease,
        republish_after=SPEC.lease,
        max_attempts=1,
        failure_lasts=lasts,
    )
    monkeypatch.setitem(specs.SPECS, spec.task, spec)
    add(session, "a", "b", spec=spec)
    turn = turns.begin(session, spec, "a", now=NOW)
    assert turn is not None
    turns.retry(session, turn, due_at=NOW, error="refused 550")
    turn = turns.begin(session, spec, "a", now=NOW)
    assert turn is not None

    turns.fail(session, turn, "turns_failed", now=NOW)

    later = NOW + SHOWN_FOR + SECOND
    stored = select(WorkItem.error).where(WorkItem.id == "a")
    counts = [items.failed_counts(session, now=now)["example"] for now in (NOW, later)]
    assert session.scalar(stored) == "refused 550"
    assert items.claim_due(session, spec, now=later) == ["b"]
    assert counts == [1, int(lasts)]
    items.purge_expired(session, now=later)
    assert session.scalars(select(WorkItem.id).order_by(WorkItem.id)).all() == (
        ["a", "b"] if lasts else ["b"]
    )
    add(session, "a", spec=spec)
    assert items.failed_counts(session, now=NOW)["example"] == 0


def test_the_work_of_deleted_rows_is_deleted(session: Session) -> None:
    add(session, "a", "b")

    items.remove(session, ["a"])

    assert items.claim_due(session, SPEC, now=NOW) == ["b"]
