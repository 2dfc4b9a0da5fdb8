"""Word lists of the package: text files of words, with comment lines that start with `#`."""

from __future__ import annotations

from pathlib import Path

_DATA = Path(__file__).parents[2] / "data"


def lines(file: str) -> list[list[str]]:
    """Return the words of each line of a file in `data/`."""
    text = (_DATA / file).read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def words(file: str) -> frozenset[str]:
    """Return all words of a file in `data/`."""
    return frozenset(word for line in lines(file) for word in line)


def entries(file: str) -> list[tuple[str, list[str]]]:
    """Return the head and the comma-separated items of each line `head: item, item` of a file in `data/`."""
    text = (_DATA / file).read_text(encoding="utf-8")
    heads = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return [(head, items.split(", ")) for head, _colon, items in heads]
