from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import select, update
from worker_harness import WorkerHarness

from app.domain.kinds import Kind
from app.engine.accounts import workspaces
from app.engine.ledger import credit_schedules, credits
from app.engine.ledger.credit_schedules import Due, Terms
from app.engine.ledger.credits import LedgerEntry
from app.engine.ledger.next_grants import CreditSchedule
from app.features.credit_grants import work
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from cli.commands import group as command_group
from cli.credits import group as credits_group

EVERY_MONTH = Terms(credits=100, per_seat=False, day=1, carried=0)


def schedule(harness: WorkerHarness, terms: Terms = EVERY_MONTH, *, months_ago: int = 0) -> None:
    """Schedule grants of which one was due at the start of the month, and others in the months before."""
    start = clock.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _month in range(months_ago):
        start = (start - timedelta(days=1)).replace(day=1)
    with harness.database.transaction() as session:
        credit_schedules.put(session, harness.workspace_id, terms, starts_at=start)


def entries(harness: WorkerHarness) -> list[tuple[str, int]]:
    """Return the entries of the ledger after the first grant, which the harness made."""
    with harness.database.reading() as session:
        own = LedgerEntry.workspace_id == harness.workspace_id
        rows = session.execute(
            select(LedgerEntry.kind, LedgerEntry.available).where(own).order_by(LedgerEntry.id)
        ).all()
    return [(row.kind, row.available) for row in rows[1:]]


def again(harness: WorkerHarness) -> None:
    """Let the next grant be due, as if a month had passed."""
    with harness.database.transaction() as session:
        session.execute(update(CreditSchedule).values(next_at=datetime(2026, 1, 1, tzinfo=UTC)))
        [due] = credit_schedules.due(session)
        credit_schedules.grant(session, due)
        session.execute(update(CreditSchedule).values(next_at=clock.now() + timedelta(days=9)))


def available(harness: WorkerHarness) -> int:
    with harness.database.reading() as session:
        return workspaces.balance(session, harness.workspace_id).available


def test_a_grant_is_made_once_by_any_number_of_sweeps(harness: WorkerHarness) -> None:
    schedule(harness)

    for _sweep in range(3):
        work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100)]


def test_of_two_processes_that_found_the_same_grant_one_makes_it(harness: WorkerHarness) -> None:
    schedule(harness)
    with harness.database.reading() as session:
        [due] = credit_schedules.due(session)

    with harness.database.transaction() as session:
        first = credit_schedules.grant(session, due)
    with harness.database.transaction() as session:
        second = credit_schedules.grant(session, due)

    assert (first is not None, second) == (True, None)
    assert entries(harness) == [("grant", 100)]


def test_a_process_that_is_killed_before_its_commit_has_granted_nothing(harness: WorkerHarness) -> None:
    schedule(harness)
    with pytest.raises(KeyboardInterrupt), harness.database.transaction() as session:  # noqa: PT012 -- the transaction
        [due] = credit_schedules.due(session)
        credit_schedules.grant(session, due)
        raise KeyboardInterrupt
    nothing = entries(harness)

    work.grant_due(harness.services)

    assert (nothing, entries(harness)) == ([], [("grant", 100)])


def test_each_month_of_a_downtime_is_made_up_for(harness: WorkerHarness) -> None:
    schedule(harness, months_ago=2)

    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100), *[("expire", -100), ("grant", 100)] * 2]


def test_what_was_bought_does_not_expire(harness: WorkerHarness) -> None:
    schedule(harness)
    bought = available(harness)
    work.grant_due(harness.services)

    again(harness)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]
    assert available(harness) == bought + 100


@pytest.mark.parametrize(("carried", "kept"), [(None, 200), (30, 130), (0, 100)])
def test_unspent_credits_are_carried_over_up_to_a_number(
    harness: WorkerHarness, carried: int | None, kept: int
) -> None:
    schedule(harness, Terms(credits=100, per_seat=False, day=1, carried=carried))
    bought = available(harness)
    work.grant_due(harness.services)

    again(harness)

    assert available(harness) == bought + kept


