"""The order in which providers are asked that costs least for what it finds.

Asking provider i costs c(i) and finds something that holds with chance p(i); the first find ends the search.
The costs of an order are the sum of each c(i) times the chance that all before it found nothing; the chance
that somebody finds something is the same in any order. Swapping two neighbours i, j changes only their own
share, from c(i) + (1 - p(i)) c(j) to c(j) + (1 - p(j)) c(i), so i belongs first exactly if c(i) / p(i) is
not greater than c(j) / p(j). Any order can be sorted by cost per hit in swaps that never make it dearer, so
the sorted one is cheapest (L. G. Mitten, "An Analytic Solution to the Least Cost Testing Sequence Problem",
Journal of Industrial Engineering, 1960).

All of this takes the providers' chances as independent. They are not: whom one does not know the next is less
likely to know, too, and who is asked late was measured on the harder cases. So what is said of another order
is an estimate, and rather kind to the order in which the figures came about.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

PRIOR_HITS = 4.0
PRIOR_MISSES = 6.0
"""Beta(4, 6): a provider's first ten questions weigh as much as the guess that four in ten are hits."""
_PRIOR = PRIOR_HITS + PRIOR_MISSES
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEstimate:
    """What is known of a provider: how often it was asked, hit, and gave an address that bounced.

    `price` is what one answer costs at most by its list, `spent` what all of them cost, in the operator's
    money; `latency_ms` is the median.
    """

    price: float = 0.0
    asked: int = 0
    hits: int = 0
    bounces: int = 0
    spent: float = 0.0
    latency_ms: int | None = None

    @property
    def is_free(self) -> bool:
        """Tell whether asking costs nothing, whatever comes of it."""
        return self.price == 0 and self.spent == 0

    @property
    def hit_rate(self) -> float:
        """Give the chance of a hit that holds: a bounce takes one away, and few questions prove little."""
        good = max(self.hits - self.bounces, 0)
        return (good + PRIOR_HITS) / (self.asked + _PRIOR)

    @property
    def cost(self) -> float:
        """Give what a question costs on average; before there were any, the list price of the likely hits."""
        return (self.spent + PRIOR_HITS * self.price) / (self.asked + _PRIOR)

    @property
    def cost_per_hit(self) -> float:
        """Give what a hit that holds costs: the score, the lower the better."""
        return self.cost / self.hit_rate


@dataclass(frozen=True, slots=True)
class Expected:
    """What an order does to one question: its cost in the operator's money, and the chance of a find."""

    cost: float
    hit_rate: float

    @property
    def cost_per_hit(self) -> float | None:
        """Give the cost of a find; None if there is none."""
        return self.cost / self.hit_rate if self.hit_rate else None


def expected(order: Sequence[str], figures: Mapping[str, ProviderEstimate]) -> Expected:
    """Work out what the order costs and finds, if the providers are independent."""
    cost, open_share = 0.0, 1.0
    for name in order:
        cost += open_share * figures[name].cost
        open_share *= 1 - figures[name].hit_rate
    return Expected(cost, 1 - open_share)


def best(
    configured: Sequence[str], figures: Mapping[str, ProviderEstimate], pinned: Collection[str] = ()
) -> tuple[str, ...]:
    """Give the cheapest order: who is free first, then by cost per hit; equals by time per hit, then as is.

    Who is pinned keeps its place. So does, among those that cost money, who was never asked, as nothing
    speaks for another; should that make the order dearer than the configured one, that one stands.
    """
    free = [name for name in configured if name not in pinned and figures[name].is_free]
    paid = [name for name in configured if name not in pinned and not figures[name].is_free]
    measured = iter(sorted((name for name in paid if figures[name].asked), key=lambda n: _rank(figures[n])))
    by_cost = [next(measured) if figures[name].asked else name for name in paid]
    orders = (_around(configured, pinned, [*free, *by_cost]), tuple(configured))
    return min(orders, key=lambda order: round(expected(order, figures).cost, _DIGITS))


def _around(configured: Sequence[str], pinned: Collection[str], moved: Sequence[str]) -> tuple[str, ...]:
    """Put the moved ones, in their order, where the configured order has nobody pinned."""
    rest = iter(moved)
    return tuple(name if name in pinned else next(rest) for name in configured)


def _rank(figures: ProviderEstimate) -> tuple[float, float]:
    latency = math.inf if figures.latency_ms is None else figures.latency_ms / figures.hit_rate
    return round(figures.cost_per_hit, _DIGITS), latency
