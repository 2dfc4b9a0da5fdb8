import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.normal.names.names import PersonName, parse_name
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.similarity.similarity import confidence, decide


def score(a: str, b: str) -> float:
    return name_score(parse_name(a), parse_name(b))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Ada Lovelace", "ADA LOVELACE, PhD", 1.0),
        ("José García", "Jose Garcia", 1.0),
        ("Jürgen Müller", "Juergen Mueller", 1.0),
        ("Jan van den Berg", "Jan Vandenberg", 1.0),
        ("Ada K. Lovelace", "Ada Lovelace", 1.0),
        ("Ada King Lovelace", "Ada Lovelace", 0.97),
        ("Bob Smith", "Robert Smith", 0.95),
        ("Smith John", "John Smith", 0.95),
        ("Maria García", "Maria García López", 0.93),
        ("Ines Duarte", "Ines Duarte Brook", 0.82),
        ("Ada Lovelace", "Ada Lovelace Jr.", 0.9),
        ("Ada Lovelace Sr.", "Ada Lovelace Jr.", 0.4),
        ("Bob Smith Jr.", "Robert Smith, Junior", 0.95),
        ("Jean Picard", "Jean-Luc Picard", 0.93),
        ("J. Smith", "John Smith", 0.82),
        ("JeanClaude Juncker", "Jean-Claude Juncker", 1.0),
        ("Mohammad Salmon", "Muhammed Salman", 0.783),
        ("J.-C. Juncker", "Jean-Claude Juncker", 0.82),
        ("Thomas James", "James Thomas", 0.82),
        ("Alexander Kim", "Alexandra Kim", 0.6),
        ("Juan de la Cruz", "Juan del Cruz", 0.93),
        ("Abdel Fattah el-Sisi", "Abdel Fattah Al-Sisi", 1.0),
        ("Wei J. Zhang", "Wei Zhang", 1.0),
        ("Wei Zhang", "Wei-Ming Zhang", 0.82),
        ("JC Juncker", "Jean-Claude Juncker", 0.82),
        ("Nguyễn Thị Lan Hà", "Nguyễn Thị Thu Hà", 0.6),
        ("Nguyễn Lan Hà", "Nguyễn Thị Lan Hà", 0.97),
        ("Mohamed Ben Salah Trabelsi", "Mohamed Ben Ahmed Trabelsi", 0.6),
        ("Carlos João Souza Santos", "Carlos Pedro Souza Santos", 0.6),
        ("Ivan Petrovich Sidorov", "Ivan Ivanovich Sidorov", 0.6),
        ("Jhon Smith", "John Smith", 0.87),
        ("John A. Smith", "John B. Smith", 0.6),
        ("Plato", "Plato Smith", 0.5),
        ("Dr. Smith", "John Smith", 0.5),
    ],
)
def test_two_spellings_of_a_name_have_this_similarity(a: str, b: str, expected: float) -> None:
    assert score(a, b) == pytest.approx(expected)


def test_an_empty_name_is_like_no_name_with_a_generation() -> None:
    assert name_score(PersonName("", "", " "), PersonName("J J", "Jr", "J J Jr")) == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("John Smith", "Jane Smith"),
        ("Jon Smith", "Jan Smith"),
        ("Ada Lovelace", "Grace Hopper"),
        ("Ana García López", "Ana García Pérez"),
        ("Plato", "Socrates"),
    ],
)
def test_names_of_two_people_are_not_similar(a: str, b: str) -> None:
    assert score(a, b) < 0.6


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (("ah", "aa"), ("hh", "aa"), 0.6724),
        (("hh", "aa"), ("ah aa", "aa"), 0.328),
    ],
)
def test_the_lower_score_of_both_directions_counts(
    a: tuple[str, str], b: tuple[str, str], expected: float
) -> None:
    left, right = (PersonName(first, last, f"{first} {last}") for first, last in (a, b))

    assert name_score(left, right) == name_score(right, left) == pytest.approx(expected)


@settings(max_examples=100, deadline=None)
@given(
    st.text("abjohnsmith -'.ü", max_size=12),
    st.text("abjohnsmith -'.ü", max_size=12),
    st.text("johns ", max_size=9),
)
def test_the_similarity_of_names_is_symmetric(first: str, last: str, other: str) -> None:
    a = PersonName(first, last, f"{first} {last}")
    b = PersonName(other, last, f"{other} {last}")

    assert name_score(a, b) == pytest.approx(name_score(b, a))
    assert 0 <= name_score(a, b) <= 1


@pytest.mark.parametrize(
    ("matched_on", "name", "company", "expected"),
    [
        (["contact_id"], None, None, 1.0),
        (["linkedin_url"], 0.1, None, 0.98),
        (["email"], None, None, 0.97),
        (["email"], 1.0, None, 0.985),
        (["email"], 0.7, None, 0.97),
        (["email"], 0.1, None, 0.582),
        (["phone"], None, None, 0.9),
        (["phone"], 0.1, None, 0.54),
        (["email", "phone"], None, None, 0.997),
        (["full_name", "company_domain"], 1.0, 1.0, 0.95),
        (["full_name", "company_domain"], 1.0, None, 0.95),
        (["full_name", "company_name"], 1.0, 1.0, 0.9),
        (["full_name", "company_name"], 1.0, 0.5, 0.225),
        (["full_name"], 1.0, None, 0.3),
        (["full_name", "company_domain"], None, 1.0, 0.0),
        ([], 1.0, 1.0, 0.0),
    ],
)
def test_the_confidence_is_that_of_the_table(
    matched_on: list[str], name: float | None, company: float | None, expected: float
) -> None:
    assert confidence(matched_on=matched_on, name=name, company=company) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "decision"),
    [
        ([], "none"),
        ([0.49], "none"),
        ([0.5], "ambiguous"),
        ([0.8], "matched"),
        ([0.3, 0.95], "matched"),
        ([0.95, 0.95], "ambiguous"),
        ([0.95, 0.91], "ambiguous"),
        ([0.95, 0.86], "matched"),
        ([0.6, 0.2], "ambiguous"),
    ],
)
def test_one_clear_best_candidate_is_a_match(scores: list[float], decision: str) -> None:
    assert decide(scores) == decision


@pytest.mark.parametrize(("whole", "outcome"), [("Anna Weiss", "matched"), ("Lena Weiss", "ambiguous")])
def test_the_second_of_two_given_names_scores_less_than_the_first(whole: str, outcome: str) -> None:
    sure = confidence(
        matched_on=["full_name", "company_domain"], name=score("Anna-Lena Weiss", whole), company=1.0
    )

    assert decide([sure]) == outcome
