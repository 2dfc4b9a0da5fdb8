import pytest

from app.domain.email_patterns.company_forms import OTHER, measured_companies
from benchmarks.pattern_hits import BINS, bins, mean, measure_names, predictions


@pytest.mark.release
def test_the_confidence_of_a_guess_is_within_three_points_of_its_hit_rate() -> None:
    made = list(predictions(measured_companies(), 20))

    gaps = [
        100 * abs(mean(part, (one.confidence for one in part)) - mean(part, (one.rates[0] for one in part)))
        for part in bins(made)
        if part
    ]

    assert len(gaps) == BINS
    assert max(gaps) <= 3


def test_three_known_addresses_predict_nearly_as_well_as_hindsight() -> None:
    made = [one for one in predictions(measured_companies(), 5) if one.known == 3]

    rate, best = mean(made, (one.rates[0] for one in made)), mean(made, (one.best for one in made))

    assert best == pytest.approx(0.622, abs=0.002)
    assert 0.57 < rate < best


def test_generated_people_of_a_company_with_one_form_are_guessed_by_that_form() -> None:
    companies = [{"{last}{f}": 10}, {"{last}{f}": 9, OTHER: 1}, {"{first}.{last}": 10}]

    tally = measure_names(companies)["plain", 10]

    assert tally["first"] > 0.8 * tally["people"]
    assert tally["floor"] < 0.5 * tally["people"]
