"""The meaning of cells that answer yes or no, in the words of spreadsheets and CRMs in many languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import unescape_formula
from app.domain.lists.cells.dates import parse_timestamp
from app.domain.normal.texts.text_folding import fold

_FILE = Path(__file__).parents[2] / "data" / "lists" / "flags.txt"
_TICKS = dict.fromkeys("\u2713\u2714\u2611\u2705\u2612\u00d7", True) | {"\u2610": False}
_EMOJI_STYLE = "\ufe0f"
_NUMBERS = {1.0: True, -1.0: True, 0.0: False}
"""Databases write true as 1 or -1; a column with decimals writes 1.0."""


def _read() -> dict[str, frozenset[str]]:
    """Read `data/lists/flags.txt`: the folded words of each group."""
    groups: dict[str, frozenset[str]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            group, words = line.split(": ", maxsplit=1)
            groups[group] = groups.get(group, frozenset()) | frozenset(map(fold, words.split(", ")))
    return groups


_GROUPS = _read()
_YES, _NO, _WANTED = (_GROUPS[group] for group in ("yes", "no", "wanted"))
_ANSWERS = _YES | _NO
_UNSUBSCRIBED = _GROUPS["unsubscribed"]
_UNWANTED = _UNSUBSCRIBED | _GROUPS["unwanted"]
_OPT_OUTS = dict.fromkeys(_YES | _UNWANTED, True) | dict.fromkeys(_NO | _WANTED, False)
_CONSENTS = dict.fromkeys(_YES | _WANTED, True) | dict.fromkeys(_NO | _UNWANTED, False)


@lru_cache(maxsize=1024)
def read_opt_out(text: str) -> bool | None:
    """Return whether a cell of a column such as `Do not call` says so; None for an unknown word.

    A date is the time of the opt-out.
    """
    return _read_flag(text, _OPT_OUTS)


@lru_cache(maxsize=1024)
def read_consent(text: str) -> bool | None:
    """Return whether a cell of a column such as `Marketing consent` gives it; None for an unknown word.

    A date is the time of the consent.
    """
    return _read_flag(text, _CONSENTS)


def is_answer(text: str) -> bool:
    """Return whether a cell says only yes or no."""
    return fold(text) in _ANSWERS


@lru_cache(maxsize=1024)
def is_unsubscribed(text: str) -> bool:
    """Return whether a status of any kind says that the person does not want to be contacted."""
    return fold(text) in _UNSUBSCRIBED


def _read_flag(text: str, words: Mapping[str, bool]) -> bool | None:
    content = unescape_formula(text).removesuffix(_EMOJI_STYLE)
    if content in _TICKS:
        return _TICKS[content]
    word = fold(content)
    if word in words:
        return words[word]
    try:
        return _NUMBERS.get(float(content.replace(",", ".")))
    except ValueError:
        return _is_date(content)


def _is_date(text: str) -> bool | None:
    try:
        parse_timestamp(text)
    except InvalidValue:
        return None
    return True
