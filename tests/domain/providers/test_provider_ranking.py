from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.providers.provider_ranking import Expected, ProviderEstimate, best, expected

NAMES = "abcd"

# Providers with up to 500 calls, free or paid, with hits, some of which bounced.
MEASURED = st.tuples(
    st.sampled_from([0.0, 0.01, 0.1, 0.5, 2.0]), st.integers(1, 500), st.floats(0, 1), st.floats(0, 0.5)
).map(lambda drawn: measured(*drawn))
NEW = st.sampled_from([0.0, 0.1, 3.0]).map(lambda price: ProviderEstimate(price=price))
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def measured(price: float, asked: int, hit_rate: float, bounce_rate: float) -> ProviderEstimate:
    hits = round(asked * hit_rate)
    spent = price * (asked + hits) / 2
    return ProviderEstimate(
        price=price, asked=asked, hits=hits, bounces=round(hits * bounce_rate), spent=spent
    )


@UNTIMED
@given(st.tuples(MEASURED, MEASURED, MEASURED, MEASURED))
def test_no_permutation_is_cheaper_than_the_best_order(figures: tuple[ProviderEstimate, ...]) -> None:
    known = dict(zip(NAMES, figures, strict=True))

    cost = expected(best(NAMES, known), known).cost

    assert cost == pytest.approx(min(expected(order, known).cost for order in permutations(NAMES)))


@UNTIMED
@given(
    st.tuples(MEASURED | NEW, MEASURED | NEW, MEASURED | NEW, MEASURED | NEW),
    st.sampled_from(["", "a", "b", "cd"]),
)
def test_the_best_order_never_costs_more_than_the_configured_one(
    figures: tuple[ProviderEstimate, ...], pinned: str
) -> None:
    known = dict(zip(NAMES, figures, strict=True))

    order = best(NAMES, known, pinned)

    assert sorted(order) == list(NAMES)
    assert [order.index(name) for name in pinned] == [NAMES.index(name) for name in pinned]
    assert expected(order, known).cost <= expected(NAMES, known).cost + 1e-9


def test_the_cost_of_an_order_is_the_sum_of_the_expected_calls() -> None:
    known = {
        "a": ProviderEstimate(asked=90, hits=46, spent=100, price=0),  # hit rate 0.5, 1 per call
        "b": ProviderEstimate(asked=90, hits=21, spent=200, price=0),  # hit rate 0.25, 2 per call
    }

    assert expected("ab", known) == Expected(1 + 0.5 * 2, 1 - 0.5 * 0.75)
    assert expected("ba", known) == Expected(2 + 0.75 * 1, 1 - 0.5 * 0.75)
    assert expected("ab", known).cost_per_hit == pytest.approx(2 / 0.625)


def test_an_empty_order_has_no_cost_and_no_hits() -> None:
    assert expected("", {}) == Expected(0, 0)
    assert expected("", {}).cost_per_hit is None
    assert best("", {}) == ()


def test_a_provider_that_charges_per_hit_costs_its_price_per_hit() -> None:
    seldom = ProviderEstimate(price=0.5, asked=200, hits=10, spent=5)
    often = ProviderEstimate(price=0.5, asked=200, hits=150, spent=75)

    assert seldom.cost_per_hit == pytest.approx(often.cost_per_hit) == pytest.approx(0.5)


def test_a_few_misses_that_cost_nothing_do_not_make_a_provider_free() -> None:
    known = {
        "a": ProviderEstimate(price=0.1, asked=50, hits=25, spent=2.5),
        "b": ProviderEstimate(price=9, asked=2, hits=0, spent=0),
    }

    assert best("ba", known) == ("a", "b")


def test_bounces_lower_the_rank_of_a_provider() -> None:
    sound = ProviderEstimate(price=1, asked=100, hits=50, spent=50)
    bouncing = ProviderEstimate(price=1, asked=100, hits=50, spent=50, bounces=10)

    assert best("ab", {"a": bouncing, "b": sound}) == ("b", "a")


def test_more_bounces_than_hits_count_as_no_hits() -> None:
    assert (
        ProviderEstimate(asked=10, hits=1, bounces=5).hit_rate == ProviderEstimate(asked=10).hit_rate == 0.2
    )


def test_free_providers_come_first_in_the_configured_order() -> None:
    known = {
        "a": ProviderEstimate(price=1, asked=10, hits=10, spent=10),
        "b": ProviderEstimate(asked=10, hits=1),
        "c": ProviderEstimate(),
    }

    assert best("abc", known) == ("b", "c", "a")


def test_a_provider_without_calls_keeps_its_position_among_paid_ones() -> None:
    dear = ProviderEstimate(price=3, asked=100, hits=50, spent=150)
    cheap = ProviderEstimate(price=1, asked=100, hits=50, spent=50)
    new = ProviderEstimate(price=2)

    assert best("abc", {"a": dear, "b": new, "c": cheap}) == ("c", "b", "a")


def test_without_any_call_the_configured_order_stays() -> None:
    known = {"a": ProviderEstimate(price=3), "b": ProviderEstimate(price=1), "c": ProviderEstimate(price=2)}

    assert best("abc", known) == ("a", "b", "c")


def test_a_kept_position_does_not_make_the_order_more_expensive() -> None:
    known = {
        "a": ProviderEstimate(price=1, asked=990, hits=496, spent=500),
        "b": ProviderEstimate(price=60),
        "c": ProviderEstimate(price=0.9, asked=990, hits=1, spent=0.9),
    }

    assert known["c"].cost_per_hit < known["a"].cost_per_hit
    assert best("abc", known) == ("a", "b", "c")


def test_a_pinned_provider_keeps_its_position() -> None:
    known = {
        "a": ProviderEstimate(price=3, asked=100, hits=50, spent=150),
        "b": ProviderEstimate(asked=10, hits=5),
        "c": ProviderEstimate(price=1, asked=100, hits=50, spent=50),
    }

    assert best("abc", known, {"b"}) == ("c", "b", "a")


def test_of_equally_expensive_providers_the_faster_comes_first() -> None:
    slow = ProviderEstimate(price=1, asked=100, hits=50, spent=50, latency_ms=900)
    fast = ProviderEstimate(price=1, asked=100, hits=50, spent=50, latency_ms=300)
    unknown = ProviderEstimate(price=1, asked=100, hits=50, spent=50)

    assert best("abc", {"a": unknown, "b": slow, "c": fast}) == ("c", "b", "a")


def test_a_slower_provider_with_more_hits_may_be_faster_per_hit() -> None:
    quick = ProviderEstimate(price=1, asked=10, hits=0, spent=0, latency_ms=100)
    thorough = ProviderEstimate(price=1, asked=10, hits=10, spent=10, latency_ms=150)

    assert quick.cost_per_hit == pytest.approx(thorough.cost_per_hit)
    assert best("ab", {"a": quick, "b": thorough}) == ("b", "a")


def test_equal_providers_stay_in_the_configured_order() -> None:
    same = ProviderEstimate(price=1, asked=100, hits=50, spent=50, latency_ms=300)

    assert best("bac", dict.fromkeys("abc", same)) == ("b", "a", "c")
