"""Words of lists and vendors for seniority and department."""

from __future__ import annotations

import pytest

from app.domain.normal.texts.vocabularies import department, seniority


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # The levels of Sales Navigator: https://www.linkedin.com/help/sales-navigator
        ("Owner / Partner", "owner"),
        ("Experienced Manager", "manager"),
        ("Entry Level Manager", "manager"),
        ("Strategic", "senior"),
        ("In Training", "intern"),
        # Of job advertisements, and of People Data Labs: https://docs.peopledatalabs.com/docs/job-title-levels
        ("Mid-Senior level", "senior"),
        ("training", "intern"),
        # Ranks in a column of seniorities
        ("CEO", "c_suite"),
        ("Geschäftsführer", "c_suite"),
        ("Abteilungsleiter", "head"),
        ("Team Leader", "manager"),
        ("Managing Partner", "partner"),
        ("Werkstudent", "intern"),
        # Left as it is, as vendors mean several ranks by it
        ("Executive", "executive"),
        ("Board Member", "board_member"),
    ],
)
def test_a_seniority_is_known_by_the_words_of_lists(text: str, value: str) -> None:
    assert seniority(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Direction des Ressources Humaines", "human_resources"),
        ("Departamento de Ventas", "sales"),
        ("Service achats", "purchasing"),
        ("Marketingabteilung", "marketing"),
        ("Einkaufsabteilung", "purchasing"),
        ("Dept. of Finance", "finance"),
        ("Human Resources (HR)", "human_resources"),
        ("Forschung & Entwicklung", "engineering"),
        ("Sales & Marketing", "sales"),
        ("IT/Software", "information_technology"),
        ("Customer Service", "support"),
        ("Service", "support"),
        # Two parts of one name, and no list
        ("Health & Safety", "health_and_safety"),
        ("Media & Entertainment", "media_and_entertainment"),
        ("Data Protection & IT", "data_protection_and_it"),
        ("Abteilung", "abteilung"),
        ("Area Manager", "area_manager"),
    ],
)
def test_a_department_is_known_with_what_stands_around_its_name(text: str, value: str) -> None:
    assert department(text) == value
