from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.providers.rates import Rate, parse_rates


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("", ()),
        ("15/second", (Rate(15, 1.0),)),
        (" 15/second ; 500 / minute", (Rate(15, 1.0), Rate(500, 60.0))),
        ("60/minute,1000/day", (Rate(60, 60.0), Rate(1000, 86400.0))),
    ],
)
def test_rates_are_parsed(text: str, rates: tuple[Rate, ...]) -> None:
    assert parse_rates(text) == rates


@pytest.mark.parametrize("text", ["15", "0/second", "-1/second", "15/fortnight", "1.5/second", "x/second"])
def test_an_invalid_rate_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_rates(text)


@pytest.mark.parametrize("text", ["15/second", "500/minute", "2/day"])
def test_a_rate_is_formatted_as_it_is_parsed(text: str) -> None:
    assert ";".join(map(str, parse_rates(text))) == text
