"""Legal forms of companies at the end or the start of a name, in the form of `name_words`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from cleanco.termdata import terms_by_country, terms_by_type

from app.domain.normal.names.name_keys import name_key
from app.domain.normal.texts.text_forms import normalized
from app.domain.normal.texts.wordlists import entries, words

_DOTTED = re.compile(r"\b(?:[^\W\d_]\.\s?){2,}(?:[^\W\d_]\b(?!\.?\w))?")
_DOTS = re.compile(r"[.\s]")
_SIGNED = re.compile(r"(?:^|(?<=\s))[^\W\d_](?:[./]\s?[^\W\d_]){1,4}[./]?$")
_MAX_SIGNED = 16
_SIGNS = re.compile(r"[\W_]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_MIN_TERM = 3
"""The length of the shortest terms of cleanco that are legal forms without their signs."""


def name_words(text: str) -> list[str]:
    """Return the words of a name; `S. A.`, `S.A.` and `S/A` are one word."""
    if "." in text[:-1]:
        text = _DOTTED.sub(lambda letters: _DOTS.sub("", letters[0]) + " ", text)
    return _joined_letters(name_key(text.replace("&", " and ")).split())


def form_class(form: str) -> str:
    """Return the class of a legal form, such as LLC; an empty string if it has none."""
    return _forms().get(form, "")


def is_form(word: str) -> bool:
    """Return whether the word is a legal form."""
    return word in _forms()


def without_signed_form(text: str) -> tuple[str, str]:
    """Return the text without a legal form such as `k.d.` at its end, which has signs, and this form."""
    found = _SIGNED.search(text, max(0, len(text) - _MAX_SIGNED))
    form = name_key(_SIGNS.sub("", found[0])) if found else ""
    rest = text[: found.start()].rstrip(" ,") if found and form in _signed_forms() - _forms().keys() else ""
    return (rest, form) if rest else (text, "")


def spaced_forms(text: str) -> str:
    """Return the text with spaces around the legal forms of scripts that are written without spaces."""
    return _unspaced_form().sub(r" \g<0> ", normalized("NFKC", text))


def form_at_end(names: list[str]) -> int:
    """Return how many words at the end are a legal form, or "and" before one; a word is left."""
    if len(names) > 1 and names[-1] == "and":
        return 1
    sizes = _sizes_by_edge()[1].get(names[-1], ()) if names else ()
    size = next((size for size in sizes if size < len(names) and " ".join(names[-size:]) in _forms()), 0)
    return max(size, next(_spelt_at_end(names), 0))


def form_at_start(names: list[str]) -> int:
    """Return how many words at the start are a legal form; a word is left."""
    sizes = _sizes_by_edge()[0].get(names[0], ()) if names else ()
    size = next((size for size in sizes if size < len(names) and " ".join(names[:size]) in _forms()), 0)
    if size == 1 and names[0].isascii() and names[0] not in _leading_forms():
        size = 0
    return max(size, next(_spelt_at_start(names), 0))


@dataclass(frozen=True, slots=True)
class _Grammar:
    """How a language spells its legal forms: a first word, then others, of which one decides."""

    first: frozenset[str]
    deciding: frozenset[str]
    known: frozenset[str]


def _spelt_at_end(names: list[str]) -> Iterator[int]:
    """Yield the size of a legal form at the end that is spelt out, such as `sociedad anonima`."""
    for grammar in _grammars_by_edge()[1].get(names[-1], ()) if names else ():
        start = len(names) - 1
        while start > 0 and names[start] in grammar.known:
            start -= 1
        first = next((at for at in range(start + 1, len(names) - 1) if names[at] in grammar.first), None)
        if first is not None:
            yield len(names) - first


def _spelt_at_start(names: list[str]) -> Iterator[int]:
    """Yield the size of a legal form at the start that is spelt out."""
    for grammar in _grammars_by_edge()[0].get(names[0], ()) if names else ():
        end = 1
        while end < len(names) and names[end] in grammar.known:
            end += 1
        deciding = [at for at in range(1, min(end, len(names) - 1)) if names[at] in grammar.deciding]
        if deciding:
            yield deciding[-1] + 1


@cache
def _forms() -> dict[str, str]:
    """Return the class of each legal form, an empty string if unknown."""
    classed = {form: name for name, forms in entries("companies/legal_form_classes.txt") for form in forms}
    return dict.fromkeys((*_terms(), *_own_forms()), "") | classed


def _own_forms() -> Iterator[str]:
    for _language, forms in entries("companies/legal_forms.txt"):
        yield from (" ".join(name_words(form)) for form in forms)


def _terms() -> Iterator[str]:
    """Yield the terms of cleanco that are legal forms without their signs."""
    for term in chain(*terms_by_type.values(), *terms_by_country.values()):
        form = " ".join(name_words(term))
        if len(form) >= _MIN_TERM and form not in _signed_forms():
            yield form


@cache
def _signed_forms() -> frozenset[str]:
    """Return the legal forms that are other words without their signs."""
    return words("companies/signed_legal_forms.txt")


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
def _grammars_by_edge() -> tuple[dict[str, list[_Grammar]], dict[str, list[_Grammar]]]:
    """Return the grammars of the spelt-out forms with each first word and with each word that may be last."""
    by_edge: tuple[dict[str, list[_Grammar]], dict[str, list[_Grammar]]] = ({}, {})
    for _language, lists in entries("companies/legal_form_grammar.txt"):
        first, deciding, joining = (frozenset(name_key(text).split()) for text in lists)
        grammar = _Grammar(first, deciding, first | deciding | joining)
        for edge, start in zip(by_edge, (first, deciding), strict=True):
            for word in start:
                edge.setdefault(word, []).append(grammar)
    return by_edge


@cache
def _unspaced_form() -> re.Pattern[str]:
    """Return the pattern of the legal forms that are written without spaces."""
    forms = filter(_UNSPACED.match, _forms())
    return re.compile("|".join(sorted(map(re.escape, forms), key=len, reverse=True)))


@cache
def _leading_forms() -> frozenset[str]:
    """Return the forms of one ASCII word that are written before the name; others may belong to it."""
    return words("companies/leading_legal_forms.txt")


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
