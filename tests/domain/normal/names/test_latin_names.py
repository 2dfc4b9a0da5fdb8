import pytest

from app.domain.normal.names.latin_names import family_key, latin_key, latin_name, script_of
from app.domain.normal.names.names import PersonName, parse_name


@pytest.mark.parametrize(
    ("text", "script", "key"),
    [
        ("José Ångström", "", "jose angstrom"),
        ("Əliyev", "LATIN", "eliyev"),
        ("Сергей Лавров", "CYRILLIC", "sergey lavrov"),
        ("Ελένη Παππά", "GREEK", "eleni pappa"),
        ("გიორგი ვაშაძე", "GEORGIAN", "giorgi vashadze"),
        ("Նիկոլ Փաշինյան", "ARMENIAN", "nikol pashinyan"),
        ("محمد علي", "ARABIC", "mhmd ly"),
        ("בנימין", "HEBREW", "vnymyn"),
        ("习近平", "CJK", "xijinping"),
        ("문재인", "HANGUL", "munjaein"),
        ("バラク・オバマ", "KATAKANA", "baraku obama"),
        ("राहुल", "DEVANAGARI", "rahul"),
        ("வடிவேல் சுரேஷ்", "TAMIL", "vtivel sures"),
        ("123", "", "123"),
        ("١٢٣", "", "123"),
    ],
)
def test_a_name_is_transliterated(text: str, script: str, key: str) -> None:
    assert script_of(text) == script
    assert latin_key(text) == key


def test_the_parts_of_a_name_are_transliterated_apart() -> None:
    assert latin_name(parse_name("习近平")) == PersonName("jinping", "xi", "xijinping")


@pytest.mark.parametrize(
    ("last", "full", "key"),
    [
        ("Лавров", "Сергей Лавров", "lavrov"),
        (None, "Plato", "plato"),
        ("", "Платон", "platon"),
        ("Bird Jr", "Vere Bird Jr", "bird"),
    ],
)
def test_the_key_of_the_family_name_is_in_latin_letters(last: str | None, full: str, key: str) -> None:
    assert family_key(last, full) == key
