"""Cells that answer yes or no, as spreadsheets and CRMs write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.lists.cells.flags import is_unsubscribed, read_consent, read_opt_out
from app.domain.normal.texts.text_folding import fold

FILE = Path(__file__).parents[4] / "app" / "domain" / "data" / "lists" / "flags.txt"

TRUE = """true TRUE Yes y 1 1.0 1,0 -1 on checked x X ✓ ✔️ ☑ ✅ × wahr WAHR ja VRAI oui VERDADERO sí si
VERO sì PRAWDA tak SANT SAND SANN Tosi kyllä PRAVDA ano WAAR VERDADEIRO sim ИСТИНА да 真 はい 是 DOĞRU evet
IGAZ igen 예 ΑΛΗΘΗΣ ADEVĂRAT da ＴＲＵＥ""".split()  # noqa: SIM905, RUF001 -- easier to read
FALSE = """false FALSE No n 0 0.0 0,0 off unchecked ☐ falsch nein FAUX non FALSO FAŁSZ nie FALSKT nej USANN
nei EPÄTOSI ei NEPRAVDA ne ONWAAR nee não ЛОЖЬ нет 偽 いいえ 否 YANLIŞ hayır HAMIS nem όχι FALS
nu""".split()  # noqa: SIM905, RUF001 -- likewise


@pytest.mark.parametrize("text", TRUE)
def test_yes_is_read_in_every_language(text: str) -> None:
    assert read_opt_out(text) is True
    assert read_consent(text) is True


@pytest.mark.parametrize("text", FALSE)
def test_no_is_read_in_every_language(text: str) -> None:
    assert read_opt_out(text) is False
    assert read_consent(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "DNC",
        "Do Not Call",
        "opted out",
        "Opt-out",
        "unsubscribed",
        "Do Not Allow",
        "blocked",
        "Abgemeldet",
        "On DNC",
        "Registered",
    ],
)
def test_a_person_who_does_not_want_to_be_contacted_opted_out(text: str) -> None:
    assert (read_opt_out(text), read_consent(text)) == (True, False)


@pytest.mark.parametrize(
    "text", ["subscribed", "Opted in", "Allow", "callable", "Granted", "Clean", "Not registered"]
)
def test_a_person_who_wants_to_be_contacted_did_not_opt_out(text: str) -> None:
    assert (read_opt_out(text), read_consent(text)) == (False, True)


@pytest.mark.parametrize("text", ["2026-01-31", "31.01.2026 10:15", "2026-01-31T10:15:00Z"])
def test_a_date_is_that_of_the_answer(text: str) -> None:
    assert (read_opt_out(text), read_consent(text)) == (True, True)


@pytest.mark.parametrize("text", ["maybe", "7", "ask Bob", "\u2717", "1e999", "2026-13-45"])
def test_other_words_say_neither(text: str) -> None:
    assert (read_opt_out(text), read_consent(text)) == (None, None)


def test_a_status_says_by_few_words_only_that_the_person_opted_out() -> None:
    assert [
        is_unsubscribed(text) for text in ("Unsubscribed", "blocklisted", "opted-out", "rejected", "yes")
    ] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_no_word_has_two_meanings() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    groups: dict[str, set[str]] = {}
    for group, words in (line.split(": ") for line in lines if not line.startswith("#")):
        groups.setdefault(group, set()).update(map(fold, words.split(", ")))

    assert sum(map(len, groups.values())) == len(set().union(*groups.values()))
