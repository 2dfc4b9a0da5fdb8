"""The delimiter of a CSV text: the one whose header is understood, else the one that splits rows alike."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

DELIMITERS = ",;\t|"

CountKnown: TypeAlias = Callable[[Sequence[str]], int]
"""Counts the cells of a row that are known headers."""

_HEADER_WITHIN = 50  # rows
_SEPARATOR_LINE = "sep="  # what Excel writes and reads


def delimiter_of(sample: str, count_known: CountKnown) -> str:
    """Return the delimiter of a text by its beginning."""
    if names_delimiter(sample):
        return _first_line(sample)[-1]
    return max(DELIMITERS, key=lambda delimiter: _fit(sample, delimiter, count_known))


def names_delimiter(sample: str) -> bool:
    """Return whether the first line only names the delimiter."""
    line = _first_line(sample)
    return len(line) == len(_SEPARATOR_LINE) + 1 and line.lower().startswith(_SEPARATOR_LINE)


def quote_of(sample: str, delimiter: str) -> str:
    """Return the sign around the cells: the apostrophe if all cells of the first line are between two."""
    cells = [cell.strip() for cell in sample.partition("\n")[0].lstrip("\ufeff").split(delimiter)]
    return "'" if all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells) else '"'


def is_spaced(sample: str, delimiter: str) -> bool:
    """Return whether cells are quoted after a space only: `"Ada", "Acme, Inc."`."""
    return f'{delimiter} "' in sample and f'{delimiter}"' not in sample


def most_known(sample: str, count_known: CountKnown) -> int:
    """Return how many known headers a row of the text has with the delimiter that gives most."""
    return max(_known(sample, delimiter, count_known) for delimiter in DELIMITERS)


def _fit(sample: str, delimiter: str, count_known: CountKnown) -> tuple[int, int, int]:
    """Return how many headers are known with the delimiter, and how many cells rows of one width have."""
    widths = Counter(len(row) for row in _rows(sample, delimiter) if len(row) > 1)
    width, rows = max(widths.items(), key=lambda item: (item[1] * item[0], item[0]), default=(0, 0))
    return _known(sample, delimiter, count_known), rows * width, width


def _known(sample: str, delimiter: str, count_known: CountKnown) -> int:
    return max(map(count_known, islice(_rows(sample, delimiter), _HEADER_WITHIN)), default=0)


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)


def _first_line(sample: str) -> str:
    return sample.partition("\n")[0].strip(' \r\ufeff"')
