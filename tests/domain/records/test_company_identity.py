from __future__ import annotations

import pytest

from app.domain.records.company_identity import are_one_company

FORMS = [
    ("Acme", "ACME Inc.", "x.example"),
    ("Acme", "Acme Rail Systems", "x.example"),
    ("Rail Systems of Acme", "Acme", "x.example"),
    ("Acme Robotics", "Acme Robotcis", "x.example"),
    ("IBM", "International Business Machines", "x.example"),
    ("EY", "Ernst & Young", "x.example"),
    ("AT&T", "ATT", "x.example"),
    ("Siemens Energy", "Siemens Healthineers", "siemens.example"),
    ("Газпром", "Gazprom", "x.example"),
    ("日本電気", "NEC", "x.example"),
]
OTHERS = [
    ("Acme Bikes", "Zenith Law", "x.example"),
    ("Albury City Council", "Ryde City Council", "x.example"),
    ("Acme Bikes", "Acme Law", "x.example"),
    ("Meta", "Facebook", "facebook.com"),
    ("Газпром", "Лукойл", "x.example"),
]


@pytest.mark.parametrize(("a", "b", "domain"), FORMS)
def test_these_names_are_of_one_company(a: str, b: str, domain: str) -> None:
    assert are_one_company(a, b, domain)
    assert are_one_company(b, a, domain)


@pytest.mark.parametrize(("a", "b", "domain"), OTHERS)
def test_these_names_are_of_two_companies(a: str, b: str, domain: str) -> None:
    assert not are_one_company(a, b, domain)
    assert not are_one_company(b, a, domain)
