"""The terms of job titles, and the words of a searched title."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.normal.texts.title_words import MAX_TERMS, TitleWord, searched_words, title_terms

CASES = Path(__file__).parent / "title_cases.csv"
"""Titles with what is searched, whether it finds them, and where people write them so."""


def meets(title: str, searched: str) -> bool:
    """Return whether the title has all words of what is searched, as a search of the database finds it."""
    terms = title_terms(title) or ""
    return all(
        f" {term}{'' if word.is_prefix else ' '}" in terms
        for word in searched_words(searched)
        for term in word.terms
    )


@pytest.mark.parametrize(
    ("title", "searched"),
    [
        ("Vice President, Sales", "VP Sales"),
        ("VP Sales", "vice president of sales"),
        ("Vice-President of Sales", "Sales VP"),
        ("SVP Sales EMEA", "vp sales"),
        ("Senior Vice President Sales", "SVP Sales"),
        ("Vizepräsidentin Vertrieb", "VP Sales"),
        ("Head of Engineering", "Head of Eng"),
        ("CTO", "Chief Technology Officer"),
        ("CTO & Co-Founder", "cto"),
        ("Chief Technical Officer", "cto"),
        ("Directrice Générale", "CEO"),
        ("Directeur général adjoint", "directeur general"),
        ("Vertriebsleiter DACH", "Head of Sales"),
        ("Leiterin IT", "IT-Leiterin"),
        ("Account Executives", "account executive"),
        ("Account Executive", "account executives"),
        ("Sales Manager", "sales managers"),
        ("Business Analyst", "business analyst"),
        ("Генеральный директор", "CEO"),
        ("营销总监", "总监"),
        ("营销总监", "marketing director"),
        ("영업이사", "영업"),
        ("\uff36\uff30 Sales", "VP"),
        ("R&D Engineer", "r&d"),
        ("Ingénieur logiciel", "engineer"),
    ],
)
def test_a_title_is_found_however_it_is_written(title: str, searched: str) -> None:
    assert meets(title, searched)


@pytest.mark.parametrize(
    ("title", "searched"),
    [
        ("VP Sales", "SVP Sales"),
        ("VP Sales", "VP Marketing"),
        ("Salesforce Administrator", "sales"),
        ("Legal Counsel", "egal"),
        ("Chief of Staff", "cto"),
        ("Item Manager", "IT"),
    ],
)
def test_another_title_is_not_found(title: str, searched: str) -> None:
    assert not meets(title, searched)


def test_titles_of_many_languages_are_found_by_what_they_mean() -> None:
    with CASES.open(encoding="utf-8", newline="") as file:
        cases = list(csv.DictReader(file))

    wrong = [case for case in cases if meets(case["title"], case["searched"]) != (case["is_found"] == "yes")]
    assert wrong == []


def test_a_rank_is_also_met_by_the_seniority_and_a_department_by_the_department() -> None:
    assert searched_words("VP of Human Resources") == (
        TitleWord(("vp",), seniority="vp"),
        TitleWord(("hr",), department="human_resources"),
    )
    assert searched_words("customer support") == (TitleWord(("customer", "support"), department="support"),)


@pytest.mark.parametrize("text", ["", "!!!", "of the", "%", "_"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert (title_terms(text), searched_words(text)) == (None, ())


def test_a_text_that_is_not_a_title_has_few_short_terms() -> None:
    terms = (title_terms("a" * 10_000 + " b" * 10_000 + " ".join(map(str, range(1_000)))) or "").split()

    assert len(terms) <= MAX_TERMS
    assert max(map(len, terms)) == 40


def test_no_term_has_a_wildcard_of_a_database() -> None:
    assert title_terms("100%_'\\x Manager\0") == " 100 x manager "
