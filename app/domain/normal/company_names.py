"""Names of companies: their words, legal form, and a key that is equal for equivalent spellings."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from app.domain.normal.names import name_key
from app.domain.normal.wordlists import entries, lines, words

_REMARK = re.compile(
    r"\((?:yc|y combinator|techstars|formerly|previously|acquired|now|nasdaq|nyse|lse|hiring)\b[^()]*\)"
    r"|(?<![\s(,-])[\s(,-]*\b(?:yc|y combinator)[\s-]?(?:[fsw]|winter|spring|summer|fall)[\s'-]*\d{2,4}\b\)?"
    r"|(?<=\S)\s*\|.*",
    re.IGNORECASE | re.DOTALL,
)
_REMARK_MARKS = ("(", "|", "YC", "Combinator")
_MARKS = re.compile("[\u00a9\u00ae\u2120\u2122]")
_WEB = re.compile(r"^\s*(?:https?://)?www\.|(?<=\w\w)\.(?:com|net|org)\b(?!\.?\w)", re.IGNORECASE)
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.\s?){2,}(?:[^\W\d_]\b(?!\.?\w))?")
_DOTS = re.compile(r"[.\s]")
_ATTACHED = re.compile(r"(?<=[a-z])(?:[A-Z]{2,4}|GmbH|Ltd|Inc)$")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MAX_ATTACHED = 5


@dataclass(frozen=True, slots=True)
class CompanyName:
    """The words of a name without its legal forms, and the classes of these, such as LLC, if known.

    `joined` is the name with its legal forms, without spaces.
    """

    words: tuple[str, ...]
    form_classes: frozenset[str]
    joined: str


@lru_cache(maxsize=4096)
def parse_company(text: str) -> CompanyName:
    """Parse a company's name.

    Removed are legal forms (after the name, spelt out, or before it as in `OOO Acme`), "the", a top-level
    domain (`Acme.com`), and remarks such as `(YC S21)`. Numbers in words become digits, and abbreviations
    such as Int'l are expanded. A name that contains a letter has at least one word.
    """
    has_remark = any(mark in text for mark in _REMARK_MARKS)
    remaining = form_words(_REMARK.sub("", text) if has_remark else text)
    joined = "".join(remaining)
    forms: list[str] = []
    while size := _form_at_end(remaining):
        forms.append(" ".join(remaining[-size:]))
        del remaining[-size:]
    while size := _form_at_start(remaining):
        forms.append(" ".join(remaining[:size]))
        del remaining[:size]
    named = _canonical([word for word in remaining if word != "the"] or remaining)
    classes = frozenset(filter(None, (_forms().get(form) for form in forms)))
    return CompanyName(tuple(named or _letters(text)), classes, joined)


def company_key(text: str) -> str:
    """Return the key of a company's name for indexes and comparison: the words of `parse_company`.

    The key of a name that contains a letter is never empty.
    """
    return " ".join(parse_company(text).words)


def have_different_forms(a: str, b: str) -> bool:
    """Return whether two names have legal forms of different classes, such as AG and GmbH."""
    left, right = parse_company(a).form_classes, parse_company(b).form_classes
    return bool(left and right) and left.isdisjoint(right)


def form_words(text: str) -> list[str]:
    """Return the words of a name; `S. A.`, `S.A.` and `S/A` are one word, `SiemensAG` is two."""
    text = text.rstrip()
    if "." in text[:-1]:
        text = _DOTTED.sub(lambda letters: _DOTS.sub("", letters[0]) + " ", _WEB.sub("", text))
    if not text.isascii():
        text = _cjk_form().sub(r" \g<0> ", unicodedata.normalize("NFKC", _MARKS.sub("", text)))
    text = text.rstrip()
    end = _ATTACHED.search(text, max(0, len(text) - _MAX_ATTACHED))
    if end and end[0].lower() in _forms():
        text = f"{text[: end.start()]} {end[0]}"
    return _joined_letters(name_key(text.replace("&", " and ")).split())


def _form_at_end(names: list[str]) -> int:
    """Return how many words at the end are a legal form, or "and" before one; a word is left."""
    if len(names) > 1 and names[-1] == "and":
        return 1
    sizes = _sizes_by_edge()[1].get(names[-1], ()) if names else ()
    return next((size for size in sizes if size < len(names) and " ".join(names[-size:]) in _forms()), 0)


def _form_at_start(names: list[str]) -> int:
    """Return how many words at the start are a legal form; a word is left."""
    sizes = _sizes_by_edge()[0].get(names[0], ()) if names else ()
    size = next((size for size in sizes if size < len(names) and " ".join(names[:size]) in _forms()), 0)
    return 0 if size == 1 and names[0].isascii() and names[0] not in _leading_forms() else size


@cache
def _forms() -> dict[str, str]:
    """Return the class of each legal form, an empty string if unknown."""
    classed = {form: name for name, forms in entries("legal_form_classes.txt") for form in forms}
    return dict.fromkeys(words("legal_forms.txt"), "") | classed


@cache
def _sizes_by_edge() -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the numbers of words, largest first, of the forms with each first and with each last word."""
    sizes: tuple[dict[str, set[int]], ...] = ({}, {})
    for form in map(str.split, _forms()):
        sizes[0].setdefault(form[0], set()).add(len(form))
        sizes[1].setdefault(form[-1], set()).add(len(form))
    first, last = ({word: sorted(found, reverse=True) for word, found in edge.items()} for edge in sizes)
    return first, last


@cache
def _cjk_form() -> re.Pattern[str]:
    """Return the pattern of the legal forms that are written without spaces."""
    forms = filter(_CJK.search, _forms())
    return re.compile("|".join(sorted(map(re.escape, forms), key=len, reverse=True)))


@cache
def _leading_forms() -> frozenset[str]:
    """Return the forms of one ASCII word that are written before the name; others may belong to it."""
    return words("leading_legal_forms.txt")


def _canonical(names: list[str]) -> list[str]:
    """Replace abbreviations, spelling variants and numbers in words."""
    pattern, first_words = _phrase()
    if first_words.isdisjoint(names):
        return names
    return pattern.sub(lambda phrase: _phrases()[phrase[0]], " ".join(names)).split()


@cache
def _phrases() -> dict[str, str]:
    """Return the words to compare instead of each phrase."""
    units, tens = lines("number_words.txt")
    numbers = {word: str(number) for number, word in enumerate(units)}
    for ten, word in enumerate(tens, 2):
        numbers |= {f"{word} {unit}": f"{ten}{number}" for number, unit in enumerate(units[1:10], 1)}
        numbers[word] = f"{ten}0"
    return numbers | {other: word for word, others in entries("company_words.txt") for other in others}


@cache
def _phrase() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return the pattern of the phrases, longest first, and the first words of all."""
    phrases = sorted(_phrases(), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b"), frozenset(phrase.split()[0] for phrase in phrases)


def _letters(text: str) -> tuple[str, ...]:
    """Return the letters and digits of a name that has nothing else."""
    letters = "".join(filter(str.isalnum, text.casefold()))
    return (letters,) if letters else ()


def _joined_letters(names: list[str]) -> list[str]:
    """Join runs of single letters: `s a` becomes `sa`, `sp z o o` becomes `sp zoo`."""
    if 1 not in map(len, names):
        return names
    joined: list[str] = []
    for word, before in zip(names, ["", *names], strict=False):
        if len(word) == len(before) == 1:
            joined[-1] += word
        else:
            joined.append(word)
    return joined
