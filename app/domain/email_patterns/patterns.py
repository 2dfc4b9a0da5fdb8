"""E-mail patterns: the form of a company's addresses, and the addresses it generates for a name.

The probability of a form comes from the company's known addresses and from measured companies
(`app.domain.email_patterns.company_forms`). The spelling of umlauts, hyphens, particles, middle names and
second surnames is learned from the addresses that show it (`app.domain.email_patterns.spelling`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from app.domain.email_patterns.company_forms import FORMS, OTHER, FormModel, measured_model
from app.domain.email_patterns.spelling import (
    MAX_LOGIN,
    SHORTENED_FORM,
    fill,
    middle_names,
    odds,
    weight,
)
from app.domain.normal.names.name_keys import spellings
from app.domain.normal.names.name_lexicon import is_initials
from app.domain.normal.names.name_order import may_be_family_first
from app.domain.normal.names.names import PersonName
from app.domain.normal.names.nicknames import given_names

_USES = tuple((form, "{f" in form, "{l" in form) for form in FORMS)
"""Each form, and whether it contains the given name or its initial, and the family name or its initial."""
MAX_SPELLINGS = 12

_NUMBER_OR_TAG = re.compile(r"[0-9]+$|\+.*$")


@dataclass(frozen=True, slots=True)
class PatternStat:
    """The number of verified addresses of a domain that follow a form.

    The form is a value of `form_of`, including the spelling habits that the addresses show, or `OTHER`. The
    `domain` is empty if it is the website's.
    """

    form: str
    count: int
    domain: str = ""


@dataclass(frozen=True, slots=True)
class LearnedPattern:
    """A domain's usual form; `confidence` is 0 to 1, `sample_size` the number of addresses it is based on."""

    pattern: str
    confidence: float
    sample_size: int


@dataclass(frozen=True, slots=True)
class Guess:
    """An unverified address; `confidence` is 0 to 1."""

    email: str
    form: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Tally:
    """The number of a domain's addresses per form or `OTHER`, and per habit."""

    forms: Mapping[str, int]
    habits: Mapping[str, int]


def form_of(email: str, name: PersonName) -> str | None:
    """Return the most common form that generates this address from the name or one of its nicknames.

    The result includes the habits that the address shows, as in `{f}{last} particles:joined umlauts:plain`.
    A trailing number, which distinguishes people of the same name, and a `+tag` are ignored.
    """
    local = _NUMBER_OR_TAG.sub("", email.rpartition("@")[0])
    nicknames = (other for other in sorted(given_names(name.first)) if other in local)
    known_as = chain((name,), (replace(name, first=other) for other in nicknames))
    matches = (_matched(form, candidate, local) for candidate in known_as for form in FORMS)
    return next(filter(None, matches), None)


def simple_form_of(email: str, name: PersonName) -> str | None:
    """Return what `form_of` returns, at a tenth of its cost, for most names and addresses; None for others.

    It is for given and family names of one word without middle names and initials, and for addresses that
    are not shortened and have no numbers and nicknames.
    """
    local = email.rpartition("@")[0]
    firsts, lasts = spellings(name.first), spellings(name.last)
    words = (firsts[0], lasts[0], firsts[-1], lasts[-1])
    letters = "".join(words)
    is_simple = all(words) and letters.isascii() and letters.isalpha() and not middle_names(name)
    if not is_simple or is_initials(name.first) or local[:1] not in {word[0] for word in words}:
        return None
    for form, uses_first, uses_last in _USES:
        is_plain = _filled(form, firsts[0], lasts[0]) == local
        if form == SHORTENED_FORM and len(lasts[-1]) >= MAX_LOGIN and local[1:2] == lasts[0][0]:
            return None
        if (uses_first and len(firsts) > 1) or (uses_last and len(lasts) > 1):
            is_expanded = _filled(form, firsts[-1], lasts[-1]) == local
            if is_plain is not is_expanded:
                return f"{form} umlauts:{'plain' if is_plain else 'expanded'}"
        if is_plain:
            return form
    return None


def learn(counts: Iterable[PatternStat]) -> LearnedPattern | None:
    """Return the usual form of a domain; None if no address follows a known form.

    Addresses of a form that is not in `FORMS` count in the sample and so lower the confidence of the others.
    """
    known = _tally(counts).forms
    used = [form for form in FORMS if form in known]
    if not used:
        return None
    probabilities = measured_model().probabilities(known)
    best = max(used, key=probabilities.__getitem__)
    return LearnedPattern(best, round(probabilities[best], 4), sum(known.values()))


def candidates(
    name: PersonName, domain: str, counts: Iterable[PatternStat], model: FormModel | None = None
) -> tuple[Guess, ...]:
    """Return guesses of a person's address, best first, from the forms of the domain's known addresses.

    The confidence of each form is divided among its spellings, so the confidences of all guesses add up to
    less than 1. `model` replaces the one of all measured companies, to predict one of these from the others.
    There is none for a family name of one letter, which is an initial (Ada L.), and for a name of which it is
    not known which part is the family name (Lim Kok Thay).
    """
    if is_initials(name.last) or may_be_family_first(name.first, name.full):
        return ()
    tally = _tally(counts)
    habit_odds = odds(tally.habits, domain)
    probabilities = (model or measured_model()).probabilities(tally.forms)
    best: dict[str, Guess] = {}
    for form in FORMS:
        for local, share in spelling_shares(form, name, habit_odds).items():
            email = f"{local}@{domain}"
            before = best.get(email)
            guess = before if before and before.form in tally.forms else Guess(email, form, 0)
            confidence = probabilities[form] * share + (before.confidence if before else 0)
            best[email] = replace(guess, confidence=confidence)
    guesses = (replace(guess, confidence=round(guess.confidence, 4)) for guess in best.values())
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence))


def spelling_shares(form: str, name: PersonName, habit_odds: Mapping[str, float]) -> dict[str, float]:
    """Return the spellings of a name in the form, likeliest first, with shares that add up to at most 1."""
    shares: dict[str, float] = {}
    for spelled, habits in fill(form, name) if form in FORMS else ():
        shares[spelled] = shares.get(spelled, 0) + weight(habits, habit_odds)
    total = sum(shares.values())
    best = sorted(shares.items(), key=lambda item: -item[1])[:MAX_SPELLINGS]
    return {spelled: share / total for spelled, share in best}


def _filled(form: str, first: str, last: str) -> str:
    return form.format(first=first, f=first[0], last=last, l=last[0])


def _tally(counts: Iterable[PatternStat]) -> _Tally:
    """Count the addresses per form or `OTHER`, and per habit."""
    forms: dict[str, int] = {}
    habits: dict[str, int] = {}
    for stat in counts:
        form, _, shown = stat.form.partition(" ")
        form = form if form in FORMS else OTHER
        if stat.count > 0:
            forms[form] = forms.get(form, 0) + stat.count
        if stat.count > 0 and form != OTHER:
            habits |= {habit: habits.get(habit, 0) + stat.count for habit in shown.split()}
    return _Tally(forms, habits)


def _matched(form: str, name: PersonName, local: str) -> str | None:
    """Return the form with the habits common to all spellings that match; None if none matches."""
    habit_sets = [habits for spelled, habits in fill(form, name) if spelled == local]
    return " ".join((form, *sorted(frozenset.intersection(*habit_sets)))) if habit_sets else None
