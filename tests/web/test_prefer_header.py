from __future__ import annotations

import pytest
from flask import Flask

from app.web.jobs.waiting import DEFAULT_SECONDS, MAX_SECONDS, WaitPreference, wait_preference

BARE = Flask("bare")


def prefer(*values: str) -> WaitPreference:
    with BARE.test_request_context(headers=[("Prefer", value) for value in values]):
        return wait_preference()


def test_without_a_preference_the_default_wait_applies() -> None:
    assert prefer() == WaitPreference(DEFAULT_SECONDS, None)


def test_an_endpoint_can_have_its_own_default_wait() -> None:
    with BARE.test_request_context():
        assert wait_preference(default=0) == WaitPreference(0, None)


@pytest.mark.parametrize(
    "value", ["wait=5", "WAIT=5", 'wait="5"', " wait = 5 ", "wait=5; foo=bar", "a=b, wait=5"]
)
def test_a_wait_is_parsed_in_every_form_of_the_rfc(value: str) -> None:
    assert prefer(value) == WaitPreference(5, "wait=5")


def test_a_wait_of_zero_is_applied() -> None:
    assert prefer("wait=0") == WaitPreference(0, "wait=0")


@pytest.mark.parametrize("seconds", [MAX_SECONDS, MAX_SECONDS + 1, 999_999_999])
def test_a_wait_is_capped_at_the_maximum(seconds: int) -> None:
    assert prefer(f"wait={seconds}") == WaitPreference(25, "wait=25")


@pytest.mark.parametrize("value", ["respond-async", "Respond-Async", "return=minimal, respond-async; x=y"])
def test_respond_async_means_no_wait(value: str) -> None:
    assert prefer(value) == WaitPreference(0, "respond-async")


@pytest.mark.parametrize(
    "values", [["respond-async, wait=7"], ["wait=7, respond-async"], ["respond-async", "wait=7"]]
)
def test_respond_async_with_a_wait_is_a_wait(values: list[str]) -> None:
    assert prefer(*values) == WaitPreference(7, "wait=7")


def test_the_first_of_two_waits_counts() -> None:
    assert prefer("wait=3", "wait=4") == WaitPreference(3, "wait=3")


@pytest.mark.parametrize(
    "value",
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
def test_an_invalid_preference_is_ignored(value: str) -> None:
    assert prefer(value) == WaitPreference(DEFAULT_SECONDS, None)
