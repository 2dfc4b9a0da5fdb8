"""Websites beside a company's name: `website_cases.csv` has each with its source."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.normal.companies.company_domains import SharedHost, company_domain

CASES = list(
    csv.DictReader((Path(__file__).parent / "website_cases.csv").read_text(encoding="utf-8").splitlines())
)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case["domain"]], ids=lambda case: case["website"]
)
def test_a_host_of_many_identifies_no_company(case: dict[str, str]) -> None:
    with pytest.raises(SharedHost):
        company_domain(case["website"], case["name"])


@pytest.mark.parametrize("case", [case for case in CASES if case["domain"]], ids=lambda case: case["website"])
def test_the_domain_that_is_meant_identifies_the_company(case: dict[str, str]) -> None:
    assert company_domain(case["website"], case["name"]) == case["domain"]
