import time

import pytest

from app.domain.normal.names.generations import are_two_generations, generation_of
from app.domain.normal.names.name_keys import person_key, without_generation
from app.domain.normal.names.names import parse_name


@pytest.mark.parametrize(
    ("text", "rank", "first", "last", "full"),
    [
        ("Vere Bird Sr.", "sr", "Vere", "Bird", "Vere Bird Sr."),
        ("Bird, Vere Jr.", "jr", "Vere", "Bird", "Vere Bird Jr."),
        ("Bird Jr., Vere", "jr", "Vere", "Bird", "Vere Bird Jr."),
        ("Bird, Vere, Jr.", "jr", "Vere", "Bird", "Vere Bird Jr."),
        ("Vere Bird (Jr)", "jr", "Vere", "Bird", "Vere Bird Jr"),
        ("Vere Bird Jr., MBA", "jr", "Vere", "Bird", "Vere Bird Jr."),
        ("Dr. Vere Bird Jr. PhD", "jr", "Vere", "Bird", "Vere Bird Jr."),
        ("vere bird jr", "jr", "vere", "bird", "vere bird jr"),
        ("VERE BIRD II", "jr", "VERE", "BIRD", "VERE BIRD II"),
        ("Vere Bird 3rd", "iii", "Vere", "Bird", "Vere Bird 3rd"),
        ("Vere Bird IV", "iv", "Vere", "Bird", "Vere Bird IV"),
        ('Robert "Bob" Hale Snr', "sr", "Robert", "Hale", 'Robert "Bob" Hale Snr'),
        ("Hans Meier jun.", "jr", "Hans", "Meier", "Hans Meier jun."),
        ("Hans Meier sen", "sr", "Hans", "Meier", "Hans Meier sen"),
        ("Lucas Cranach d.Ä.", "sr", "Lucas", "Cranach", "Lucas Cranach d.Ä."),
        ("Lucas Cranach d. J.", "jr", "Lucas", "Cranach", "Lucas Cranach d. J."),
        ("Alexandre Dumas père", "sr", "Alexandre", "Dumas", "Alexandre Dumas père"),
        ("Alexandre Dumas fils", "jr", "Alexandre", "Dumas", "Alexandre Dumas fils"),
        ("Juan Pérez (hijo)", "jr", "Juan", "Pérez", "Juan Pérez hijo"),
        ("Juan Pérez padre", "sr", "Juan", "Pérez", "Juan Pérez padre"),
        ("Carlos Souza Júnior", "jr", "Carlos", "Souza", "Carlos Souza Júnior"),
        ("Paulo Nogueira Filho", "jr", "Paulo", "Nogueira Filho", "Paulo Nogueira Filho"),
        ("Paulo Silva Neto", "iii", "Paulo", "Silva Neto", "Paulo Silva Neto"),
        ("Jan Novák ml.", "jr", "Jan", "Novák", "Jan Novák ml."),
        ("Иван Петров мл.", "jr", "Иван", "Петров", "Иван Петров мл."),
        ("Иван Петров старший", "sr", "Иван", "Петров", "Иван Петров старший"),
    ],
)
def test_the_generation_is_kept_at_the_end_of_the_full_name(
    text: str, rank: str, first: str, last: str, full: str
) -> None:
    name = parse_name(text)

    assert (name.first, name.last, name.full) == (first, last, full)
    assert generation_of(name.full).rank == rank
    assert person_key(full).endswith(f" {rank}")
    assert parse_name(full) == name


@pytest.mark.parametrize(
    "text",
    [
        "João Neto",
        "Dr. João Neto",
        "Kim Min Jun",
        "Amartya Kumar Sen",
        "amartya kumar sen",
        "Mary St. John",
        "Junior Smith",
        "Sr. Juan Pérez",
        "Pérez, Sr. Juan",
        "John Smith V",
        "Ravi Kumar D J",
    ],
)
def test_a_name_or_a_form_of_address_is_no_generation(text: str) -> None:
    assert generation_of(parse_name(text).full).rank == ""


@pytest.mark.parametrize("text", ["II", " II", " Jr.", "Bird Jr."])
def test_a_word_after_no_whole_name_is_no_generation(text: str) -> None:
    assert generation_of(text) == ("", "", text)


@pytest.mark.parametrize("text", ["Mr. Bird Jr.", "Bird Jr."])
def test_a_single_name_has_no_generation(text: str) -> None:
    assert parse_name(text).full in {"Bird", "Bird Jr."}


def test_two_words_for_one_generation_have_one_key() -> None:
    assert {person_key(f"Vere Bird {word}") for word in ("Jr", "Jr.", "(Jr.)", "Junior", "II", "jun.")} == {
        "vere bird jr"
    }
    assert person_key("Vere Bird") != person_key("Vere Bird Jr.") != person_key("Vere Bird Sr.")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Vere Bird II", "Vere Bird Jr."),
        ("Vere Bird", "Vere Bird Jr."),
        ("Vere Bird", "Vere Bird"),
    ],
)
def test_two_generations_are_told_apart_only_if_both_are_known(a: str, b: str) -> None:
    assert are_two_generations("Vere Bird Sr.", "Vere Bird Jr.")
    assert not are_two_generations(a, b)


@pytest.mark.parametrize(
    ("family", "full", "expected"),
    [
        ("Bird Jr", "Vere Bird Jr", "Bird"),
        ("Bird (Jr.)", "Vere Bird (Jr.)", "Bird"),
        ("Bird", "Vere Bird", "Bird"),
        ("Silva Filho", "Paulo Silva Filho", "Silva Filho"),
        ("fils", "Alexandre Dumas fils", "fils"),
    ],
)
def test_a_family_name_of_its_own_column_loses_the_generation(family: str, full: str, expected: str) -> None:
    assert without_generation(family, full) == expected


@pytest.mark.parametrize("text", [" " * 130_000 + "jr", "a, " * 43_000, "jr " * 43_000, " ," * 65_000])
def test_a_long_text_is_read_in_linear_time(text: str) -> None:
    start = time.process_time()

    generation_of(text)

    assert time.process_time() - start < 0.5
