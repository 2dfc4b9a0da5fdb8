from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.normal.companies.employers import given_employer, names_employer
from app.domain.normal.texts.wordlists import entries


@pytest.mark.parametrize(
    "text",
    [
        "ex-Google",
        "Formerly Acme",
        "Acme (former)",
        "Past: Intern at Acme",
        "ehem. Acme",
        "Individual",
        "Business Owner",
        "0",
        "Freelance",
        "FREELANCER",
        "Self-employed",
        "Self employed",
        "Self-Employed (Freelance)",
        "Freelance / Self-employed",
        "Self-employed - Consultant",
        "Selbstständig",
        "selbständig",
        "Indépendant",
        "Autónomo",
        "autonomo",
        "Libera professionista",
        "ZZP'er",
        "OSVČ",
        "Egenföretagare",
        "Фрилансер",
        "フリーランス",
        "自由职业",
        "Stealth",
        "Stealth Startup",
        "Stealth Mode Startup",
        "Stealth AI Startup",
        "A stealth-mode startup",
        "Currently looking for new opportunities",
        "Derzeit arbeitssuchend",
        "Unemployed / looking",
        "Confidential",
        "Unemployed",
        "Im Ruhestand",
        "Retraité",
        "#OpenToWork",
        "Open to work!",
        "Looking for new opportunities",
        "Student",
        "N/A",
        "-",
        "...",
    ],
)
def test_these_words_name_no_employer(text: str) -> None:
    assert not names_employer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Acme",
        "Beta (formerly Acme)",
        "Ex Libris",
        "Former Employees Club",
        "Exxon",
        "3",
        "Home Depot",
        "Freelancer.com",
        "Freelancers Union",
        "Student Loans Company",
        "Stealth Communications",
        "Now Foods",
        "Currently",
        "The Independent",
        "Acme (Confidential)",
        "Retired Persons Association",
        "3M",
        "O2",
        "自由出版社",
        "Freelance " * 20,
    ],
)
def test_these_name_one(text: str) -> None:
    assert names_employer(text)


def test_there_are_words_in_every_language_of_the_headers() -> None:
    headers = Path(names_employer.__wrapped__.__code__.co_filename).parents[2] / "data" / "lists" / "headers"
    languages = {path.stem for path in headers.glob("*/*.txt")}

    assert {language for language, _words in entries("companies/no_employers.txt")} == languages | {"en"}


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("https://www.acme.com/about", "acme.com"),
        ("HTTP://ACME.COM", "acme.com"),
        ("www.acme.co.uk", "acme.co.uk"),
        ("acme.de", "acme.de"),
        ("shop.acme.de/", "acme.de"),
        ("info@acme.com", "acme.com"),
    ],
)
def test_a_website_in_the_place_of_the_name_is_the_website(name: str, domain: str) -> None:
    employer = given_employer(None, name)

    assert (employer.domain, employer.name) == (domain, None)


def test_the_website_that_is_given_counts_and_not_that_in_the_name() -> None:
    employer = given_employer("acme.com", "beta.com")

    assert (employer.domain, employer.name) == ("acme.com", "beta.com")


@pytest.mark.parametrize(
    "name",
    [
        "E.ON",
        "S.p.A.",
        "Booking.com",
        "node.js",
        "st.gallen",
        "www.",
        "http://",
        "http://10.0.0.1",
        "a@b",
        "co.uk",
        "https://co.uk/acme",
        "@acme",
        "acme@co.uk",
        "www.acme..com",
        "a@b@acme..de",
        "http://@",
    ],
)
def test_these_names_are_not_websites(name: str) -> None:
    employer = given_employer(None, name)

    assert (employer.domain, employer.name) == (None, name)


@pytest.mark.parametrize("name", ["https://www.linkedin.com/company/acme", "ada@gmail.com"])
def test_a_host_of_many_in_the_place_of_the_name_identifies_no_employer(name: str) -> None:
    employer = given_employer(None, name)

    assert (employer.domain, employer.name) == (None, None)
    assert "Many companies" in employer.left_out
