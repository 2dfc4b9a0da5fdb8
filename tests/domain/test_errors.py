from __future__ import annotations

import pytest

from app.domain import errors
from app.domain.errors import FieldError, InsufficientCredits, NotFound, Problem, RateLimited

CODES = errors.all_problems()
WITH_ARGUMENTS = {"validation_error", "insufficient_credits", "spending_limit_reached", "purpose_required"}


def tree() -> set[str]:
    return {word for word in (errors.__doc__ or "").split() if word[0].isupper() and word.isalnum()}


def subclasses(kind: type[Problem]) -> set[type[Problem]]:
    return {kind}.union(*(subclasses(child) for child in kind.__subclasses__()))


def test_the_tree_in_the_docstring_has_every_class() -> None:
    drawn = tree()

    missing = {kind.__name__ for kind in subclasses(Problem)} - drawn

    assert missing == set()


@pytest.mark.parametrize("kind", [kind for kind in CODES.values() if kind.status < 500])
def test_the_tree_in_the_docstring_has_every_status(kind: type[Problem]) -> None:
    family = next(c for c in kind.__mro__[::-1] if c in subclasses(Problem) and "status" in vars(c))

    line = next(line for line in (errors.__doc__ or "").splitlines() if f" {family.__name__} " in line)

    assert f" {kind.status}" in line


def test_every_code_belongs_to_one_class() -> None:
    coded = [kind for kind in subclasses(Problem) if "code" in vars(kind)]

    assert sorted(CODES) == sorted(kind.code for kind in coded)
    assert set(CODES.values()) == set(coded)


def test_codes_are_ordered_by_status() -> None:
    statuses = [kind.status for kind in CODES.values()]

    assert statuses == sorted(statuses)


@pytest.mark.parametrize("code", CODES)
def test_every_problem_has_a_title_and_a_help_text(code: str) -> None:
    kind = CODES[code]

    assert code == code.lower()
    assert kind.title
    assert kind.help.endswith(".")
    assert (kind.__doc__ or "").endswith(".")
    assert 400 <= kind.status < 600


@pytest.mark.parametrize("code", sorted(CODES.keys() - WITH_ARGUMENTS))
def test_the_default_detail_of_a_problem_is_its_help_text(code: str) -> None:
    body = CODES[code]().as_dict()
    retry_after = body.pop("retry_after", None)

    assert retry_after == CODES[code].retry_seconds
    assert body == {
        "type": f"/problems/{code}",
        "title": CODES[code].title,
        "status": CODES[code].status,
        "detail": CODES[code].help,
        "code": code,
        "retryable": CODES[code].retryable,
    }


def test_a_problem_lists_the_invalid_fields() -> None:
    problem = errors.ValidationFailed(errors=(FieldError("/subject/email", "This is no address."),))

    assert problem.as_dict()["errors"] == [{"pointer": "/subject/email", "detail": "This is no address."}]


def test_a_rate_limit_has_retry_after() -> None:
    body = RateLimited(retry_after=7).as_dict()

    assert (body["retry_after"], body["retryable"]) == (7, True)


def test_insufficient_credits_has_the_required_credits_and_the_balance() -> None:
    body = InsufficientCredits(required=3, balance=2).as_dict()

    assert (body["required"], body["balance"], body["status"]) == (3, 2, 402)
    assert body["detail"].startswith("This needs 3 credits and the workspace has 2 credits.")


def test_the_text_of_the_exception_is_only_the_code() -> None:
    problem = NotFound("There is no ada@acme.com here.")

    assert str(problem) == "not_found"
    assert problem.detail == "There is no ada@acme.com here."


def test_only_problems_that_a_retry_can_resolve_are_retryable() -> None:
    retryable = {code for code, kind in CODES.items() if kind.retryable}

    assert retryable == {
        "rate_limited",
        "request_timeout",
        "too_many_attempts",
        "internal_error",
        "unavailable",
        "provider_failed",
        "worker_lost",
        "job_expired",
    }
