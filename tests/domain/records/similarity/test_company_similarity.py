import pytest

from app.domain.normal.companies.company_names import company_key, parse_company
from app.domain.records.similarity.company_similarity import company_score, similar_keys


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Acme, Inc.", "ACME Ltd", 1.0),
        ("DataDog", "Data Dog", 1.0),
        ("Van der Bilt Corp", "Vanderbilt Corp", 1.0),
        ("SIEMENSAG", "Siemens AG", 1.0),
        ("Acme", "Acme Holdings", 0.93),
        ("Acme Technologies", "ACME", 0.93),
        ("Acme Robotics", "Acme Robotiks", 0.82),
        ("Acme Robottics Lxndon", "Acme Robotics London", 0.82),
        ("Globix Robotiks", "Globex Robotics", 0.82),
        ("Acme Agriculture", "Acme Agricultural", 0.82),
        ("Acme's Bank", "Acmes Banks", 0.82),
        ("Vander Bilt", "Vanderbult", 0.82),
        ("Acme Robotiks Group", "Acme Robotics", 0.82),
        ("HORTON D R INC", "D. R. Horton", 0.82),
        ("First Bank Int'l", "First International Bank", 0.82),
        ("Acme Worldwide", "Acme Worldwide Holdings Ltd", 0.93),
        ("Packaging Corp of Acme", "Packaging Corporation of Acme", 1.0),
        ("Smith & Jones", "Smith Jones", 1.0),
        ("Goldsmith Group Inc/The", "The Goldsmith Group, Inc.", 1.0),
        ("", "Acme", 0.0),
        ("!!!", "???", 0.0),
    ],
)
def test_two_spellings_of_a_company_have_this_similarity(a: str, b: str, expected: float) -> None:
    assert company_score(a, b) == company_score(b, a) == expected


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Acme", "Globex"),
        ("Acme AG", "Acme GmbH"),
        ("Acme Bank", "Acme"),
        ("Acme Chile", "Acme Mexico"),
        ("Bank of Iran", "Bank of Iraq"),
        ("Bank of Iceland", "Bank of Ireland"),
        ("HDFC Bank", "IDFC Bank"),
        ("Acme H&M", "Acme HM"),
        ("Hdfc Bank", "Idfc Bank"),
        ("LIC Housing Finance", "GIC Housing Finance"),
        ("EOG Resources", "EON Resources"),
        ("MAS Financial Services", "Max Financial Services"),
        ("US Bancorp", "FS Bancorp"),
        ("NESCO Ltd", "Nelco Ltd"),
        ("NCDFX Bank", "NCDGX Bank"),
        ("Dell Technologies", "Bell Technologies"),
        ("Meta Platforms", "Beta Platforms"),
        ("Cardinal Health", "Cardinal Wealth"),
        ("Inox Wind Energy", "Indowind Energy"),
        ("Bank First", "First Bank"),
        ("Acme Holdings", "Acme Technologies"),
        ("Acme Fund VI", "Acme Fund VII"),
        ("Acme Trust 2004-1", "Acme Trust 2004-2"),
        ("Visa", "Vista"),
        ("Visa", "Vi SA"),
        ("BP", "BD"),
        ("Group Holdings", "Group"),
    ],
)
def test_different_companies_are_not_candidates(a: str, b: str) -> None:
    assert company_score(a, b) < 0.8


@pytest.mark.parametrize(
    "other",
    [
        "Acme and Engines",
        "Axme Engines",
        "Ame Engines",
        "Amce Engines",
        "Ac me Engines",
        "Acme Engines Labs",
        "AcmeEngines",
    ],
)
def test_the_keys_of_similar_names_contain_an_early_typing_error_and_general_words(other: str) -> None:
    assert company_key(other) in similar_keys(parse_company("Acme Engines").words)


def test_the_keys_of_similar_names_contain_the_name_without_and() -> None:
    assert "smith jones" in similar_keys(parse_company("Smith & Jones").words)


def test_the_keys_of_similar_names_contain_each_order_of_initials() -> None:
    assert "smith ao robotics" in similar_keys(parse_company("A. O. Smith Robotics").words)


@pytest.mark.parametrize("name", ["Acme Technologies", "acmegmbh"])
def test_the_keys_of_similar_names_contain_the_name_without_general_word_or_joined_form(name: str) -> None:
    assert "acme" in similar_keys(parse_company(name).words)


@pytest.mark.parametrize("name", ["\ufdfa" * 490, "ab cd ef " * 55, "a1 " * 160, "x" * 500])
def test_a_hostile_name_has_few_similar_keys(name: str) -> None:
    """They are parameters of a statement, and one lookup may name fifty companies."""
    keys = similar_keys(parse_company(name).words)

    assert sum(map(len, keys)) < 200_000


def test_a_long_name_is_found_as_it_is_written() -> None:
    words = tuple(f"word{number}" for number in range(40))

    assert set(similar_keys(words)) == {" ".join(words), "".join(words)}
