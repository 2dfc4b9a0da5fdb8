"""Spellings of names in e-mail addresses, and the spelling habits of companies.

A habit is one of several ways to spell a part of a name, written `surnames:joined`. The parts of a name
determine which habits apply: only a name with two surnames shows how a company spells two surnames.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import prod

from app.domain.normal.names.name_keys import spellings, without_nickname
from app.domain.normal.names.name_lexicon import is_initials
from app.domain.normal.names.names import PersonName
from app.domain.normal.texts.wordlists import words

HABITS = {
    "umlauts": ("expanded", "plain"),
    "given": ("hyphened", "joined", "first"),
    "initials": ("first", "all"),
    "hyphens": ("kept", "joined", "first", "last"),
    "surnames": ("first", "joined", "hyphened", "last", "dotted"),
    "particles": ("joined", "dropped", "hyphened", "dotted"),
    "middle": ("dropped", "initial", "whole", "joined"),
    "length": ("whole", "shortened"),
}
"""The habits per part, the most common first; `_usual` changes the order for some countries."""
SHORTENED_FORM = "{f}{last}"
MAX_LOGIN = 8
"""Where addresses are login names, names of this form may have at most eight characters: `nsamsono`.

Unix systems had this limit (`useradd(8)`), and companies kept the names.
"""
NEXT_HABIT = 0.4
"""The prior probability of each habit relative to the one before it."""
PRIOR_NAMES = 1
"""The weight of the prior, in names. It is low: spelling varies less within a company than the form."""

_PARTICLES = words("names/particles.txt")
_HYPHENS = re.compile("[-\u2010\u2011]")
# Outside the German-speaking countries and Denmark, ü is usually written u, not ue.
_PLAIN_COUNTRIES = re.compile(r"\.(?!de$|at$|ch$|li$|lu$|dk$|eu$)[a-z]{2}$")
# The father's surname, which people use alone, comes last in Portuguese and first in Spanish.
_LAST_SURNAME_COUNTRIES = re.compile(r"\.(?:ao|br|mz|pt)$")

_PLACEHOLDERS = re.compile(r"\{\w+\}")

Spelled = tuple[str, frozenset[str]]
"""The spelling of a name or a part of it in an address, and the habits that it shows."""


def odds(seen: Mapping[str, int], domain: str) -> dict[str, float]:
    """Return the probability of each habit at a domain; `seen` counts the addresses that show each habit."""
    result: dict[str, float] = {}
    for part, choices in HABITS.items():
        weights = {choice: NEXT_HABIT**rank for rank, choice in enumerate(_usual(part, choices, domain))}
        total = sum(seen.get(f"{part}:{choice}", 0) for choice in choices)
        for choice in choices:
            prior = PRIOR_NAMES * weights[choice] / sum(weights.values())
            count = seen.get(f"{part}:{choice}", 0)
            result[f"{part}:{choice}"] = (count + prior) / (total + PRIOR_NAMES)
    return result


def weight(habits: frozenset[str], habit_odds: Mapping[str, float]) -> float:
    """Return the joint probability of the habits; `habit_odds` is the result of `odds`."""
    return prod(habit_odds[habit] for habit in habits)


def fill(form: str, name: PersonName) -> Iterator[Spelled]:
    """Yield every spelling of the name in a form such as `{f}{last}`; none if it is not in Latin script.

    Initials are no given name: A. Lovelace has spellings in `{f}{last}` and none in `{first}{last}`.
    """
    if "{first}" in form and is_initials(name.first):
        return
    parts = _parts(form)
    umlauts = any(len(spellings(getattr(name, part))) > 1 for part in parts)
    middles = middle_names(name) if "{l" in form else ()
    for style in HABITS["umlauts"] if umlauts else ("plain",):
        expanded = style == "expanded"
        shown = frozenset({f"umlauts:{style}"} if umlauts else ())
        firsts = _firsts(form, name.first, middles, expanded=expanded)
        lasts = _family(name.last, expanded) if "last" in parts else (("", frozenset()),)
        for (first, habits), (last, others) in product(firsts, lasts):
            if ("first" in parts and not first) or ("last" in parts and not last):
                continue
            text = form.format(first=first, f=first, last=last, l=last[:1])
            for final, length in _shortened(form, text):
                yield final, shown | habits | others | length


def middle_names(name: PersonName) -> tuple[str, ...]:
    """Return the words of the full name between given and family name, as in Rafael J. Wysocki."""
    if name.full.count(" ") < 2:  # noqa: PLR2004 -- between three words
        return ()
    words = without_nickname(name.full).split()
    before, after = len(name.first.split()), len(name.last.split())
    is_in_order = words[:before] == name.first.split() and words[len(words) - after :] == name.last.split()
    return tuple(words[before : len(words) - after]) if before and after and is_in_order else ()


def _shortened(form: str, text: str) -> tuple[Spelled, ...]:
    """Return the text of a filled form, and if it is too long for a login name also the shortened one."""
    if form != SHORTENED_FORM or len(text) <= MAX_LOGIN:
        return ((text, frozenset()),)
    return (text, frozenset({"length:whole"})), (text[:MAX_LOGIN], frozenset({"length:shortened"}))


@lru_cache(maxsize=256)
def _parts(form: str) -> frozenset[str]:
    """Return which of first and last name the form uses, or their initials."""
    return frozenset(part for part in ("first", "last") if f"{{{part}}}" in form or f"{{{part[0]}}}" in form)


def _usual(part: str, choices: tuple[str, ...], domain: str) -> tuple[str, ...]:
    """Return the habits with the most common one of the domain's country first."""
    if part == "umlauts" and _PLAIN_COUNTRIES.search(domain):
        return choices[::-1]
    if part == "surnames" and _LAST_SURNAME_COUNTRIES.search(domain):
        return ("last", "first", "joined", "hyphened", "dotted")
    return choices


