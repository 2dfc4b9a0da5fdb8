from __future__ import annotations

import pytest

from app.domain.purposes import PurposeRule
from app.domain.regional_rules import parse_places


@pytest.mark.parametrize(
    ("places", "country", "required"),
    [
        ("", "DE", False),
        ("", None, False),
        ("DE", "DE", True),
        ("DE", "US", False),
        ("DE", None, False),
        ("EU", "FR", True),
        ("unknown", None, True),
        ("unknown", "DE", False),
        ("*", "US", True),
        ("*", None, True),
    ],
)
def test_a_purpose_is_required_of_people_in_the_listed_places(
    places: str, country: str | None, *, required: bool
) -> None:
    rule = PurposeRule(parse_places(places.split(",") if places else ()))

    assert rule.requires(country) is required


def test_a_rule_for_all_countries_is_told_from_one_for_some() -> None:
    none, some, everywhere = (PurposeRule(parse_places(words)) for words in ([], ["EU", "unknown"], ["*"]))

    assert [(rule.is_set, rule.is_everywhere) for rule in (none, some, everywhere)] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def test_the_refusal_names_the_purposes_that_can_be_stated() -> None:
    problem = PurposeRule(allowed=("recruiting", "support")).refusal().as_dict()

    assert (problem["code"], problem["status"], problem["retryable"]) == ("purpose_required", 422, False)
    assert problem["detail"].endswith("recruiting, support.")
    assert problem["purposes"] == ["recruiting", "support"]
