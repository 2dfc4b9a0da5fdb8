"""Words that tell the generations of one family apart, such as Jr. and Sr., at the end of a name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from app.domain.normal.texts.text_folding import fold

IN_FAMILY_NAME = frozenset(("filho", "neto"))
"""Portuguese words for a generation that are a part of the family name: Silva Filho."""
_WORDS = {
    "sr": ("sr", "snr", "senior", "sen", "pere", "padre", "d a", "st", "ст", "старшии"),
    "jr": ("jr", "jnr", "junior", "jun", "fils", "hijo", "filho", "d j", "ml", "ii", "2nd", "мл", "младшии"),
    "iii": ("iii", "3rd", "neto"),
    "iv": ("iv", "4th"),
}
_RANKS = {word: rank for rank, words in _WORDS.items() for word in words}
_ABBREVIATIONS = "jr|jnr|sr|snr|ii|iii|iv"
# Sen, Jun, St and Padre are names as well: they count in small letters, the shortest with a full stop.
_SMALL = r"sen|jun|padre|(?:ml|st|мл|ст)(?=\.)|d\. ?(?:[JÄä]|A\u0308)"
# Both patterns begin with what separates words, because the search skips to it.
_LAST = re.compile(
    rf"[\s,](?<![\s,]{{2}})[\s,]{{0,2}}\(?(?P<word>(?i:{_ABBREVIATIONS}|2nd|3rd|4th|j[uú]nior|senior|fils|p[eè]re"
    rf"|hijo|filho|neto|младший|старший)|(?P<small>{_SMALL}))(?P<stop>\.?)\)?(?=\s*(?:,|$))"
)
_BEFORE_DEGREE = re.compile(
    rf"\s(?<=[^\s,]\s)[^\s,]++,? (?P<word>(?i:{_ABBREVIATIONS}))(?P<small>(?P<stop>\.?))(?=\s)"
)

_FEWEST_WORDS = 2


class Generation(NamedTuple):
    """The generation of a name: its rank (sr, jr, iii or iv, or ""), as written, and the name without it."""

    rank: str
    written: str
    name: str


@lru_cache(maxsize=8192)
def generation_of(full: str) -> Generation:
    """Return the generation of a full name; it follows two words or more, and João Neto has none.

    Different words for one rank are the same: Jr., jun., II, fils, hijo and Filho.
    """
    found = _LAST.search(full) or _BEFORE_DEGREE.search(full)
    if found is None:
        return Generation("", "", full)
    name = full[: found.start("word")].rstrip(" ,(") + full[found.end() :]
    is_small_name = found["small"] and not found["stop"] and full.islower()  # amartya kumar sen
    if is_small_name or len(name.replace(",", " ").split()) < _FEWEST_WORDS:
        return Generation("", "", full)
    return Generation(_RANKS[fold(found["word"])], found["word"] + found["stop"], name)


def are_two_generations(a: str, b: str) -> bool:
    """Return whether both full names have a generation, and not the same."""
    ranks = {generation_of(a).rank, generation_of(b).rank}
    return len(ranks) > 1 and "" not in ranks
