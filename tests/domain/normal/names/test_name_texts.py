import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nameparser import parse

from app.domain.errors import InvalidValue
from app.domain.normal.names.name_keys import name_key, nickname_of, person_key, spellings
from app.domain.normal.names.names import parse_name
from app.domain.normal.names.nicknames import given_names


@pytest.mark.parametrize(
    ("text", "first", "last", "full"),
    [
        ("Ada Lovelace", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada  King\tLovelace\n", "Ada", "Lovelace", "Ada King Lovelace"),
        ("Lovelace, Ada", "Ada", "Lovelace", "Ada Lovelace"),
        ("Lovelace, Ada, PhD", "Ada", "Lovelace", "Ada Lovelace"),
        ("Dr. Ada Lovelace", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada Lovelace, MBA, CFA", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada Lovelace PhD", "Ada", "Lovelace", "Ada Lovelace"),
        ("Robert Smith Jr.", "Robert", "Smith", "Robert Smith Jr."),
        ('Robert "Bob" Smith', "Robert", "Smith", 'Robert "Bob" Smith'),
        ("Robert (Bob) Smith (he/him)", "Robert", "Smith", 'Robert "Bob" Smith'),
        ("Smith, Robert “Bob”", "Robert", "Smith", 'Robert "Bob" Smith'),
        ("Robert Smith (Acme)", "Robert", "Smith", "Robert Smith"),
        ("Jane (she) Smith", "Jane", "Smith", "Jane Smith"),
        ("Jane (Open to work) Smith", "Jane", "Smith", "Jane Smith"),
        ("(Bob)", "Bob", "", "Bob"),
        ('1 "Bob" 2', "Bob", "", "Bob"),
        (", Ada Lovelace", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada Lovelace, 42", "Ada", "Lovelace", "Ada Lovelace"),
        ("- x, Ada", "Ada", "", "Ada"),
        ('"Bob", Robert Lee Ray', "Robert", "Ray", 'Robert Lee "Bob" Ray'),
        ("Vincent van Gogh", "Vincent", "van Gogh", "Vincent van Gogh"),
        ("van Gogh, Vincent", "Vincent", "van Gogh", "Vincent van Gogh"),
        ("Dr. Juan Q. Xavier de la Vega III", "Juan", "de la Vega", "Juan Q. Xavier de la Vega III"),
        ("Gabriel García Márquez", "Gabriel", "García Márquez", "Gabriel García Márquez"),
        ("Juan Carlos García López", "Juan", "García López", "Juan Carlos García López"),
        ("José María Aznar", "José", "Aznar", "José María Aznar"),
        ("Jean-Luc Picard", "Jean-Luc", "Picard", "Jean-Luc Picard"),
        ("O\u2019Neil, Shaquille", "Shaquille", "O'Neil", "Shaquille O'Neil"),
        ("Van Nguyen", "Van", "Nguyen", "Van Nguyen"),
        ("Dean Martin", "Dean", "Martin", "Dean Martin"),
        ("Lord Byron", "", "Byron", "Byron"),
        ("Dr. Smith", "", "Smith", "Smith"),
        ("Prof. Dr. Ada King", "Ada", "King", "Ada King"),
        ("Prince Takkar", "Prince", "Takkar", "Prince Takkar"),
        ("Wing Li, PhD", "Wing", "Li", "Wing Li"),
        ("Burgess Owens", "Burgess", "Owens", "Burgess Owens"),
        ("Hon Lam", "Hon", "Lam", "Hon Lam"),
        ("Hon. Lam", "", "Lam", "Lam"),
        ("Mag Ruffman", "Mag", "Ruffman", "Mag Ruffman"),
        ("Judge Reinhold", "Judge", "Reinhold", "Judge Reinhold"),
        ("Dr. Royal Albert", "Royal", "Albert", "Royal Albert"),
        ("Bishop Garcia Briggs", "Garcia", "Briggs", "Garcia Briggs"),
        ("Mr. and Mrs. Smith", "", "Smith", "Smith"),
        ("Plato", "Plato", "", "Plato"),
        ("Mr", "Mr", "", "Mr"),
        ("Ada ✨ Lovelace 🚀", "Ada", "Lovelace", "Ada Lovelace"),
        ("👩‍💻 Ada Lovelace", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada Lovelace | We are hiring!", "Ada", "Lovelace", "Ada Lovelace"),
        ("Ada Lovelace - Engineer at Acme", "Ada", "Lovelace", "Ada Lovelace"),
        ("\uff21\uff44\uff41 Lovelace", "Ada", "Lovelace", "Ada Lovelace"),
        ("王小明", "小明", "王", "王小明"),
        ("欧阳修", "修", "欧阳", "欧阳修"),
        ("田中太郎", "太郎", "田中", "田中太郎"),
        ("山田 太郎", "太郎", "山田", "山田 太郎"),
        ("𠮷田 太郎", "太郎", "𠮷田", "𠮷田 太郎"),
        ("𠮷田太郎", "太郎", "𠮷田", "𠮷田太郎"),
        ("Taro 𠮷田", "Taro", "𠮷田", "Taro 𠮷田"),
        ("葛\U000e0100城 太郎", "太郎", "葛城", "葛城 太郎"),
        ("山﨑賢人", "賢人", "山﨑", "山﨑賢人"),
        ("佐々木希", "希", "佐々木", "佐々木希"),
        ("佐々木太郎", "太郎", "佐々木", "佐々木太郎"),
        ("長谷川博己", "博己", "長谷川", "長谷川博己"),
        ("山本五十六", "五十六", "山本", "山本五十六"),
        ("김철수", "철수", "김", "김 철수"),
        ("たなか", "たなか", "", "たなか"),
        ("Ада Лавлейс", "Ада", "Лавлейс", "Ада Лавлейс"),
    ],
)
def test_a_name_is_split_into_its_parts(text: str, first: str, last: str, full: str) -> None:
    name = parse_name(text)

    assert (name.first, name.last, name.full) == (first, last, full)


@pytest.mark.parametrize("text", ["", "...", "🚀", "123", "\ud800", "a" * 201, "| Ada"])
def test_a_name_without_a_letter_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_name(text)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["Ada", "Li", "Maria", "Dean", "Van", "Ma", "José"]),
    st.sampled_from(["Lovelace", "Do", "King", "Ruß"]),
)
def test_the_fast_path_reads_a_plain_name_as_the_parser_does(first: str, last: str) -> None:
    parsed = parse(f"Zoe {first} {last}")

    name = parse_name(f"Zoe {first} {last}")

    assert (name.first, name.last) == (parsed.given, parsed.family)


def test_two_spellings_of_a_name_have_the_same_key() -> None:
    assert name_key("JOSÉ  Garci\u0301a-Ruß") == name_key("jose garcia russ") == "jose garcia russ"


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_the_key_of_a_key_is_the_key_itself(text: str) -> None:
    key = name_key(text)

    assert name_key(key) == key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Lovelace", ("lovelace",)),
        ("Müller", ("muller", "mueller")),
        ("José", ("jose",)),
        ("Øster", ("oster", "oester")),
    ],
)
def test_umlauts_have_two_spellings(text: str, keys: tuple[str, ...]) -> None:
    assert spellings(text) == keys


