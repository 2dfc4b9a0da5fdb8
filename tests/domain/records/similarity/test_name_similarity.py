import csv
from collections import Counter
from pathlib import Path

import pytest

from app.domain.normal.names.names import parse_name
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.similarity.similarity import confidence, decide

CASES = list(
    csv.DictReader((Path(__file__).parent / "name_cases.csv").read_text(encoding="utf-8").splitlines())
)


def outcome(asked: str, known: str) -> str:
    alike = name_score(parse_name(asked), parse_name(known))
    return decide([confidence(matched_on=("full_name", "company_domain"), name=alike, company=1.0)])


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['asked']} = {case['known']}")
def test_names_of_every_culture_lead_to_the_same_person_and_to_no_other(case: dict[str, str]) -> None:
    assert outcome(case["asked"], case["known"]) == case["outcome"]
    assert outcome(case["known"], case["asked"]) == case["outcome"]


def test_every_culture_has_cases_of_the_same_and_of_another_person_with_sources() -> None:
    cultures = Counter(case["culture"] for case in CASES)
    others = Counter(case["culture"] for case in CASES if case["outcome"] == "none")

    assert min(cultures.values()) >= 10
    assert min(others.values()) >= 4
    assert all(case["source"].startswith(("https://", "http://")) for case in CASES)
