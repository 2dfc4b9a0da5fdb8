from __future__ import annotations

import pytest
from flask import Flask

from app.api.http.waiting import DEFAULT_SECONDS, MAX_SECONDS, WaitPreference, wait_preference

BARE = Flask("bare")


def prefer(*lines: str) -> WaitPreference:
    with BARE.test_request_context(headers=[("Prefer", line) for line in lines]):
        return wait_preference()


def test_without_a_preference_the_usual_wait_applies() -> None:
    assert prefer() == WaitPreference(DEFAULT_SECONDS, None)


def test_an_endpoint_can_have_a_wait_of_its_own() -> None:
    with BARE.test_request_context():
        assert wait_preference(default=0) == WaitPreference(0, None)


@pytest.mark.parametrize(
    "line", ["wait=5", "WAIT=5", 'wait="5"', " wait = 5 ", "wait=5; foo=bar", "a=b, wait=5"]
)
def test_a_wait_is_read_as_the_rfc_writes_it(line: str) -> None:
    assert prefer(line) == WaitPreference(5, "wait=5")


def test_not_to_wait_is_a_wait_of_nothing() -> None:
    assert prefer("wait=0") == WaitPreference(0, "wait=0")


@pytest.mark.parametrize("seconds", [MAX_SECONDS, MAX_SECONDS + 1, 999_999_999])
def test_nobody_waits_longer_than_the_most(seconds: int) -> None:
    assert prefer(f"wait={seconds}") == WaitPreference(25, "wait=25")


@pytest.mark.parametrize("line", ["respond-async", "Respond-Async", "return=minimal, respond-async; x=y"])
def test_who_asks_for_it_is_answered_without_a_wait(line: str) -> None:
    assert prefer(line) == WaitPreference(0, "respond-async")


@pytest.mark.parametrize(
    "lines", [["respond-async, wait=7"], ["wait=7, respond-async"], ["respond-async", "wait=7"]]
)
def test_an_asynchronous_answer_after_a_wait_is_a_wait(lines: list[str]) -> None:
    assert prefer(*lines) == WaitPreference(7, "wait=7")


def test_of_two_waits_the_first_counts() -> None:
    assert prefer("wait=3", "wait=4") == WaitPreference(3, "wait=3")


@pytest.mark.parametrize(
    "line",
    [
        "",
        ",",
        ";",
        "wait",
        "wait=",
        "wait=-1",
        "wait=1.5",
        "wait=ten",
        "wait=²",
        "wait=1000000000",
        "awaited=5",
    ],
)
def test_what_makes_no_sense_is_ignored(line: str) -> None:
    assert prefer(line) == WaitPreference(DEFAULT_SECONDS, None)
