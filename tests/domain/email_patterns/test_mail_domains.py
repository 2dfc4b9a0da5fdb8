from __future__ import annotations

import pytest

from app.domain.email_patterns.mail_domains import guesses, shares
from app.domain.email_patterns.patterns import PatternStat
from app.domain.normal.names.names import parse_name

ADA = parse_name("Ada Lovelace")
FULL, SHORT = "{first}.{last}", "{f}{last}"


@pytest.mark.parametrize(
    ("counts", "best"),
    [
        ([PatternStat(FULL, 3)], "ada.lovelace@acme.com"),
        ([PatternStat(FULL, 1, "mail.acme.com")], "ada.lovelace@mail.acme.com"),
        ([PatternStat(FULL, 1, "acme.de")], "ada.lovelace@acme.de"),
        ([PatternStat(FULL, 1, "acme-group.com")], "ada.lovelace@acme-group.com"),
        ([PatternStat(FULL, 1, "zenith.com")], "ada.lovelace@zenith.com"),
        ([PatternStat(FULL, 1), PatternStat(FULL, 1, "zenith.com")], "ada.lovelace@acme.com"),
        ([PatternStat(FULL, 2, "zenith.com")], "ada.lovelace@zenith.com"),
        ([PatternStat(FULL, 5), PatternStat(FULL, 2, "acme.de")], "ada.lovelace@acme.com"),
        ([PatternStat(FULL, 2), PatternStat(FULL, 5, "acme.de")], "ada.lovelace@acme.de"),
        ([PatternStat(SHORT, 9, "acme.de"), PatternStat(FULL, 3)], "alovelace@acme.de"),
    ],
)
def test_the_domain_is_guessed_at_which_most_people_have_addresses(
    counts: list[PatternStat], best: str
) -> None:
    assert guesses(ADA, "acme.com", counts)[0].email == best


def test_the_guesses_at_all_domains_are_ordered_and_less_than_certain() -> None:
    found = guesses(ADA, "acme.com", [PatternStat(FULL, 4), PatternStat(FULL, 4, "acme.de")])

    confidences = [guess.confidence for guess in found]
    assert [guess.email for guess in found][:2] == ["ada.lovelace@acme.com", "ada.lovelace@acme.de"]
    assert confidences == sorted(confidences, reverse=True)
    assert sum(confidences) <= 1


def test_a_domain_with_few_addresses_is_guessed_by_the_forms_of_all() -> None:
    counts = [PatternStat(SHORT, 9, "acme.de"), PatternStat(FULL, 1)]

    at_website = [
        guess.email for guess in guesses(ADA, "acme.com", counts) if guess.email.endswith("@acme.com")
    ]

    assert at_website[0] == "alovelace@acme.com"


@pytest.mark.parametrize(
    ("website", "counts", "domains"),
    [
        ("acme.com", [], {"acme.com"}),
        ("acme.com", [PatternStat(FULL, 1, "mail.acme.com")], {"acme.com", "mail.acme.com"}),
        ("acme.com", [PatternStat(FULL, 50, "acme.de")], {"acme.de"}),
        ("acme.com", [PatternStat(FULL, 50), PatternStat(FULL, 1, "acme.de")], {"acme.com"}),
        ("acme.com", [PatternStat(FULL, 1), PatternStat(FULL, 1, "zenith.com")], {"acme.com"}),
        (None, [PatternStat(FULL, 2, "ryde.nsw.gov.au")], {"ryde.nsw.gov.au"}),
        (None, [PatternStat(FULL, 1, "ryde.nsw.gov.au")], set()),
        (None, [PatternStat(FULL, 5)], set()),
    ],
)
def test_a_domain_that_few_use_is_not_guessed_at(
    website: str | None, counts: list[PatternStat], domains: set[str]
) -> None:
    assert shares(website, counts).keys() == domains
