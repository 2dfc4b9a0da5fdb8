"""Items of an enrichment are shown when complete; a pending one delays no other and uses no attempt."""

from __future__ import annotations

from datetime import timedelta

import pytest
from enriching_support import ADA, BOB, ERROR, MISS, WAIT, Bench, a_bench, person, said_by, tells
from jobs_support import NOW, set_clock

from app.infra.db import Database
from app.infra.job_notifications import JobNotifier
from app.infra.queue import JobPublisher
from app.settings import Settings
from workers.execution import shutdown_flag
from workers.execution.job_runner import WorkerServices
from workers.providers.base import Pending, ProviderRequest, ProviderResponse

SLOW = {"subject": {"linkedin_url": ADA}, "client_reference": "slow"}
QUICK = {"subject": {"linkedin_url": BOB}, "client_reference": "quick"}
DONE = {"done": 2, "total": 2}


@pytest.fixture(autouse=True)
def at_half_past_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, lambda: NOW)


@pytest.fixture
def bench(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(JobNotifier, "notify", lambda _self, _job_id: None)
    services = WorkerServices(
        settings, database, JobPublisher(settings.redis_url), JobNotifier(settings.redis_url)
    )
    return a_bench(services, monkeypatch).ordered("one", "two")


def about(ask: ProviderRequest) -> ProviderResponse:
    """Return a response about the requested person."""
    name = {ADA: "Ada Lovelace", BOB: "Bob Ray"}[str(ask.subject.linkedin_url)]
    return tells(person(said_by("one", NOW), full_name=name, linkedin_url=ask.subject.linkedin_url))


def slow_about_ada(ask: ProviderRequest) -> ProviderResponse | Pending:
    """Return a pending result for Ada until polled with the token."""
    return WAIT if ask.subject.linkedin_url == ADA and ask.poll_token is None else about(ask)


def never_ready(ask: ProviderRequest) -> ProviderResponse | Pending:
    return WAIT if ask.subject.linkedin_url == ADA else about(ask)


def test_what_is_done_is_shown_while_another_item_waits(bench: Bench) -> None:
    bench.providers(one=slow_about_ada)

    shown = bench.run(bench.submit(SLOW, QUICK))

    assert (shown["job"]["status"], shown["job"]["progress"]) == ("queued", {"done": 1, "total": 2})
    slow, quick = shown["result"]["items"]
    assert (slow["outcome"], slow["contact"], slow["error"]) == (None, None, None)
    assert (quick["outcome"], quick["contact"]["full_name"]) == ("found", "Bob Ray")
    assert quick["sources"]["contact"]["full_name"]["source"] == "one"


def test_the_item_that_waited_is_filled_in_and_the_other_stays_as_it_was(bench: Bench) -> None:
    told = bench.providers(one=slow_about_ada)
    job_id = bench.submit(SLOW, QUICK)
    before = bench.run(job_id)

    after = bench.run(job_id)

    assert (after["job"]["status"], after["job"]["progress"]) == ("succeeded", DONE)
    assert after["result"]["items"][0]["contact"]["full_name"] == "Ada Lovelace"
    assert after["result"]["items"][1] == before["result"]["items"][1]
    assert [ask.poll_token for ask in told["one"].asked if ask.subject.linkedin_url == ADA] == [
        None,
        "ticket",
    ]


def test_waiting_spends_no_try(bench: Bench) -> None:
    bench.providers(one=never_ready)
    job_id = bench.submit(SLOW, QUICK)
    most = bench.services.settings.max_attempts

    statuses = [bench.run(job_id)["job"]["status"] for _ in range(most + 1)]

    assert statuses == ["queued"] * (most + 1)
    assert bench.attempts(job_id) == 0


def test_who_is_waited_for_too_long_ends_the_item_and_not_the_job(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = bench.providers(one=never_ready)
    job_id = bench.submit(SLOW, QUICK)
    bench.run(job_id)
    patience = timedelta(seconds=told["one"].terms.poll_timeout + 1)
    set_clock(monkeypatch, lambda: NOW + patience)

    shown = bench.run(job_id)

    assert (shown["job"]["status"], shown["job"]["progress"]) == ("succeeded", DONE)
    assert [item["outcome"] for item in shown["result"]["items"]] == ["not_found", "found"]


def test_an_answer_that_came_before_the_wait_is_not_asked_for_again(bench: Bench) -> None:
    first = tells(person(said_by("one", NOW - timedelta(days=1)), title=None, linkedin_url=ADA))
    second = tells(person(said_by("two", NOW), linkedin_url=ADA))
    told = bench.providers(one=first, two=lambda ask: WAIT if ask.poll_token is None else second)
    job_id = bench.submit(SLOW)
    bench.run(job_id)

    shown = bench.run(job_id)

    [item] = shown["result"]["items"]
    assert (item["contact"]["title"], item["outcome"]) == ("Engineer", "found")
    assert [len(told[name].asked) for name in ("one", "two")] == [1, 2]
    assert [line["provider"] for line in shown["trace"]] == ["one", "two"]


def test_a_failing_item_holds_up_nobody_and_says_so_in_the_end(bench: Bench) -> None:
    bench.providers(one=lambda ask: ERROR if ask.subject.linkedin_url == ADA else about(ask), two=ERROR)
    job_id = bench.submit(SLOW, QUICK)

    shown = [bench.run(job_id) for _ in range(bench.services.settings.max_attempts)]

    assert [one["job"]["progress"]["done"] for one in shown] == [1, 1, 1, 2]
    failed, quick = shown[-1]["result"]["items"]
    assert (failed["outcome"], failed["error"]["code"]) == (None, "provider_failed")
    assert (quick["outcome"], quick["error"]) == ("found", None)
    assert shown[-1]["job"]["status"] == "succeeded"


def test_a_failing_item_spends_tries_while_another_waits(bench: Bench) -> None:
    bench.providers(one=lambda ask: WAIT if ask.subject.linkedin_url == ADA else ERROR, two=ERROR)
    job_id = bench.submit(SLOW, QUICK)

    shown = [bench.run(job_id) for _ in range(bench.services.settings.max_attempts)]

    waiting, failed = shown[-1]["result"]["items"]
    assert (waiting["outcome"], waiting["error"]) == (None, None)
    assert failed["error"]["code"] == "provider_failed"
    assert [one["job"]["status"] for one in shown] == ["queued"] * len(shown)


def test_a_hundred_items_are_each_filled_in(bench: Bench) -> None:
    bench.providers(one=MISS)
    items = [{"subject": {"linkedin_url": f"{ADA}-{number}"}} for number in range(100)]

    shown = bench.run(bench.submit(*items))

    assert shown["job"]["progress"] == {"done": 100, "total": 100}
    assert {item["outcome"] for item in shown["result"]["items"]} == {"not_found"}


def test_a_worker_that_ends_leaves_off_between_items_and_spends_no_try(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = bench.providers(one=about)
    job_id = bench.submit(SLOW, QUICK)
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: bool(known["one"].asked))

    left = bench.run(job_id)
    attempts = bench.attempts(job_id)
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: False)
    done = bench.run(job_id)

    assert (left["job"]["status"], left["job"]["progress"], attempts) == (
        "queued",
        {"done": 1, "total": 2},
        0,
    )
    assert (done["job"]["status"], done["job"]["progress"]) == ("succeeded", DONE)
    assert len(known["one"].asked) == 2
