from __future__ import annotations

import pytest

from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import (
    Attempt,
    ReverseLookupLimits,
    admitted,
    domain_of,
    person_of,
    values_in,
    without,
)

LIMITS = ReverseLookupLimits(per_person=1, per_domain=2, per_workspace=3)


def attempt(value: int, domain: str | None = None, person: str | None = None) -> Attempt:
    return Attempt(bytes([value]), domain and domain.encode(), person and person.encode())


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ([attempt(1, "a"), attempt(2, "a"), attempt(3, "a"), attempt(4, "b")], [1, 2, 4]),
        ([attempt(1, None, "ada"), attempt(2, None, "ada"), attempt(3, None, "bob")], [1, 3]),
        ([attempt(number) for number in range(5)], [0, 1, 2]),
        ([attempt(1, "a"), attempt(1, "a"), attempt(2, "a")], [1, 2]),
    ],
)
def test_each_limit_counts_different_values(attempts: list[Attempt], expected: list[int]) -> None:
    assert [new.value[0] for new in admitted(attempts, [], LIMITS)] == expected


def test_what_was_tried_before_counts_and_is_not_new() -> None:
    tried = [attempt(1, "a", "ada"), attempt(2, "a")]
    attempts = [attempt(1, "a"), attempt(3, "a"), attempt(4, "b", "ada"), attempt(5, "b"), attempt(6, "c")]

    assert [new.value[0] for new in admitted(attempts, tried, LIMITS)] == [5]


@pytest.mark.parametrize(
    ("kind", "value", "domain"),
    [
        ("email", "ada@acme.com", "acme.com"),
        ("email", "ada@gmail.com", None),
        ("phone", "+12025550143", "+1202555"),
    ],
)
def test_the_domain_is_where_similar_values_are_guessed(kind: str, value: str, domain: str | None) -> None:
    assert domain_of(kind, value) == domain


@pytest.mark.parametrize(
    ("subject", "person"),
    [
        (Subject(contact_id="con_1", full_name="Ada Lovelace"), "con_1"),
        (Subject(linkedin_url="https://www.linkedin.com/in/ada"), "https://www.linkedin.com/in/ada"),
        (Subject(first_name="Ada", last_name="LOVELACE", email="ada@acme.com"), "ada lovelace"),
        (Subject(email="ada@acme.com"), None),
    ],
)
def test_the_person_is_what_else_the_subject_names(subject: Subject, person: str | None) -> None:
    assert person_of(subject) == person


def test_hidden_values_are_left_out_of_a_subject() -> None:
    subject = Subject(full_name="Ada", email="ada@acme.com", phone="+12025550143")

    assert values_in(subject) == [("email", "ada@acme.com"), ("phone", "+12025550143")]
    assert without(subject, [("phone", "+12025550143"), ("email", "eve@acme.com")]) == Subject(
        full_name="Ada", email="ada@acme.com"
    )
    assert without(subject, []) is subject
