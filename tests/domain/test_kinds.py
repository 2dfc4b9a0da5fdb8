from __future__ import annotations

import pytest

from app.domain import kinds
from app.domain.callers import Scope
from app.domain.kinds import CLICKS, FORGET, KINDS, OPEN, SWEEP, Kind, Outcome, Queue, Status, TraceOutcome


def test_every_named_kind_is_specified_and_upkeep_is_for_no_job() -> None:
    assert set(KINDS) == set(Kind)
    assert Queue.UPKEEP not in {spec.queue for spec in KINDS.values()}


def test_bulk_requests_and_clicks_have_different_queues() -> None:
    bulk = {KINDS[kind].queue for kind in (Kind.ENRICHMENT_REQUEST, Kind.VERIFICATION)}

    assert bulk == {Queue.ENRICHMENT}
    assert Queue.ENRICHMENT not in CLICKS


def test_no_upkeep_task_has_the_name_of_a_kind() -> None:
    assert {SWEEP, FORGET}.isdisjoint(KINDS)


def test_only_kinds_without_price_and_items_are_free() -> None:
    free, priced, with_items = Kind.COMPANY_BY_HASH, Kind.REVEAL_EMAIL, Kind.ENRICHMENT_REQUEST

    assert KINDS[free].is_free
    assert not KINDS[priced].is_free
    assert not KINDS[with_items].is_free


def test_the_setting_of_a_price_is_named_after_the_kind() -> None:
    assert kinds.revealing("phone").price_setting == "PRICE_REVEAL_PHONE"


def test_a_caller_sees_the_kinds_of_its_scopes() -> None:
    assert kinds.visible_to([Scope.REVEAL, Scope.SAVE]) == {Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE}


def test_jobs_that_are_open_are_queued_or_running() -> None:
    assert [status.value for status in OPEN] == ["queued", "running"]


@pytest.mark.parametrize(
    ("enum", "words"),
    [
        (Status, "queued running succeeded failed canceled expired"),
        (Outcome, "found partial not_found suppressed excluded skipped"),
        (
            TraceOutcome,
            """hit miss known_miss ineligible suppressed no_credits unconfigured rate_limited cost_ceiling
            circuit_open timeout error""",
        ),
    ],
)
def test_the_values_are_those_of_the_contract(enum: type[Status], words: str) -> None:
    assert [member.value for member in enum] == words.split()
