"""Items of an enrichment are shown when complete; a pending one delays no other and uses no attempt."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fake_providers import ERROR, MISS, WAIT, hit, person, source_of
from jobs_support import NOW
from worker_harness import ADA, BOB, WorkerHarness

from workers.execution import shutdown_flag
from workers.providers.base import Pending, ProviderRequest, ProviderResponse

SLOW = {"subject": {"linkedin_url": ADA}, "client_reference": "slow"}
QUICK = {"subject": {"linkedin_url": BOB}, "client_reference": "quick"}
DONE = {"done": 2, "total": 2}


def about(request: ProviderRequest) -> ProviderResponse:
    """Return a response about the requested person."""
    name = {ADA: "Ada Lovelace", BOB: "Bob Ray"}[str(request.subject.linkedin_url)]
    return hit(person(full_name=name, linkedin_url=request.subject.linkedin_url))


def slow_about_ada(request: ProviderRequest) -> ProviderResponse | Pending:
    """Return a pending result for Ada until polled with the token."""
    return WAIT if request.subject.linkedin_url == ADA and request.poll_token is None else about(request)


def never_ready(request: ProviderRequest) -> ProviderResponse | Pending:
    return WAIT if request.subject.linkedin_url == ADA else about(request)


def test_a_completed_item_is_shown_while_another_is_pending(harness: WorkerHarness) -> None:
    harness.set_providers(one=slow_about_ada)

    shown = harness.run_enrichment(harness.submit_enrichment(SLOW, QUICK))

    assert (shown["job"]["status"], shown["job"]["progress"]) == ("queued", {"done": 1, "total": 2})
    slow, quick = shown["result"]["items"]
    assert (slow["outcome"], slow["contact"], slow["error"]) == (None, None, None)
    assert (quick["outcome"], quick["contact"]["full_name"]) == ("found", "Bob Ray")
    assert quick["sources"]["contact"]["full_name"]["source"] == "one"


def test_a_pending_item_is_completed_and_the_other_stays_unchanged(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=slow_about_ada)
    job_id = harness.submit_enrichment(SLOW, QUICK)
    before = harness.run_enrichment(job_id)

    after = harness.run_enrichment(job_id)

    assert (after["job"]["status"], after["job"]["progress"]) == ("succeeded", DONE)
    assert after["result"]["items"][0]["contact"]["full_name"] == "Ada Lovelace"
    assert after["result"]["items"][1] == before["result"]["items"][1]
    assert [
        request.poll_token for request in providers["one"].requests if request.subject.linkedin_url == ADA
    ] == [
        None,
        "ticket",
    ]


def test_a_pending_item_uses_no_attempt(harness: WorkerHarness) -> None:
    harness.set_providers(one=never_ready)
    job_id = harness.submit_enrichment(SLOW, QUICK)
    most = harness.services.settings.max_attempts

    statuses = [harness.run_enrichment(job_id)["job"]["status"] for _ in range(most + 1)]

    assert statuses == ["queued"] * (most + 1)
    assert harness.attempts(job_id) == 0


def test_an_item_whose_provider_is_polled_for_too_long_ends_and_the_job_continues(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=never_ready, two=MISS)
    job_id = harness.submit_enrichment(SLOW, QUICK)
    harness.run_enrichment(job_id)
    harness.clock.now += timedelta(seconds=providers["one"].terms.poll_timeout + 1)

    shown = harness.run_enrichment(job_id)

    assert (shown["job"]["status"], shown["job"]["progress"]) == ("succeeded", DONE)
    assert [item["outcome"] for item in shown["result"]["items"]] == ["not_found", "found"]


def test_a_response_from_before_the_wait_is_not_requested_again(harness: WorkerHarness) -> None:
    first = hit(person(source_of("one", NOW - timedelta(days=1)), title=None, linkedin_url=ADA))
    second = hit(person(source_of("two", NOW), linkedin_url=ADA))
    providers = harness.set_providers(
        one=first, two=lambda request: WAIT if request.poll_token is None else second
    )
    job_id = harness.submit_enrichment(SLOW)
    harness.run_enrichment(job_id)

    shown = harness.run_enrichment(job_id)

    [item] = shown["result"]["items"]
    assert (item["contact"]["title"], item["outcome"]) == ("Engineer", "found")
    assert [len(providers[name].requests) for name in ("one", "two")] == [1, 2]
    assert [line["provider"] for line in shown["trace"]] == ["one", "two"]


def test_a_failing_item_delays_no_other_and_ends_with_an_error(harness: WorkerHarness) -> None:
    harness.set_providers(
        one=lambda request: ERROR if request.subject.linkedin_url == ADA else about(request), two=ERROR
    )
    job_id = harness.submit_enrichment(SLOW, QUICK)

    shown = [harness.run_enrichment(job_id) for _ in range(harness.services.settings.max_attempts)]

    assert [response["job"]["progress"]["done"] for response in shown] == [1, 1, 1, 2]
    failed, quick = shown[-1]["result"]["items"]
    assert (failed["outcome"], failed["error"]["code"]) == (None, "provider_failed")
    assert (quick["outcome"], quick["error"]) == ("found", None)
    assert shown[-1]["job"]["status"] == "succeeded"


def test_a_failing_item_uses_attempts_while_another_is_pending(harness: WorkerHarness) -> None:
    harness.set_providers(
        one=lambda request: WAIT if request.subject.linkedin_url == ADA else ERROR, two=ERROR
    )
    job_id = harness.submit_enrichment(SLOW, QUICK)

    shown = [harness.run_enrichment(job_id) for _ in range(harness.services.settings.max_attempts)]

    waiting, failed = shown[-1]["result"]["items"]
    assert (waiting["outcome"], waiting["error"]) == (None, None)
    assert failed["error"]["code"] == "provider_failed"
    assert [response["job"]["status"] for response in shown] == ["queued"] * len(shown)


def test_a_hundred_items_are_all_completed(harness: WorkerHarness) -> None:
    harness.set_providers(one=MISS)
    items = [{"subject": {"linkedin_url": f"{ADA}-{number}"}} for number in range(100)]

    shown = harness.run_enrichment(harness.submit_enrichment(*items))

    assert shown["job"]["progress"] == {"done": 100, "total": 100}
    assert {item["outcome"] for item in shown["result"]["items"]} == {"not_found"}


def test_a_worker_that_shuts_down_stops_between_items_and_uses_no_attempt(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers = harness.set_providers(one=about)
    job_id = harness.submit_enrichment(SLOW, QUICK)
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: bool(providers["one"].requests))

    stopped = harness.run_enrichment(job_id)
    attempts = harness.attempts(job_id)
    monkeypatch.setattr(shutdown_flag, "has_begun", lambda: False)
    done = harness.run_enrichment(job_id)

    assert (stopped["job"]["status"], stopped["job"]["progress"], attempts) == (
        "queued",
        {"done": 1, "total": 2},
        0,
    )
    assert (done["job"]["status"], done["job"]["progress"]) == ("succeeded", DONE)
    assert len(providers["one"].requests) == 2
