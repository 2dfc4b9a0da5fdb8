"""Detection of the encodings that were usual before UTF-8, by the words that the bytes are in each of them.

Lists are short, and a wrong encoding turns most names into words of no language: `Jiří` into `Jiøí`. So every
encoding is tried. The one wins whose words are the most probable ones in its languages; a known header counts
as much as a few probable letters.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from app.domain.lists.files.letter_models import WORD, CommonRows, letter_model

ESCAPES_OF_JAPANESE = (b"\x1b$B", b"\x1b$@")
"""What begins Japanese text in ISO-2022-JP, which has ASCII bytes only."""
MAX_LINES = 400
MAX_BYTES = 1 << 15
_PER_HEADER = 8.0
"""How much one more known header counts, as the logarithm of a ratio of probabilities."""
_SURE = 6.0
"""The least distance from the next text, as the logarithm, at which the encoding is sure."""

_WESTERN = ("de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "is", "ca")
_CENTRAL = ("pl", "cs", "sk", "hu", "ro", "hr", "sl", "sq")
_CYRILLIC = ("ru", "uk", "bg", "sr", "mk", "be")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An encoding, its languages, and how usual it is: the logarithm of its share."""

    encoding: str
    languages: tuple[str, ...]
    usual: float
    common: CommonRows | None = None


_CANDIDATES = (  # of two that give one text, the first is named
    _Candidate("cp1252", _WESTERN, 0),
    _Candidate("cp1250", _CENTRAL, -1),
    _Candidate("cp1251", _CYRILLIC, -1),
    _Candidate("cp1253", ("el",), -1),
    _Candidate("cp1255", ("he",), -1),
    _Candidate("cp1256", ("ar", "fa"), -1),
    _Candidate("cp1254", ("tr", "az"), -2),
    _Candidate("cp1257", ("et", "lv", "lt"), -2),
    _Candidate("cp874", ("th",), -2),
    _Candidate("cp932", ("ja",), -1, CommonRows("euc_jp", range(0xB0, 0xD0))),
    _Candidate("gb18030", ("zh",), -1, CommonRows("gb2312", range(0xB0, 0xD8))),
    _Candidate("big5hkscs", ("zh_Hant",), -1, CommonRows("big5", range(0xA4, 0xC7))),
    _Candidate("cp949", ("ko",), -1, CommonRows("euc_kr", range(0xB0, 0xC9))),
    _Candidate("euc_jp", ("ja",), -2, CommonRows("euc_jp", range(0xB0, 0xD0))),
    _Candidate("koi8_u", ("ru", "uk"), -2),
    _Candidate("iso8859_2", _CENTRAL, -3),
    _Candidate("iso8859_5", _CYRILLIC, -5),
    _Candidate("mac_roman", _WESTERN, -5),
    _Candidate("cp850", _WESTERN, -5),
    _Candidate("cp852", _CENTRAL, -5),
    _Candidate("cp866", ("ru",), -5),
)


@dataclass(frozen=True, slots=True)
class Detected:
    """The encoding of a file, and the next probable one if it is not sure."""

    encoding: str
    other: str | None = None


def detect(sample: bytes, count_headers: Callable[[str], int]) -> Detected:
    """Return the encoding of lines that are not UTF-8; `count_headers` counts the known headers in a text."""
    ratings: dict[str, float] = {}
    encodings: dict[str, str] = {}
    for candidate in _CANDIDATES:
        text = sample.decode(candidate.encoding, errors="replace")
        rating = _rating(text, candidate) + _PER_HEADER * count_headers(text)
        ratings[text] = max(rating, ratings.get(text, rating))
        encodings.setdefault(text, candidate.encoding)
    best, following = heapq.nlargest(2, ratings, key=ratings.__getitem__)
    is_sure = ratings[best] - ratings[following] >= _SURE
    return Detected(encodings[best], None if is_sure else encodings[following])


def sample_of(lines: Iterable[bytes]) -> bytes:
    """Return the first line and those with other bytes than ASCII, at most 400 lines."""
    chosen = (line for number, line in enumerate(lines) if number == 0 or not line.isascii())
    return b"".join(islice(chosen, MAX_LINES))[:MAX_BYTES]


def _rating(text: str, candidate: _Candidate) -> float:
    """Return how probable the words of a text are in the languages of the encoding that gives it."""
    words = Counter(word for word in WORD.findall(text) if not word.isascii())
    models = [letter_model(language) for language in candidate.languages]
    return candidate.usual + sum(
        count * max(model.log_probability(word, candidate.common) for model in models)
        for word, count in words.items()
    )
