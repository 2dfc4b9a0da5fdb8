"""A stored problem is read in any language, as if it had just been raised."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from app.domain import stored_messages
from app.domain.credit_schedules import NextGrant
from app.domain.errors import FieldError, InsufficientCredits, Problem, SpendingLimitReached, ValidationFailed
from app.domain.messages import Figure, Message
from app.domain.spending import LimitUsage, Period
from app.infra.languages import texts

DAY = datetime(2026, 12, 1, tzinfo=UTC)
LIMIT = LimitUsage(
    subject="key", subject_id="key_1", period=Period.MONTH, credits=5, held=1, spent=3, resets_at=DAY
)
TOO_LONG = FieldError("/name", Message("The list has more than {max} rows.", max=Figure(50_000)))


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@pytest.mark.parametrize(
    "problem",
    [
        InsufficientCredits(1, 0),
        InsufficientCredits(3, 1, NextGrant(DAY, 1200)),
        SpendingLimitReached(3, 1, LIMIT),
        ValidationFailed(errors=(TOO_LONG,)),
    ],
)
def test_a_stored_problem_has_the_sentences_of_a_new_one(problem: Problem, language: str) -> None:
    new = problem.as_dict()

    stored = stored_messages.loads(stored_messages.dumps(new))

    assert stored == new
    assert texts.translate(stored["detail"], language) == texts.translate(new["detail"], language)
    for one, other in zip(stored.get("errors", ()), new.get("errors", ()), strict=True):
        assert texts.translate(one["detail"], language) == texts.translate(other["detail"], language)


def test_a_sentence_that_was_stored_as_a_text_stays_one() -> None:
    error = {"code": "provider_failed", "detail": "Said by a {provider}.", "limit": None}

    assert stored_messages.loads(json.dumps(error)) == error
    assert json.loads(stored_messages.dumps(error)) == error
