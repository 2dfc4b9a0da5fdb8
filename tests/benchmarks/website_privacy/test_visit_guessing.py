from __future__ import annotations

import pytest

from benchmarks.website_privacy.visit_guessing import EXPONENTS, Row, measure

Rates = dict[tuple[str, float], Row]

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def rates() -> Rates:
    """The rows by what is sent and by exponent."""
    return {(row.sent, row.exponent): row for row in measure(20_000, 200)}


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_rate_rises_with_each_digit_from_that_of_no_request(rates: Rates, exponent: float) -> None:
    sent = ["no request", *(f"prefix of {digits}" for digits in range(1, 6))]

    of_visits = [rates[name, exponent].of_visits for name in sent]

    assert of_visits == sorted(set(of_visits))
    assert of_visits[-1] < 100


def test_the_rate_of_no_request_is_the_share_of_the_most_visited_site(rates: Rates) -> None:
    harmonic = sum(1 / rank for rank in range(1, 20_001))

    assert rates["no request", 1.0].of_visits == pytest.approx(100 / harmonic)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_random_prefixes_protect_one_request_and_not_ten_for_one_site(rates: Rates, exponent: float) -> None:
    alone = rates["prefix of 2", exponent].of_visits
    once = rates["prefix of 2 among 15 random ones, one request", exponent].of_visits
    often = rates["prefix of 2 among 15 random ones, ten requests for one site", exponent].of_visits

    assert once < alone / 2
    assert often == pytest.approx(alone, rel=0.1)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_with_the_file_few_visits_are_guessed_and_most_requests_are(rates: Rates, exponent: float) -> None:
    by_prefix = rates["prefix of 2, known sites only", exponent]
    by_hash = rates["whole hash, known sites only", exponent]

    assert by_prefix.of_visits < by_hash.of_visits < rates["prefix of 2", exponent].of_visits
    assert by_prefix.of_requests > rates["prefix of 2", exponent].of_requests
    assert by_hash.of_requests == 100
