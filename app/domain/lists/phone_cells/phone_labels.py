"""What the label of a number says: its type, or that it is a fax, a pager or another person's number.

A label may have several words, as those of address books have: `Home Fax 2`, `_$!<Pager>!$_`, `X-ASSISTANT`.
"""

from __future__ import annotations

from functools import cache, lru_cache

from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.vocabularies import phone_type, phone_types

NOT_OWN = frozenset({"fax", "pager", "another"})
"""The types of numbers that do not reach the person."""
ANOTHER = "another"
_STRONGEST = ("pager", ANOTHER, "fax", "mobile", "direct", "hq", "work", "other")
_THAI = "\u0e00"
"""The first character of scripts that do not write spaces; those of other alphabets come before it."""
_PHONE_WORDS = frozenset({"tel", "telefon", "telephone", "phone", "fon", "fono"})


@lru_cache(maxsize=4096)
def label_type(label: str) -> str | None:
    """Return the type that a label names, one of `NOT_OWN` too; None for another label.

    `Tel/Fax` is the label of a phone.
    """
    if whole := phone_type(label):
        return whole
    folded = fold(label)
    words = folded.split()
    kinds = {phone_type(word) for word in words if len(word) > 1}
    kinds |= {kind for word, kind in _unspaced().items() if word in folded}
    if not _PHONE_WORDS.isdisjoint(words):
        kinds.discard("fax")
    return next((kind for kind in _STRONGEST if kind in kinds), None)


@cache
def _unspaced() -> dict[str, str]:
    """Return the words in scripts that do not write spaces, and their types."""
    return {word: kind for word, kind in phone_types().items() if word[0] >= _THAI}