@pytest.mark.parametrize(
    ("full", "nickname", "key"),
    [
        ('Earl L. "Buddy" Carter', "Buddy", "earl l carter"),
        ("Robert (Bob) Smith", "Bob", "robert smith"),
        ("Robert “Bob” Smith", "Bob", "robert smith"),
        ("Robert (he/him) Smith", "", "robert he him smith"),
        ("Ada Lovelace", "", "ada lovelace"),
    ],
)
def test_a_nickname_is_no_part_of_the_key(full: str, nickname: str, key: str) -> None:
    assert (nickname_of(full), person_key(full)) == (nickname, key)


def test_nicknames_and_their_names_are_equivalent() -> None:
    assert "robert" in given_names("Bob")
    assert "bob" in given_names("Robert")


def test_names_that_share_a_nickname_are_not_equivalent() -> None:
    assert "alexandra" not in given_names("Alexander")
    assert {"alexander", "alexandra"} <= given_names("Alex")


def test_an_unknown_given_name_is_equivalent_to_itself_only() -> None:
    assert given_names("Zyx") == {"zyx"}


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.characters(max_codepoint=0x24F)))
def test_the_key_of_a_latin_name_is_the_same_beside_other_scripts(text: str) -> None:
    assert name_key(f"é {text} 王") == f"{name_key(f'é {text}')} 王"


def test_a_name_that_keeps_its_comma_is_parsed_once() -> None:
    assert "," in parse_name("MBA MBA Dr. a )a ,(née'").full
