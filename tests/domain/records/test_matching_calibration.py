"""Calibration of match confidences: of the pairs with confidence 0.9, nine in ten are the same person."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import pytest

from app.domain.normal.names.names import parse_name
from app.domain.records.similarity.company_similarity import company_score
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.similarity.similarity import confidence, decide

BINS = ((0.0, 0.4), (0.4, 0.8), (0.8, 0.9), (0.9, 1.01))


@dataclass(frozen=True, slots=True)
class Pair:
    confidence: float
    same: bool


def read_pairs() -> list[Pair]:
    pairs: list[Pair] = []
    evidence: tuple[str, float] = ("", 0.0)
    for line in (Path(__file__).parent / "calibration_pairs.txt").read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], line[2:]
        if mark == "[":
            asked, _, known = line.strip("[]").partition(" ~ ")
            evidence = ("company_name", company_score(asked, known)) if known else ("company_domain", 1.0)
        elif mark in {"+", "-"}:
            asked, _, known = rest.partition(" = ")
            field, company = evidence
            name = name_score(parse_name(asked), parse_name(known))
            sure = confidence(matched_on=("full_name", field), name=name, company=company)
            pairs.append(Pair(sure, same=mark == "+"))
    return pairs


PAIRS = read_pairs()


def share_of_same(pairs: list[Pair]) -> float:
    return fmean(pair.same for pair in pairs)


def within(low: float, high: float) -> list[Pair]:
    return [pair for pair in PAIRS if low <= pair.confidence < high]


def test_there_are_enough_pairs_of_both_kinds() -> None:
    same = [pair for pair in PAIRS if pair.same]

    assert len(PAIRS) >= 150
    assert len(same) >= 75
    assert len(PAIRS) - len(same) >= 60


@pytest.mark.parametrize(("low", "high"), BINS)
def test_the_confidence_is_the_share_of_true_matches(low: float, high: float) -> None:
    pairs = within(low, high)

    mean_confidence = fmean(pair.confidence for pair in pairs)

    assert len(pairs) >= 40
    assert share_of_same(pairs) == pytest.approx(mean_confidence, abs=0.1)


def test_a_higher_confidence_means_more_true_matches() -> None:
    shares = [share_of_same(within(low, high)) for low, high in BINS]

    assert shares == sorted(shares)


def test_the_mean_squared_error_of_confidences_is_low() -> None:
    brier = fmean((pair.confidence - pair.same) ** 2 for pair in PAIRS)

    assert brier < 0.14


def test_nine_in_ten_accepted_matches_are_true() -> None:
    matched = [pair for pair in PAIRS if decide([pair.confidence]) == "matched"]

    assert share_of_same(matched) >= 0.9


def test_few_true_matches_are_rejected() -> None:
    lost = [pair for pair in PAIRS if pair.same and decide([pair.confidence]) == "none"]

    assert len(lost) <= 0.05 * sum(pair.same for pair in PAIRS)
