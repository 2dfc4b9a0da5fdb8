"""Names of companies: their words, legal form, and a key that is equal for equivalent spellings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from app.domain.normal.companies.legal_forms import (
    form_at_end,
    form_at_start,
    form_class,
    is_form,
    name_words,
    spaced_forms,
    without_signed_form,
)
from app.domain.normal.texts.encoded_texts import decoded
from app.domain.normal.texts.wordlists import entries, lines

_EXCHANGES = (
    "nasdaq(?:gs|gm|cm)?|nyse(?: ?american| ?arca)?|amex|otc(?:mkts|qb|qx|pk)?|lse|lon|aim|epa|euronext|etr"
    "|fra|xetra|ams|ebr|bit|bme|six|swx|sto|omx|cph|hel|osl|wse|tsxv?|tse|asx|nzx|nse|bse|sgx|hkex|hkg|tyo|tpe"
    "|krx|kosdaq|jse|b3"
)
"""Stock exchanges as they are abbreviated before the symbol of a share."""
_BEFORE_NAME = (
    "[fn]/?k/?a|formerly|previously|ehem(?:als)?|vormals|anciennement|antes|già|acquired|now|part of"
)
"""Words before an older name, or another company, in brackets."""
_REMARK = re.compile(
    rf"\((?:yc|y combinator|techstars|{_BEFORE_NAME}|we(?:'| a)re hiring|hiring|nasdaq|nyse|lse|class [a-z])"
    r"\b[^()]*\)"
    rf"|\((?:{_EXCHANGES}):[^()]*\)|\s(?:{_EXCHANGES}):\s?[a-z0-9.]{{1,8}}$"
    r"|(?<=\w),?\s(?:f/?k/?a|formerly known as|(?<=,\s)(?:formerly|ehemals|vormals|anciennement))\s.*"
    r"|\([0-9]{6,12}(?:-[a-z])?\)$|^m/s\.?\s"
    r"|(?<![\s(,-])[\s(,-]*\b(?:yc|y combinator)[\s-]?(?:[fsw]|winter|spring|summer|fall)[\s'-]*\d{2,4}\b\)?"
    r"|(?<=\S)\s*\|.*",
    re.IGNORECASE | re.DOTALL,
)
"""Notes beside a name, also the number of its registration, and M/s before it, as in India."""
_REMARK_MARKS = ("(", "|", "YC", "Combinator", "/", "\\", ":", "fka", "FKA", "formerly", ", ")
_REGISTERED = re.compile(
    r"(?:(?<=\binc)|(?<=\bco)|(?<=\bcorp)|(?<=\bltd)|(?<=\bllc)|(?<=\bplc)|(?<=\bcompany)|(?<=\blimited))"
    r"\.? ?[/\\] ?(?:[a-z]{2,3} ?)?[/\\]?$| ?[/\\]new[/\\]$",
    re.IGNORECASE,
)
_MAX_REGISTERED = 9
_CONJUNCTIONS = frozenset({"und", "et", "og", "och", "и", "та", "και", "ve"})
_SPELT_OUT = {
    "corp": "corporation",
    "corpn": "corporation",
    "co": "company",
    "inc": "incorporated",
    "ltd": "limited",
}
_UNUSUAL = _CONJUNCTIONS | _SPELT_OUT.keys()
_AND = re.compile(r"(?<=\w{3}) (?:[yY]|e) (?=\w{3})")
_MIN_JOINED = 3
_MARKS = re.compile("[\u00a9\u00ae\u2120\u2122]")
_WEB = re.compile(r"^\s*(?:https?://)?www\.|(?<=\w\w)\.(?:com|net|org)\b(?!\.?\w)", re.IGNORECASE)
_ATTACHED = re.compile(r"(?<=[a-z])(?:[A-Z]{2,4}|GmbH|Ltd|Inc)$")
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
    text = decoded(text)
    name, signed = without_signed_form(_without_remarks(text).rstrip())
    remaining = form_words(name)
    joined = "".join(remaining) + signed
    remaining = [word for word in remaining if word != "the"] or remaining
    forms = [signed]
    while size := form_at_end(remaining):
        forms.append(" ".join(remaining[-size:]))
        del remaining[-size:]
    while size := form_at_start(remaining):
        forms.append(" ".join(remaining[:size]))
        del remaining[:size]
    classes = frozenset(filter(None, map(form_class, forms)))
    return CompanyName(tuple(_canonical(_usual_words(remaining)) or _letters(text)), classes, joined)


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
    text = _AND.sub(" and ", text.rstrip())
    if "." in text[:-1]:
        text = _WEB.sub("", text)
    if not text.isascii():
        text = spaced_forms(_MARKS.sub("", text)).rstrip()
    end = _ATTACHED.search(text, max(0, len(text) - _MAX_ATTACHED))
    if end and is_form(end[0].lower()):
        text = f"{text[: end.start()]} {end[0]}"
    return name_words(text)


def _without_remarks(text: str) -> str:
    """Return the name without remarks and the state of registration, and with (I) as India."""
    if not any(mark in text for mark in _REMARK_MARKS):
        return text
    text = text.rstrip()
    if found := _REGISTERED.search(text, max(0, len(text) - _MAX_REGISTERED)):
        text = text[: found.start()]
    return _REMARK.sub("", text).replace("(I)", "(India)")


def _usual_words(names: list[str]) -> list[str]:
    """Return the words with "and" in English, and with the legal forms within the name spelt out."""
    if _UNUSUAL.isdisjoint(names):
        return names
    around = zip(["", *names], names, [*names[1:], ""], strict=False)
    return [_usual(*words) for words in around]


def _usual(before: str, word: str, after: str) -> str:
    if word in _CONJUNCTIONS and min(len(before), len(after)) >= _MIN_JOINED:
        return "and"
    is_spelt_out = before and (word != "co" or after == "of")  # not the Co of Co-operative
    return _SPELT_OUT.get(word, word) if is_spelt_out else word


def _canonical(names: list[str]) -> list[str]:
    """Replace abbreviations, spelling variants and numbers in words."""
    pattern, first_words = _phrase()
    if first_words.isdisjoint(names):
        return names
    return pattern.sub(lambda phrase: _phrases()[phrase[0]], " ".join(names)).split()


@cache
def _phrases() -> dict[str, str]:
    """Return the words to compare instead of each phrase."""
    units, tens = lines("companies/number_words.txt")
    numbers = {word: str(number) for number, word in enumerate(units)}
    for ten, word in ((ten, word) for ten, words in enumerate(tens, 2) for word in words.split("|")):
        for number, unit in enumerate(units[1:10], 1):
            numbers |= dict.fromkeys((f"{word} {unit}", f"{word} {number}"), f"{ten}{number}")
        numbers[word] = f"{ten}0"
    return numbers | {
        other: word for word, others in entries("companies/company_words.txt") for other in others
    }


@cache
def _phrase() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return the pattern of the phrases, longest first, and the first words of all."""
    phrases = sorted(_phrases(), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b"), frozenset(phrase.split()[0] for phrase in phrases)


def _letters(text: str) -> tuple[str, ...]:
    """Return the letters and digits of a name that has nothing else."""
    letters = "".join(filter(str.isalnum, text.casefold()))
    return (letters,) if letters else ()
