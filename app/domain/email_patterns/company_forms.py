"""The probability that an address has a form, given the known addresses of the company.

The prior is measured: `data/emails/email_forms.csv` counts the forms at 158 companies, most of which mix
several. Each contributes a Dirichlet distribution of `STRENGTH` addresses, in proportion to its own
counts and to `SMOOTHING` addresses with the shares of all companies. The mixture of these distributions is
updated with the known addresses (empirical Bayes). The constants are chosen by predicting each company from
the others (`benchmarks/pattern_hits.py`): confidences are then within three points of the hit rates.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import exp, lgamma, log, sqrt
from operator import mul
from pathlib import Path

FORMS: tuple[str, ...] = (
    "{first}.{last}", "{f}{last}", "{first}{l}", "{first}", "{last}.{first}", "{first}{last}", "{f}.{last}",
    "{last}{first}", "{f}-{last}", "{last}", "{first}_{last}", "{l}{first}", "{f}{l}", "{last}{f}",
    "{first}-{last}", "{first}.{l}", "{last}.{f}", "{l}.{first}", "{last}-{first}", "{f}_{last}",
    "{last}_{first}",
)  # fmt: skip
"""The forms, the most common first: an address that matches two forms counts for the first."""
OTHER = "(other)"
"""Stands for all addresses that follow none of the forms."""
STRENGTH = 8
"""The weight of a measured company in a prediction, in addresses."""
SMOOTHING = 3
"""The weight of the shares of all companies in the shares of a measured one, in addresses."""
RARE = 0.0005
"""The minimum share of a form among all companies."""
RULE_WEIGHT = 0.1
"""The weight of one invented company per form, 90 % of whose people have it; measured ones have 2.4 to 24."""

_FILE = Path(__file__).parents[1] / "data" / "emails" / "email_forms.csv"


@cache
def measured_companies() -> tuple[Mapping[str, int], ...]:
    """Return the number of people per form, or `OTHER`, of each measured company."""
    companies: dict[str, dict[str, int]] = {}
    with _FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            form = row["form"] if row["form"] in FORMS else OTHER
            people = companies.setdefault(row["company"], {})
            people[form] = people.get(form, 0) + int(row["people"])
    return tuple(companies.values())


class FormModel:
    """A prior over the mix of forms at a company, learned from other companies."""

    def __init__(self, companies: Sequence[Mapping[str, int]]) -> None:
        weights = [sqrt(sum(company.values())) for company in companies]  # a large one has more of the people
        shares = _shares(companies, weights)
        rules = [{form: 9, OTHER: 1} for form in FORMS]  # some rules are too rare to have been measured
        self._log_weights = [log(weight) for weight in (*weights, *[RULE_WEIGHT] * len(rules))]
        self._expected = {form: _expected((*companies, *rules), form, shares[form]) for form in shares}

    def probabilities(self, known: Mapping[str, int]) -> dict[str, float]:
        """Return the probability of each form, and of `OTHER`, for the next address of a company.

        `known` counts its addresses by form or `OTHER`. The probabilities add up to 1.
        """
        weights = self._weights(known)
        total = sum(weights)
        addresses = STRENGTH + sum(known.values())
        return {
            form: (sum(map(mul, weights, expected)) / total + known.get(form, 0)) / addresses
            for form, expected in self._expected.items()
        }

    def _weights(self, known: Mapping[str, int]) -> list[float]:
        """Return the likelihood of the known addresses at each company, up to a constant factor."""
        logs = self._log_weights
        for form, count in known.items():
            expected = self._expected[form]
            logs = [
                value + lgamma(own + count) - lgamma(own) for value, own in zip(logs, expected, strict=True)
            ]
        highest = max(logs)
        return [exp(value - highest) for value in logs]


@cache
def measured_model() -> FormModel:
    """Return the model of all measured companies."""
    return FormModel(measured_companies())


def _shares(companies: Iterable[Mapping[str, int]], weights: Sequence[float]) -> dict[str, float]:
    """Return the weighted mean of each form's share at the companies."""
    sums = dict.fromkeys((*FORMS, OTHER), RARE * sum(weights))
    for company, weight in zip(companies, weights, strict=True):
        size = sum(company.values())
        for form, count in company.items():
            sums[form] += weight * count / size
    total = sum(sums.values())
    return {form: value / total for form, value in sums.items()}


def _expected(companies: Iterable[Mapping[str, int]], form: str, share: float) -> list[float]:
    """Return each company's parameter of its Dirichlet distribution for the form."""
    return [
        STRENGTH * (company.get(form, 0) + SMOOTHING * share) / (sum(company.values()) + SMOOTHING)
        for company in companies
    ]