def test_a_job_that_is_open_at_the_turn_of_the_month_settles_its_hold(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        bought = workspaces.balance(session, harness.workspace_id).available
        credits.expire(session, harness.workspace_id, bought, reason="test", now=clock.now())
    schedule(harness, Terms(credits=5, per_seat=False, day=1, carried=0))
    work.grant_due(harness.services)
    job_id = harness.submit_reveal({"email": "ada@acme.com"}, Kind.REVEAL_PHONE)
    with harness.database.reading() as session:
        held = workspaces.balance(session, harness.workspace_id).held

    again(harness)
    harness.run_reveal(job_id, Kind.REVEAL_PHONE)

    with harness.database.reading() as session:
        balance = workspaces.balance(session, harness.workspace_id)
        left = credit_schedules.of_workspace(session, harness.workspace_id)
    assert (held > 0, balance.held, balance.available) == (True, 0, 5 + held)
    assert left is not None
    assert left.left == 5 + held  # what the job did not spend expires at the next turn


def test_a_seat_is_an_account_that_is_not_disabled(harness: WorkerHarness) -> None:
    with harness.database.reading() as session:
        seats = credit_schedules.seats(session, harness.workspace_id)
    schedule(harness, Terms(credits=100, per_seat=True, day=1, carried=None))

    work.grant_due(harness.services)

    assert entries(harness) == ([("grant", 100 * seats)] if seats else [])


def test_a_changed_grant_keeps_what_may_expire(harness: WorkerHarness) -> None:
    schedule(harness)
    work.grant_due(harness.services)

    schedule(harness, Terms(credits=7, per_seat=False, day=1, carried=0))
    again(harness)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 7)]


def test_a_grant_that_is_set_again_from_a_past_day_is_made_once(harness: WorkerHarness) -> None:
    schedule(harness, months_ago=1)
    work.grant_due(harness.services)

    schedule(harness, months_ago=2)
    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]


def test_a_month_that_has_had_its_grant_gets_no_other_one_on_another_day(harness: WorkerHarness) -> None:
    schedule(harness, months_ago=1)
    work.grant_due(harness.services)

    schedule(harness, replace(EVERY_MONTH, day=2), months_ago=2)
    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]


def test_a_grant_that_is_due_is_made_before_it_is_changed(harness: WorkerHarness) -> None:
    schedule(harness, months_ago=1)

    with harness.database.transaction() as session:
        credit_schedules.put(session, harness.workspace_id, replace(EVERY_MONTH, credits=7))
    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]


@pytest.mark.parametrize("end", [credit_schedules.pause, credit_schedules.remove])
def test_a_grant_that_is_due_is_made_before_its_schedule_is_paused_or_removed(
    harness: WorkerHarness, end: Callable[[Session, str], None]
) -> None:
    schedule(harness, months_ago=1)

    with harness.database.transaction() as session:
        end(session, harness.workspace_id)
    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]


@pytest.mark.parametrize("end", [credit_schedules.pause, credit_schedules.remove])
def test_a_grant_is_made_once_by_a_sweep_and_an_operator_at_once(
    harness: WorkerHarness, end: Callable[[Session, str], None]
) -> None:
    schedule(harness, months_ago=1)

    def change() -> None:
        with harness.database.transaction() as session:
            end(session, harness.workspace_id)

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(work.grant_due, harness.services), pool.submit(change)]:
            done.result()

    assert entries(harness) == [("grant", 100), ("expire", -100), ("grant", 100)]


def test_a_schedule_that_is_paused_again_grants_nothing_of_the_pause(harness: WorkerHarness) -> None:
    schedule(harness)
    with harness.database.transaction() as session:
        credit_schedules.pause(session, harness.workspace_id)
        session.execute(update(CreditSchedule).values(next_at=datetime(2026, 1, 1, tzinfo=UTC)))

    with harness.database.transaction() as session:
        credit_schedules.pause(session, harness.workspace_id)
        credit_schedules.remove(session, harness.workspace_id)

    assert entries(harness) == [("grant", 100)]


def test_a_paused_grant_that_is_changed_stays_paused(harness: WorkerHarness) -> None:
    schedule(harness)
    with harness.database.transaction() as session:
        credit_schedules.pause(session, harness.workspace_id)

    schedule(harness, replace(EVERY_MONTH, credits=7))
    work.grant_due(harness.services)

    assert entries(harness) == [("grant", 100)]


