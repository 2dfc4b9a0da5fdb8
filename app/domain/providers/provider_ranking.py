"""The order of providers with the lowest expected cost.

A call to provider i costs c(i) and returns a correct result with probability p(i); the first hit ends the
search. The expected cost of an order is the sum of each c(i) times the probability that all earlier providers
missed; the probability of a hit is the same in any order. Swapping two neighbours i, j changes only their own
share, from c(i) + (1 - p(i)) c(j) to c(j) + (1 - p(j)) c(i), so i belongs first exactly if c(i) / p(i) is
not greater than c(j) / p(j). Any order can be sorted by cost per hit in swaps that never raise its cost, so
the sorted order is the cheapest (L. G. Mitten, "An Analytic Solution to the Least Cost Testing Sequence
Problem", Journal of Industrial Engineering, 1960).

The model assumes that the providers' hits are independent. They are not: a person unknown to one provider is
less likely to be known to the next, and a provider called late was measured on harder cases. The figures of
another order are therefore an estimate, biased towards the order in which they were measured.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

PRIOR_HITS = 4.0
PRIOR_MISSES = 6.0
"""Beta(4, 6): the prior, a hit rate of four in ten, weighs as much as ten calls."""
_PRIOR = PRIOR_HITS + PRIOR_MISSES
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEstimate:
    """The statistics of a provider: its calls (`asked`), its hits, and its addresses that bounced.

    `price` is the highest list price of one response and `spent` the cost of all responses, both in the
    operator's currency; `latency_ms` is the median.
    """

    price: float = 0.0
    asked: int = 0
    hits: int = 0
    bounces: int = 0
    spent: float = 0.0
    latency_ms: int | None = None

    @property
    def is_free(self) -> bool:
        """Return whether calls are free, whatever their outcome."""
        return self.price == 0 and self.spent == 0

    @property
    def hit_rate(self) -> float:
        """Return the smoothed probability of a correct hit; a bounce cancels a hit."""
        good = max(self.hits - self.bounces, 0)
        return (good + PRIOR_HITS) / (self.asked + _PRIOR)

    @property
    def cost(self) -> float:
        """Return the average cost of a call; without calls, the list price times the prior hit rate."""
        return (self.spent + PRIOR_HITS * self.price) / (self.asked + _PRIOR)

    @property
    def cost_per_hit(self) -> float:
        """Return the cost of a correct hit, by which providers are sorted; lower is better."""
        return self.cost / self.hit_rate


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected cost of a search in the operator's currency, and its probability of a hit."""

    cost: float
    hit_rate: float

    @property
    def cost_per_hit(self) -> float | None:
        """Return the cost of a hit; None if no hit is expected."""
        return self.cost / self.hit_rate if self.hit_rate else None


def expected(order: Sequence[str], figures: Mapping[str, ProviderEstimate]) -> Expected:
    """Return the expected cost and hit rate of an order, if the providers are independent."""
    cost, open_share = 0.0, 1.0
    for name in order:
        cost += open_share * figures[name].cost
        open_share *= 1 - figures[name].hit_rate
    return Expected(cost, 1 - open_share)


def best(
    configured: Sequence[str], figures: Mapping[str, ProviderEstimate], pinned: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the cheapest order: free providers, then by cost per hit, time per hit, configured position.

    A pinned provider keeps its position. A paid provider that was never called keeps its position among the
    paid ones, because it has no statistics. If the result costs more than the configured order, the
    configured order is returned.
    """
    free = [name for name in configured if name not in pinned and figures[name].is_free]
    paid = [name for name in configured if name not in pinned and not figures[name].is_free]
    measured = iter(sorted((name for name in paid if figures[name].asked), key=lambda n: _rank(figures[n])))
    by_cost = [next(measured) if figures[name].asked else name for name in paid]
    orders = (_around(configured, pinned, [*free, *by_cost]), tuple(configured))
    return min(orders, key=lambda order: round(expected(order, figures).cost, _DIGITS))


def _around(configured: Sequence[str], pinned: Collection[str], moved: Sequence[str]) -> tuple[str, ...]:
    """Return the configured order with its positions that are not pinned filled by `moved`."""
    rest = iter(moved)
    return tuple(name if name in pinned else next(rest) for name in configured)


def _rank(figures: ProviderEstimate) -> tuple[float, float]:
    latency = math.inf if figures.latency_ms is None else figures.latency_ms / figures.hit_rate
    return round(figures.cost_per_hit, _DIGITS), latency
