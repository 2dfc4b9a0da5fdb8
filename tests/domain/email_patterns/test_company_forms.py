import pytest

from app.domain.email_patterns.company_forms import (
    FORMS,
    OTHER,
    FormModel,
    measured_companies,
    measured_model,
)


def test_the_forms_are_in_the_order_of_the_people_who_have_them() -> None:
    people = [sum(company.get(form, 0) for company in measured_companies()) for form in FORMS]

    assert people == sorted(people, reverse=True)


def test_the_measured_companies_are_those_of_the_data_file() -> None:
    companies = measured_companies()

    assert (len(companies), sum(sum(company.values()) for company in companies)) == (158, 4974)


@pytest.mark.parametrize("known", [{}, {"{first}": 1}, {"{f}{last}": 700, OTHER: 300}, {OTHER: 3}])
def test_the_probabilities_of_all_forms_add_up_to_one(known: dict[str, int]) -> None:
    probabilities = measured_model().probabilities(known)

    assert sum(probabilities.values()) == pytest.approx(1)
    assert set(probabilities) == {*FORMS, OTHER}
    assert min(probabilities.values()) > 0


def test_without_known_addresses_the_probabilities_are_near_the_shares_of_all_people() -> None:
    probabilities = measured_model().probabilities({})

    assert probabilities["{first}.{last}"] == pytest.approx(2314 / 4974, abs=0.02)
    assert probabilities[OTHER] == pytest.approx(0.25, abs=0.02)


def test_many_known_addresses_outweigh_the_measured_companies() -> None:
    probabilities = measured_model().probabilities({"{l}.{first}": 600, "{first}": 400})

    assert probabilities["{l}.{first}"] == pytest.approx(0.6, abs=0.01)


def test_a_rare_form_is_learned_from_a_few_addresses() -> None:
    assert measured_model().probabilities({"{last}.{f}": 5})["{last}.{f}"] > 0.7


def test_a_form_predicts_those_it_is_mixed_with() -> None:
    mixed = {"{first}": 5, "{f}{last}": 5}
    model = FormModel([mixed, mixed, {"{first}.{last}": 10}])

    probabilities = model.probabilities({"{first}": 1})

    assert probabilities["{f}{last}"] > probabilities["{first}.{last}"]