def test_a_grant_that_fails_does_not_stop_the_sweep(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule(harness)

    def fails(*_arguments: Any) -> None:
        raise ValueError

    monkeypatch.setattr(work.credit_schedules, "grant", fails)

    work.grant_due(harness.services)

    assert entries(harness) == []


def test_a_schedule_that_was_removed_grants_nothing(harness: WorkerHarness) -> None:
    schedule(harness)
    with harness.database.transaction() as session:
        [due] = credit_schedules.due(session)
        credit_schedules.remove(session, harness.workspace_id)
    granted = entries(harness)

    with harness.database.transaction() as session:
        assert credit_schedules.grant(session, Due(due.workspace_id, due.next_at)) is None
        assert credit_schedules.of_workspace(session, harness.workspace_id) is None
    assert entries(harness) == granted


@pytest.fixture
def run(app: APIFlask) -> Callable[..., Result]:
    runner = app.test_cli_runner()
    command_group("credits")  # adds the commands of features
    return lambda *arguments: runner.invoke(credits_group, ["grants", *arguments])


@pytest.fixture
def workspace_id(app: APIFlask) -> str:
    database: Database = app.extensions["services"].database
    with database.transaction() as session:
        return workspaces.create(session, name="Acme", now=clock.now()).id


def test_the_command_sets_lists_and_removes_grants(run: Any, workspace_id: str) -> None:
    none = run("list").stdout

    options = ("--per-seat", "--day", "31", "--carry-over", "50", "--from", "2027-02-01")
    grant = json.loads(run("set", "Acme", "500", *options, "--json").stdout)
    listed = run("list").stdout
    in_json = json.loads(run("list", "--json").stdout)
    removed = run("remove", workspace_id).stdout
    missing = run("remove", workspace_id)

    assert none.startswith("There are no monthly grants.")
    assert grant == {
        "workspace": {"id": workspace_id, "name": "Acme"},
        "credits": 500,
        "per_seat": True,
        "day": 31,
        "carried_over": 50,
        "next_at": "2027-02-28T00:00:00.000Z",
        "paused_at": None,
    }
    assert [line.split() for line in listed.splitlines()][1] == [
        "Acme",
        "500",
        "seat",
        "31",
        "50",
        "2027-02-28",
    ]
    assert in_json == {"grants": [grant]}
    assert (removed, missing.exit_code) == ("Acme no longer has a monthly grant.\n", 1)


def test_commands_pause_and_resume_a_grant(run: Any, workspace_id: str) -> None:
    run("set", "Acme", "500")

    paused = run("pause", "Acme").stdout
    listed = run("list").stdout
    resumed = json.loads(run("resume", workspace_id, "--json").stdout)
    [grant] = json.loads(run("list", "--json").stdout)["grants"]
    run("remove", "Acme")
    missing = run("pause", "Acme")

    assert paused == "The monthly grant of Acme is paused.\n"
    assert listed.split()[-1] == "paused"
    assert (resumed, grant["paused_at"]) == ({"resumed": workspace_id}, None)
    assert (missing.exit_code, "has no monthly grant" in missing.output) == (1, True)


def test_a_paused_schedule_grants_nothing_and_is_not_made_up_for(harness: WorkerHarness) -> None:
    schedule(harness)
    with harness.database.transaction() as session:
        credit_schedules.pause(session, harness.workspace_id)
        session.execute(update(CreditSchedule).values(next_at=datetime(2026, 1, 1, tzinfo=UTC)))
        turn = credit_schedules.grant(session, Due(harness.workspace_id, datetime(2026, 1, 1, tzinfo=UTC)))

    work.grant_due(harness.services)
    with harness.database.transaction() as session:
        credit_schedules.resume(session, harness.workspace_id)
        schedule_ = credit_schedules.of_workspace(session, harness.workspace_id)
    work.grant_due(harness.services)

    assert (turn, entries(harness)) == (None, [("grant", 100)])
    assert schedule_ is not None
    assert schedule_.next_at > clock.now()


@pytest.mark.parametrize(("text", "carried"), [("all", None), ("none", 0), ("9", 9)])
def test_what_is_carried_over_is_a_word_or_a_number(
    run: Any, workspace_id: str, text: str, carried: int | None
) -> None:
    body = json.loads(run("set", workspace_id, "5", "--carry-over", text, "--json").stdout)

    assert body["carried_over"] == carried
    assert ("all" in run("list").stdout) is (carried is None)


@pytest.mark.parametrize("text", ["-1", "some", "²", "1" * 30])
def test_another_word_is_refused(run: Any, workspace_id: str, text: str) -> None:
    result = run("set", workspace_id, "5", "--carry-over", text)

    assert result.exit_code == 2
    assert "none, all, or a number" in result.stderr
