from __future__ import annotations

import unicodedata

import pytest

from app.domain.normal.texts.text_forms import MAX_MARKS, normalized, unescaped

LONG = "ab " * 100
ORDERED = "\u00c4\u0323" * 200


@pytest.mark.parametrize("text", ["Zoe\u0308", "\ufb01", LONG + "Zoe\u0308", LONG + ORDERED, "→" * 400])
def test_a_text_has_the_normal_form_of_unicode(text: str) -> None:
    assert normalized("NFC", text) == unicodedata.normalize("NFC", text)
    assert normalized("NFKD", text) == unicodedata.normalize("NFKD", text)


@pytest.mark.parametrize("marks", ["\u0301\u0327" * 300, "\uff9e\u0301" * 300])
def test_a_letter_of_a_long_text_keeps_thirty_marks(marks: str) -> None:
    kept = normalized("NFKD", f"a{marks}b")

    assert kept == unicodedata.normalize("NFKD", f"a{marks[:MAX_MARKS]}b")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Smith &amp; Co", "Smith & Co"),
        ("&#65;&#x42;", "AB"),
        ("plain", "plain"),
        (f"&#{'9' * 5_000};a@b.example", "\ufffda@b.example"),
    ],
)
def test_references_are_decoded_whatever_their_number(text: str, plain: str) -> None:
    assert unescaped(text) == plain
