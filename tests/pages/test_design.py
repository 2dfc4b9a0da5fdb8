"""The pages and the extension have one design: the same files, icons, words and avatars."""

from __future__ import annotations

import json
import re
from itertools import chain

import pytest

from app.web.pages import avatars, value_words
from tools.state import ROOT

STATIC, EXTENSION = ROOT / "app/pages/static", ROOT / "extension"
SHARED = ("tokens.css", "parts.css")
PAIRS = [
    *(("text", name) for name in ("background", "card")),
    *(("muted", name) for name in ("background", "card")),
    *(("accent", name) for name in ("background", "card", "accent-background")),
    ("on-accent", "accent"),
    *((name, f"{name}-background") for name in ("good", "fair", "bad")),
    *((f"on-avatar-{number}", f"avatar-{number}") for number in range(avatars.COLORS)),
]
"""Texts and the backgrounds on which they stand."""


def _text(folder: object, name: str) -> str:
    return (ROOT / str(folder) / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHARED)
def test_the_extension_has_a_copy_of_what_it_shares_with_the_pages(name: str) -> None:
    assert _text(EXTENSION, name) == _text(STATIC, name), f"copy app/pages/static/{name} to extension/{name}"


def test_no_other_file_names_a_colour() -> None:
    sheets = [
        path for path in chain(STATIC.glob("*.css"), EXTENSION.glob("*.css")) if path.name != "tokens.css"
    ]

    named = {path.name: re.findall(r"#[0-9a-f]{3,8}\b(?!\s*[:{,.>])", path.read_text()) for path in sheets}

    assert {name: colours for name, colours in named.items() if colours} == {}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "background"), PAIRS)
def test_texts_stand_out_from_their_background(text: str, background: str, scheme: int) -> None:
    colours = dict(re.findall(r"--([\w-]+): light-dark\((#[^)]+)\);", _text(STATIC, "tokens.css")))

    lighter, darker = sorted(
        (_luminance(colours[name].split(", ")[scheme]) for name in (text, background)), reverse=True
    )

    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_both_draw_an_icon_alike() -> None:
    of_pages = dict(re.findall(r'id="(\w+)"[^>]*><path d="([^"]+)"', _text(STATIC, "icons.svg")))
    of_extension = dict(
        re.findall(r'^  (\w+):\s+"([^"]+)"', _text(EXTENSION, "views/icons.js"), re.MULTILINE)
    )

    assert len(of_extension) >= 15
    assert {name: of_pages.get(name) for name in of_extension} == of_extension


def test_every_icon_that_a_page_names_is_drawn() -> None:
    drawn = set(re.findall(r'id="(\w+)"', _text(STATIC, "icons.svg")))
    templates = "".join(path.read_text() for path in (ROOT / "app").rglob("*.html"))
    modules = "".join(path.read_text() for path in (ROOT / "app").rglob("*.py"))

    named = {*re.findall(r'icon\("(\w+)"\)', templates), *re.findall(r'icon="(\w+)"', modules)}

    assert len(named) > 5
    assert named <= drawn


def test_both_call_a_status_the_same() -> None:
    texts = {
        name: entry["message"]
        for name, entry in json.loads(_text(EXTENSION, "_locales/en/messages.json")).items()
    }

    assert (
        _differing(texts, "status", {name: shown.text for name, shown in value_words.EMAIL_STATUS.items()})
        == {}
    )
    assert _differing(texts, "type", value_words.VALUE_TYPES) == {}
    assert _differing(texts, "state", {name: shown.text for name, shown in value_words.RESULTS.items()}) == {}
    assert (
        _differing(
            texts, "outcome", {name: shown.text for name, shown in value_words.PROVIDER_RESULTS.items()}
        )
        == {}
    )
    assert value_words.IMPORTED.text == texts["status_valid_import"]


def _differing(texts: dict[str, str], prefix: str, words: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the words that the extension says otherwise; what is queued and what runs are one text there."""
    keys = {name: "open" if name in {"queued", "running"} else name for name in words}
    said = {name: texts.get(f"{prefix}_{key}", "") for name, key in keys.items()}
    return {name: (text, said[name]) for name, text in words.items() if text.lower() != said[name].lower()}


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("Ada Lovelace", "AL"),
        ("Ada King, Countess of Lovelace", "AL"),
        ("ada", "A"),
        ("Jean-Luc Picard", "JP"),
        ("ada.lovelace@example.com", "AC"),
        ("王小明", "王"),
        ("김 철수", "김철"),
        ("محمد علي", "م\u200cع"),
        ("Łukasz Żak", "ŁŻ"),
        ("ßeta", "S"),
        ("(unknown)", "?"),
        ("", "?"),
        (None, "?"),
    ],
)
def test_an_avatar_has_the_initials_of_the_first_and_the_last_word(name: str | None, initials: str) -> None:
    assert avatars.initials(name) == initials


def test_a_name_always_has_the_same_colour() -> None:
    assert avatars.color("Ada Lovelace") == avatars.color("Ada Lovelace")
    assert {avatars.color(f"Person {number}") for number in range(50)} == set(range(avatars.COLORS))
