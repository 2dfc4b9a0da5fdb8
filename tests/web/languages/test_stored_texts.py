"""Sentences that a worker stored in English are translated for whoever reads them."""

from __future__ import annotations

import re

import pytest

from app.domain.messages import Figure, Message
from app.infra.languages import stored_texts, texts
from app.infra.languages.catalogues import message_ids

GAP = re.compile(r"\{(\w+)\}")
TEMPLATES = [
    forms
    for message_id in message_ids("de")
    if len(GAP.sub("", (forms := (message_id,) if isinstance(message_id, str) else message_id)[0])) > 12
    and GAP.search(forms[-1])
]


@pytest.mark.parametrize("forms", TEMPLATES)
def test_every_sentence_with_values_is_known_again(forms: tuple[str, ...]) -> None:
    names = dict.fromkeys(name for form in forms for name in GAP.findall(form))
    values = {name: f"{name.upper()}-7" for name in names} if len(forms) == 1 else dict.fromkeys(names, 7)
    message = Message(*forms, **values)

    translated = stored_texts.translate(str.__str__(message), "de")

    assert translated == texts.translate(message, "de")


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("This row repeats the header.", "Diese Zeile wiederholt die Kopfzeile."),
        (
            str(Message("The list has more than {max} rows. Split it into several.", max=Figure(50_000))),
            "Die Liste hat mehr als 50.000 Zeilen. Teilen Sie sie in mehrere auf.",
        ),
        (
            "This is not a date. Use the format 2026-11-20. Unheard of. The same value as row 1200.",
            (
                "Das ist kein Datum. Verwenden Sie das Format 2026-11-20. Unheard of. "
                "Derselbe Wert wie in Zeile 1.200."
            ),
        ),
        (
            "This is a PDF, not CSV. Export the list as CSV from its source.",
            "Das ist eine PDF-Datei, keine CSV-Datei. Exportieren Sie die Liste in ihrer Quelle als CSV.",
        ),
        ("Said by a provider", "Said by a provider"),
        ("", ""),
    ],
)
def test_a_stored_text_is_translated_sentence_by_sentence(stored: str, shown: str) -> None:
    assert stored_texts.translate(stored, "de") == shown
    assert stored_texts.translate(stored, "en") == stored


def test_a_message_that_was_not_stored_keeps_its_values() -> None:
    message = Message("{reason}: {note}", reason=Message("own company"), note="own company")

    assert stored_texts.translate(message, "fr") == "votre entreprise\u00a0: own company"


def test_a_large_number_has_its_thousands_apart() -> None:
    message = Message("The list has more than {max} rows. Split it into several.", max=Figure(10_000))

    assert message == "The list has more than 10,000 rows. Split it into several."
    assert texts.translate(message, "en") == message
    assert "10.000 Zeilen" in texts.translate(message, "de")


def test_what_looks_like_a_gap_in_a_text_without_values_stays() -> None:
    text = Message("Put {number} (with the +) or {digits} (without it) once where the number goes.")

    assert "{number} (mit +)" in texts.translate(text, "de")
    assert "{number} (mit +)" in stored_texts.translate(str.__str__(text), "de")


def test_the_time_for_an_unknown_text_grows_no_faster_than_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(stored_texts, "_translated", lambda text, _language: tried.append(text))
    text = " ".join(f"{number} is not a text of ours." for number in range(200))

    assert stored_texts.translate(text, "de") == text
    assert len(tried) <= 200 * 12
