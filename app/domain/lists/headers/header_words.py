"""The headers of each field, and the words of e-mail and phone headers, as listed in `app/domain/data`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.domain.normal.texts.text_folding import fold

_DATA = Path(__file__).parents[2] / "data" / "lists"


def read_headers() -> tuple[dict[str, tuple[str, int]], dict[str, dict[str, str]]]:
    """Return the field and rank of each header, and the meaning of each word by the group of the word.

    Of two files with a header or word, `columns.txt` and `value_columns.txt` take precedence, then the
    languages in the order of their codes. Earlier headers of a field are more reliable, and rank lower.
    """
    headers: dict[str, tuple[str, int]] = {}
    words: dict[str, dict[str, str]] = {}
    for head, texts in _lines():
        group, _, name = head.partition(" ")
        if name:
            meanings = words.setdefault(head if group == "names" else group, {})
            for word in texts.split():
                meanings.setdefault(fold(word), name)
        else:
            for rank, text in enumerate([*texts.split(", "), head.replace("_", " ")]):
                headers.setdefault(fold(text), (head, rank))
    return headers, words


def _lines() -> Iterator[tuple[str, str]]:
    """Yield the lines of all files: a field and its headers, or a group and its words."""
    languages = sorted(_DATA.glob("headers/*/*.txt"), key=lambda path: path.name)
    for path in (_DATA / "columns.txt", _DATA / "value_columns.txt", *languages):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                head, texts = line.split(": ", maxsplit=1)
                yield head, texts