def _firsts(form: str, first: str, middles: tuple[str, ...], *, expanded: bool) -> tuple[Spelled, ...]:
    """Return the spellings of the given name or initial that the form uses, with the middle names."""
    if "{first}" in form:
        return _with_middle(form, _given(first, expanded), middles, expanded=expanded)
    if "{f}" in form:
        return _with_middle(form, _initials(first, expanded), middles, expanded=expanded)
    return (("", frozenset()),)


def _with_middle(
    form: str, firsts: tuple[Spelled, ...], middles: tuple[str, ...], *, expanded: bool
) -> tuple[Spelled, ...]:
    """Append the middle names by every habit; to an initial of the given name, only their initials."""
    pieces = ["".join(_pieces(middle, expanded=expanded)) for middle in middles]
    parts = [piece for piece in pieces if piece]
    if not parts:
        return firsts
    separator = _PLACEHOLDERS.sub("", form)
    added = {"dropped": "", "initial": separator.join(["", *(part[0] for part in parts)])}
    if "{first}" in form and any(len(part) > 1 for part in parts):
        added |= {"whole": separator.join(["", *parts]), "joined": "".join(parts)}
    return tuple(
        (first + more, habits | {f"middle:{habit}"})
        for (first, habits), (habit, more) in product(firsts, added.items())
    )


@lru_cache(maxsize=8192)
def _given(first: str, expanded: bool) -> tuple[Spelled, ...]:  # noqa: FBT001 -- part of the cache's key
    """Return the spellings of a given name: hyphenated if written so, joined, or its first part."""
    parts = [part for word in first.split() for part in _pieces(word, expanded=expanded)]
    if len(parts) < 2:  # noqa: PLR2004 -- one name
        return (("".join(parts), frozenset()),)
    variants = {"hyphened": "-".join(parts), "joined": "".join(parts), "first": parts[0]}
    if not _HYPHENS.search(first):
        del variants["hyphened"]
    return tuple((text, frozenset({f"given:{habit}"})) for habit, text in variants.items())


@lru_cache(maxsize=8192)
def _initials(first: str, expanded: bool) -> tuple[Spelled, ...]:  # noqa: FBT001 -- part of the cache's key
    """Return the initial of a given name; for a hyphenated name also both initials, as in jlpicard."""
    parts = _pieces(first.partition(" ")[0], expanded=expanded)
    first_initial = "".join(part[:1] for part in parts[:1])
    if len(parts) < 2:  # noqa: PLR2004 -- one name
        return ((first_initial, frozenset()),)
    all_initials = "".join(part[:1] for part in parts)
    return ((first_initial, frozenset({"initials:first"})), (all_initials, frozenset({"initials:all"})))


@lru_cache(maxsize=8192)
def _family(last: str, expanded: bool) -> tuple[Spelled, ...]:  # noqa: FBT001 -- part of the cache's key
    """Return the spellings of a family name by every habit that applies to it."""
    surnames = _surnames([_pieces(word, expanded=expanded) for word in last.split()])
    applies = {
        "hyphens": any(len(pieces) > 1 for _particles, pieces in surnames),
        "surnames": len(surnames) > 1,
        "particles": any(particles for particles, _pieces in surnames),
    }
    parts = [part for part, is_applicable in applies.items() if is_applicable]
    variants: list[Spelled] = []
    for choices in product(*(HABITS[part] for part in parts)):
        chosen = dict(zip(parts, choices, strict=True))
        habits = frozenset(f"{part}:{choice}" for part, choice in chosen.items())
        variants.append((_family_by(surnames, chosen), habits))
    return tuple(variants)


def _family_by(surnames: list[tuple[list[str], list[str]]], chosen: Mapping[str, str]) -> str:
    """Spell the surnames, each with its particles and hyphenated pieces, by one set of habits."""
    spelled: list[str] = []
    for particles, pieces in surnames:
        core = _choose(pieces, chosen.get("hyphens", "kept"))
        how = chosen.get("particles", "joined")
        spelled.append(core if how == "dropped" else _choose([*particles, core], how))
    return _choose(spelled, chosen.get("surnames", "first"))


def _choose(parts: list[str], how: str) -> str:
    if how in {"first", "last"}:
        return "".join(parts[:1] if how == "first" else parts[-1:])
    return {"kept": "-", "hyphened": "-", "dotted": "."}.get(how, "").join(parts)


def _surnames(family: list[list[str]]) -> list[tuple[list[str], list[str]]]:
    """Group particles with the surname they precede; a particle at the end counts as a surname."""
    found: list[tuple[list[str], list[str]]] = []
    particles: list[str] = []
    for pieces in filter(None, family):
        if len(pieces) == 1 and pieces[0] in _PARTICLES:
            particles += pieces
        else:
            found.append((particles, pieces))
            particles = []
    if particles:
        found.append((particles[:-1], particles[-1:]))
    return found


def _pieces(word: str, *, expanded: bool) -> list[str]:
    """Split a word at hyphens and transliterate it, ü as ue or u; return nothing if it is not Latin."""
    keys = [spellings(piece)[-1 if expanded else 0].replace(" ", "") for piece in _HYPHENS.split(word)]
    return [key for key in keys if key] if all(key.isascii() for key in keys) else []
