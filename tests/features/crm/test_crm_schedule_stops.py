"""A schedule stops by itself, says so once, and says what to do; what passes by itself it waits for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from audit_log_support import recorded
from crm_schedule_support import Scheduler, answer
from crm_support import CrmHarness
from fake_crms import FakeSalesforce, FakeZoho
from fake_providers import MISS
from jobs_support import NOW
from sqlalchemy import delete, update

from app.domain.event_types import EventType
from app.domain.permissions import Permission
from app.domain.purposes import PurposeRule
from app.domain.regional_rules import parse_places
from app.domain.spending import Period
from app.engine.accounts import permissions
from app.engine.contacts.contacts import Contact
from app.engine.ledger import limit_settings
from app.engine.work.turns import LeaseLost
from app.features.crm import connections
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.index.readings import CrmReading
from app.features.crm.schedules import enrichment, list_reading, listing, runs, sentences
from app.features.crm.schedules import work as schedules_work
from app.features.crm.schedules.list_reading import ListReading
from app.features.crm.schedules.tables import SCHEDULING, CrmScheduleRun
from app.features.crm.vendors.members import Members

NEXT_MONTH = NOW.replace(month=12, day=1, hour=12, minute=0)


@pytest.fixture
def scheduler(harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    scheduler = Scheduler.of(harness, vendor)
    scheduler.set_providers(monkeypatch, one=answer)
    return scheduler


def stopped(scheduler: Scheduler) -> list[dict[str, Any]]:
    """Return the data of the events of schedules that stopped."""
    type_ = EventType.CRM_SCHEDULE_STOPPED.value
    return [event.data for event in scheduler.events() if event.type == type_]


def state(scheduler: Scheduler) -> tuple[str, str | None]:
    schedule = scheduler.stored()
    return schedule.state, schedule.reason


def test_a_schedule_stops_when_the_budget_of_the_month_is_spent(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule(monthly_credits=2)

    run = scheduler.run()

    assert (run.charged, run.reason, scheduler.outcomes()) == (
        2,
        "budget_spent",
        ["found", "found", "not_asked"],
    )
    assert (state(scheduler), scheduler.stored().next_at) == (("stopped", "budget_spent"), NEXT_MONTH)
    assert stopped(scheduler) == [
        {
            "connection_id": scheduler.harness.connection_id,
            "vendor": "hubspot",
            "schedule_id": scheduler.schedule_id,
            "run_id": run.id,
            "reason": "budget_spent",
            "resumes_at": "2026-12-01T12:00:00.000Z",
        }
    ]
    assert [item.outcome for item in scheduler.pushed()] == ["updated", "updated"]


def test_credits_that_found_nobody_are_spent_on_others(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.set_providers(monkeypatch, one=MISS)
    scheduler.schedule(monthly_credits=1)

    run = scheduler.run()

    assert (run.jobs, run.charged, run.reason) == (3, 0, None)
    assert scheduler.outcomes() == ["not_found"] * 3


def test_a_schedule_whose_budget_was_spent_goes_on_by_itself_next_month(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule(monthly_credits=2)
    scheduler.run()
    assert scheduler.due_at() == NEXT_MONTH

    run = scheduler.run()

    assert (run.due_at, run.charged) == (NEXT_MONTH, 1)
    assert state(scheduler) == ("active", None)
    assert len(stopped(scheduler)) == 1


def test_the_budget_counts_all_runs_of_a_month(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3, 4)
    scheduler.schedule(monthly_credits=3, max_people=2)

    first, second = scheduler.run(), scheduler.run()

    assert (first.charged, second.charged, second.reason) == (2, 1, "budget_spent")


def test_what_was_spent_on_people_who_are_erased_counts_in_the_budget(scheduler: Scheduler) -> None:
    scheduler.has(1, 2)
    scheduler.schedule(monthly_credits=1, max_people=1)
    first = scheduler.run()
    with scheduler.harness.database.transaction() as session:
        session.execute(delete(Contact))

    second = scheduler.run()

    assert (first.charged, second.charged, second.reason) == (1, 0, "budget_spent")


def test_a_run_that_began_last_month_counts_with_what_it_spends_in_this_one(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.run()
    started_at = NOW - timedelta(days=25)

    with scheduler.harness.database.transaction() as session:
        session.execute(update(CrmScheduleRun).values(started_at=started_at))
        listing.purge_expired(session, before=scheduler.harness.now)
        spent = enrichment.spent(session, scheduler.schedule_id, at=scheduler.harness.now)

    assert (NOW.month, started_at.month, spent) == (11, 10, 1)


def test_a_schedule_is_resumed_with_a_larger_budget(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule(monthly_credits=2)
    scheduler.run()
    scheduler.change(monthly_credits=10)
    scheduler.command("resume")
    scheduler.command("run")

    run = scheduler.go_on()

    assert (state(scheduler), run.charged) == (("active", None), 1)


def test_a_schedule_stops_when_the_credits_of_the_workspace_are_used_up(scheduler: Scheduler) -> None:
    scheduler.has(*range(1, 13))
    scheduler.schedule()

    run = scheduler.run()

    assert (run.charged, scheduler.balance().available) == (10, 0)
    assert (state(scheduler), scheduler.stored().next_at) == (("stopped", "insufficient_credits"), None)
    assert scheduler.due_at() is None
    assert [data["resumes_at"] for data in stopped(scheduler)] == [None]


def test_a_schedule_stops_at_the_spending_limit_of_the_account_that_pays(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    with scheduler.harness.database.transaction() as session:
        workspace_id = scheduler.harness.workspace_id
        subject = limit_settings.subject(session, workspace_id, scheduler.account_id)
        limit_settings.put(session, workspace_id, subject, Period.MONTH, 2, now=NOW)

    run = scheduler.run()

    assert (run.charged, scheduler.outcomes()) == (2, ["found", "found", "not_asked"])
    assert state(scheduler) == ("stopped", "spending_limit_reached")


def test_a_schedule_stops_if_a_purpose_is_required(scheduler: Scheduler) -> None:
    scheduler.has(1)
    rule = PurposeRule(parse_places(("*",)), ("sales_outreach",))
    scheduler.require_purpose(rule)
    scheduler.schedule()

    run = scheduler.run()

    assert (run.charged, scheduler.outcomes()) == (0, ["not_asked"])
    assert state(scheduler) == ("stopped", "purpose_required")


def test_the_purpose_of_a_schedule_is_stated(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.require_purpose(PurposeRule(parse_places(("*",)), ("sales_outreach",)))
    scheduler.schedule(purpose="sales_outreach")

    run = scheduler.run()

    assert (run.charged, scheduler.outcomes()) == (1, ["found"])


def test_a_disabled_account_stops_the_schedule_before_a_run(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.disable_account()
    scheduler.at_due_time()

    scheduler.turn()

    assert (state(scheduler), scheduler.runs()) == (("stopped", "account_disabled"), [])
    assert [(data["reason"], data["run_id"]) for data in stopped(scheduler)] == [("account_disabled", None)]
    assert scheduler.due_at() is None


@pytest.mark.parametrize(("fields", "denied"), [(["email"], "push"), (["phone"], "reveal_phones")])
def test_an_account_that_may_no_longer_do_what_the_schedule_does_stops_it(
    scheduler: Scheduler, fields: list[str], denied: str
) -> None:
    scheduler.has(1)
    scheduler.schedule(fields=fields)
    with scheduler.harness.database.transaction() as session:
        permissions.set_of_account(session, scheduler.account_id, {Permission(denied): False})
    scheduler.at_due_time()

    scheduler.turn()

    assert (state(scheduler), scheduler.runs()) == (("stopped", "not_permitted"), [])


def test_an_account_that_is_disabled_during_a_run_pays_for_nothing_more(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.turn()
    scheduler.disable_account()

    run = scheduler.go_on()

    assert (state(scheduler), run.charged) == (("stopped", "account_disabled"), 0)
    assert scheduler.outcomes() == ["not_asked"]


def test_who_resumes_a_schedule_pays_for_it(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.disable_account()
    scheduler.run_to_its_stop()
    colleague = scheduler.another_account()
    scheduler.command("resume")

    run = scheduler.run()

    assert (run.charged, scheduler.stored().account_id) == (1, colleague)


def test_a_schedule_that_is_paused_during_a_run_pushes_what_was_found(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.harness.crm.list_page = 3
    scheduler.schedule(monthly_credits=2)
    scheduler.submit()
    scheduler.command("pause")

    run = scheduler.go_on()

    assert (run.jobs, run.charged, run.reason) == (1, 2, None)
    assert scheduler.outcomes() == ["found", "found", "not_asked"]
    assert (state(scheduler), scheduler.due_at(), stopped(scheduler)) == (("paused", None), None, [])
    assert len(scheduler.pushed()) == 2


def test_a_schedule_that_is_paused_while_its_list_is_read_asks_for_nobody(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    page = ListReading._page  # noqa: SLF001 -- the moment of the pause

    def is_paused(reading: ListReading, position: str | None) -> Members:
        found = page(reading, position)
        scheduler.command("pause")
        return found

    monkeypatch.setattr(ListReading, "_page", is_paused)

    run = scheduler.run()

    assert (run.jobs, run.members, scheduler.outcomes()) == (0, 2, ["not_asked", "not_asked"])


def test_a_paused_schedule_is_not_run(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.command("pause")
    scheduler.harness.later(days=2)

    scheduler.turn()

    assert (scheduler.runs(), scheduler.due_at()) == ([], None)


def test_a_schedule_that_is_run_now_keeps_its_time(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.command("run")

    scheduler.turn()
    scheduler.command("run")  # while it runs
    run = scheduler.go_on()

    assert (run.due_at, scheduler.stored().next_at) == (NOW, NOW.replace(hour=12, minute=0))
    assert len(scheduler.runs()) == 1


def test_another_hour_moves_the_next_run(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()

    scheduler.change(hour=18)

    assert scheduler.due_at() == scheduler.stored().next_at == NOW.replace(hour=18, minute=0)


def test_another_hour_does_not_interrupt_a_run(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()

    scheduler.change(hour=18)

    assert scheduler.go_on().charged == 1


@pytest.mark.parametrize(
    ("vendor", "reason"),
    [
        ("hubspot", "list_gone"),
        ("pipedrive", "list_gone"),
        ("salesforce", "list_gone"),
        ("zoho", "list_refused"),
    ],
)
def test_a_list_that_was_deleted_in_the_crm_stops_the_schedule(
    scheduler: Scheduler, vendor: str, reason: str
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.harness.crm.lists.clear()

    run = scheduler.run()

    assert (run.status, run.reason, state(scheduler)) == ("finished", reason, ("stopped", reason))
    assert [data["reason"] for data in stopped(scheduler)] == [reason]


@pytest.mark.parametrize("vendor", ["twenty"])
def test_a_filter_that_twenty_refuses_stops_the_schedule(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.harness.crm.fail(400, {"messages": ["'filter' invalid"]}, path="/people")

    run = scheduler.go_on()

    assert (run.reason, state(scheduler)) == ("list_refused", ("stopped", "list_refused"))


def test_credentials_that_may_not_read_lists_stop_the_schedule(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.harness.crm.fail(403, {"category": "MISSING_SCOPES"}, path="/lists/42")

    run = scheduler.run()

    assert (run.reason, state(scheduler)) == ("list_forbidden", ("stopped", "list_forbidden"))
    assert "permission" in sentences.reason_sentence("list_forbidden")
    assert len(stopped(scheduler)) == 1


def test_a_list_of_companies_stops_the_schedule(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.harness.crm.type_of_lists = "0-2"
    scheduler.schedule()

    run = scheduler.run()

    assert (run.reason, run.members) == ("list_not_of_people", 0)


@pytest.mark.parametrize(
    ("status", "headers", "waiting", "pause"),
    [
        (429, {"Retry-After": "120"}, "rate_limited", 120),
        (429, {}, "rate_limited", 60),
        (503, {}, "http_503", 300),
        (200, {}, "unexpected_response", 300),
    ],
)
def test_what_passes_is_waited_for(
    scheduler: Scheduler, status: int, headers: dict[str, str], waiting: str, pause: int
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.harness.crm.fail(status, {"no": "list"}, headers=headers, path="/lists/42")

    scheduler.turn()
    waited = scheduler.stored().waiting
    due_at = scheduler.due_at()
    scheduler.harness.now = due_at
    run = scheduler.go_on()

    assert (waited, due_at) == (waiting, NOW.replace(hour=12, minute=0) + timedelta(seconds=pause))
    assert (run.charged, scheduler.stored().waiting, stopped(scheduler)) == (1, None, [])
    assert sentences.reason_sentence(waiting)


def test_a_list_that_returns_the_same_page_is_tried_again_later(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    scheduler.at_due_time()
    same = Members(ids=["1"], position="same")
    monkeypatch.setattr(ListReading, "_page", lambda *_: same)

    scheduler.turn()

    assert (scheduler.stored().waiting, len(scheduler.records())) == ("same_page", 1)


@pytest.mark.parametrize("vendor", ["salesforce"])
@pytest.mark.parametrize(
    "body", [{"query": "SELECT Id"}, {"done": False, "records": [], "nextRecordsUrl": "/x"}]
)
def test_a_list_view_that_is_not_as_documented_is_tried_again_later(
    scheduler: Scheduler, body: dict[str, Any]
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    assert isinstance(scheduler.harness.crm, FakeSalesforce)
    scheduler.harness.crm.fail(200, body, path="/describe" if "query" in body else "/query")

    scheduler.turn()

    assert scheduler.stored().waiting == "unexpected_response"


@pytest.mark.parametrize("vendor", ["zoho"])
def test_a_custom_view_without_the_place_of_its_next_page_is_tried_again_later(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    assert isinstance(scheduler.harness.crm, FakeZoho)
    scheduler.harness.crm.fail(200, {"data": [], "info": {"more_records": True}}, path="/Contacts")

    scheduler.turn()

    assert scheduler.stored().waiting == "unexpected_response"


@pytest.mark.parametrize("vendor", ["twenty"])
def test_all_people_of_twenty_are_a_list(scheduler: Scheduler) -> None:
    scheduler.has(1, 2)
    scheduler.schedule(list_id="all")

    run = scheduler.run()

    assert (run.members, run.charged) == (2, 2)


def test_a_run_waits_until_the_crm_is_connected_again(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.set_status(ConnectionStatus.RECONNECT)

    scheduler.turn()
    waited = scheduler.stored().waiting
    scheduler.set_status(ConnectionStatus.CONNECTED)
    scheduler.harness.later(minutes=10)
    run = scheduler.go_on()

    assert (waited, run.due_at, run.charged) == ("not_connected", NOW.replace(hour=12, minute=0), 1)


def test_a_run_waits_until_the_people_are_read(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    with scheduler.harness.database.transaction() as session:
        session.execute(delete(CrmReading))

    scheduler.turn()

    assert (scheduler.stored().waiting, scheduler.runs()) == ("not_read", [])


def test_a_run_waits_until_the_first_reading_has_ended(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    with scheduler.harness.database.transaction() as session:
        session.execute(update(CrmReading).values(finished_at=None))

    scheduler.turn()

    assert scheduler.stored().waiting == "not_read"


def test_a_token_that_was_revoked_is_checked_and_the_run_waits(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.harness.crm.fail(401, {"category": "INVALID_AUTHENTICATION"}, path="/lists/42")

    scheduler.turn()
    waited = scheduler.stored().waiting
    scheduler.harness.turn()  # a worker checks the token, which is accepted
    scheduler.harness.later(minutes=10)
    run = scheduler.go_on()

    assert (waited, run.charged) == ("not_connected", 1)


def test_credentials_of_a_replaced_key_are_checked_and_the_run_waits(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    with scheduler.harness.database.transaction() as session:
        session.execute(update(CrmConnection).values(credentials=b"other"))

    scheduler.turn()

    assert (scheduler.stored().waiting, scheduler.harness.connection().status) == (
        "not_connected",
        "checking",
    )


def test_a_token_that_expires_is_renewed_by_a_turn_of_pushes(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    with scheduler.harness.database.transaction() as session:
        connection = session.get_one(CrmConnection, scheduler.harness.connection_id)
        expired = Credentials(
            token=scheduler.harness.crm.token,
            refresh_token="refresh-1",
            expires_at=scheduler.harness.now.timestamp() + 60,
        )
        connections.store_credentials(session, connection, expired)

    scheduler.turn()
    scheduler.harness.turn()
    scheduler.harness.later(seconds=60)
    run = scheduler.go_on()

    assert run.charged == 1
    assert scheduler.harness.crm.token.startswith("refresh_token-")


def test_a_schedule_at_which_every_worker_fails_stops_and_goes_on_when_it_is_resumed(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()

    def fails(*_arguments: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as failing:
        failing.setattr(list_reading.ListReading, "run", fails)
        for _ in range(SCHEDULING.max_attempts):
            with pytest.raises(ZeroDivisionError):
                scheduler.turn()
    scheduler.turn()
    failed = state(scheduler)
    scheduler.command("resume")
    run = scheduler.run()

    assert failed == ("stopped", "turns_failed")
    assert (run.charged, len(scheduler.runs()), len(stopped(scheduler))) == (1, 1, 1)


def test_a_schedule_that_was_paused_is_given_up_without_an_event(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    turn = scheduler.begin()
    scheduler.command("pause")

    schedules_work.give_up(turn, scheduler.services)

    assert (state(scheduler), stopped(scheduler)) == (("paused", None), [])


def test_a_schedule_that_was_deleted_is_not_given_up(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    turn = scheduler.begin()
    scheduler.delete()

    with scheduler.harness.database.transaction() as session, pytest.raises(LeaseLost):
        runs.give_up(session, turn, now=scheduler.harness.now)


def test_what_is_done_with_a_schedule_is_in_the_audit_log_once(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    for command in ("resume", "run", "pause", "pause", "resume"):
        scheduler.command(command)
    scheduler.change(max_people=7)
    scheduler.delete()

    actions = [
        entry.action
        for entry in recorded(scheduler.harness.database)
        if entry.action.startswith("crm_schedule")
    ]
    assert actions == [
        "crm_schedule.create",
        "crm_schedule.run",
        "crm_schedule.pause",
        "crm_schedule.resume",
        "crm_schedule.change",
        "crm_schedule.delete",
    ]


def test_every_reason_has_a_sentence_that_says_what_to_do() -> None:
    for code, sentence in sentences.REASONS.items():
        assert sentences.reason_sentence(code) == sentence
    assert sentences.reason_sentence(None) == ""
    assert sentences.reason_sentence("http_500").startswith("The CRM answers 500")
    assert (sentences.error_sentence(None), sentences.error_sentence("other")) == ("", "other")
