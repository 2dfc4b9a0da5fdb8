from __future__ import annotations

import pytest

from app.domain.kinds import FORGET, OPEN, QUEUES, SWEEP, Kind, Outcome, Queue, Status, TraceOutcome


def test_every_kind_has_a_queue_and_upkeep_is_for_no_job() -> None:
    assert set(QUEUES) == set(Kind)
    assert Queue.UPKEEP not in QUEUES.values()


def test_bulk_requests_and_clicks_have_different_queues() -> None:
    bulk = [kind for kind in Kind if QUEUES[kind] is Queue.ENRICHMENT]

    assert bulk == [Kind.ENRICHMENT_REQUEST]


def test_no_upkeep_task_has_the_name_of_a_kind() -> None:
    assert {SWEEP, FORGET}.isdisjoint(set(Kind))


def test_jobs_that_are_open_are_queued_or_running() -> None:
    assert [status.value for status in OPEN] == ["queued", "running"]


@pytest.mark.parametrize(
    ("enum", "words"),
    [
        (Status, "queued running succeeded failed canceled expired"),
        (Outcome, "found partial not_found suppressed"),
        (
            TraceOutcome,
            """hit miss known_miss ineligible suppressed no_credits unconfigured rate_limited cost_ceiling
            circuit_open timeout error""",
        ),
    ],
)
def test_the_values_are_those_of_the_contract(enum: type[Status], words: str) -> None:
    assert [member.value for member in enum] == words.split()
