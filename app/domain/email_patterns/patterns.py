"""E-mail patterns: the form of a company's addresses, and the addresses it generates for a name.

The prior probability of a form is its share among companies (`SHARES`), with the weight of two addresses
(additive smoothing: the posterior mean under a Dirichlet prior, of which Laplace's rule of succession is the
flat case). One address of the most common form gives a confidence of 0.63, three give 0.78 and ten 0.91, so a
small sample never yields a high confidence. The spelling of umlauts, hyphens, particles and second surnames
is learned in the same way, from the addresses that show it (`app.domain.email_patterns.spelling`).

The shares are estimates, not measurements: public guides say that at least half of the companies use
`{first}.{last}`, and most others `{f}{last}` or `{first}`. 0.04 is reserved for addresses of no known form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from app.domain.email_patterns.spelling import fill, odds, weight
from app.domain.normal.names import PersonName, given_names, spellings

SHARES = {
    "{first}.{last}": 0.45,
    "{f}{last}": 0.18,
    "{first}": 0.12,
    "{first}{last}": 0.05,
    "{f}.{last}": 0.04,
    "{first}_{last}": 0.02,
    "{first}-{last}": 0.01,
    "{last}": 0.02,
    "{last}.{first}": 0.01,
    "{first}{l}": 0.02,
    "{first}.{l}": 0.01,
    "{last}{f}": 0.01,
    "{last}{first}": 0.005,
    "{last}.{f}": 0.002,
    "{last}_{first}": 0.002,
    "{last}-{first}": 0.001,
    "{f}_{last}": 0.003,
    "{f}-{last}": 0.001,
    "{l}{first}": 0.002,
    "{l}.{first}": 0.001,
    "{f}{l}": 0.003,
}
"""The share of companies that use each form."""
FORMS: tuple[str, ...] = tuple(SHARES)
"""The forms in order of precedence: an address that matches two forms counts for the first."""
_USES = tuple((form, "{f" in form, "{l" in form) for form in FORMS)
"""Each form, and whether it contains the given name or its initial, and the family name or its initial."""
PRIOR_ADDRESSES = 2
"""The weight of the prior `SHARES`, in addresses."""
MAX_SPELLINGS = 12

_NUMBER_OR_TAG = re.compile(r"[0-9]+$|\+.*$")


@dataclass(frozen=True, slots=True)
class PatternStat:
    """The number of verified addresses of a domain that follow a form.

    The form is a value of `form_of`, including the spelling habits that the addresses show, if any.
    """

    form: str
    count: int


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
    """The number of a domain's addresses per form, per habit, and in total."""

    forms: Mapping[str, int]
    habits: Mapping[str, int]
    total: int


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

    It is for given and family names of one word, and for addresses without numbers and nicknames.
    """
    local = email.rpartition("@")[0]
    firsts, lasts = spellings(name.first), spellings(name.last)
    words = (firsts[0], lasts[0], firsts[-1], lasts[-1])
    letters = "".join(words)
    is_simple = all(words) and letters.isascii() and letters.isalpha()
    if not is_simple or local[:1] not in {word[0] for word in words}:
        return None
    for form, uses_first, uses_last in _USES:
        is_plain = _filled(form, firsts[0], lasts[0]) == local
        if (uses_first and len(firsts) > 1) or (uses_last and len(lasts) > 1):
            is_expanded = _filled(form, firsts[-1], lasts[-1]) == local
            if is_plain is not is_expanded:
                return f"{form} umlauts:{'plain' if is_plain else 'expanded'}"
        if is_plain:
            return form
    return None


def render(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Return the addresses of a name in a form, the likeliest spelling first.

    The result is empty for an unknown form and for a name that is not in Latin script.
    """
    return tuple(f"{local}@{domain}" for local in _shared_out(form, name, odds({}, domain)))


def learn(counts: Iterable[PatternStat]) -> LearnedPattern | None:
    """Return the usual form of a domain; None if no address follows a known form.

    Addresses of a form that is not in `FORMS` count in the sample and so lower the confidence of the others.
    """
    tally = _tally(counts)
    if not tally.forms:
        return None
    best = max(tally.forms, key=lambda form: _likelihood(tally, form))
    return LearnedPattern(best, round(_likelihood(tally, best), 4), tally.total)


def candidates(name: PersonName, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Return guesses of a person's address, best first, from the forms of the domain's known addresses.

    Without a known address, the guesses follow `SHARES`. The confidence of each form is divided among its
    spellings, so the confidences of all guesses add up to less than 1.
    """
    tally = _tally(counts)
    habit_odds = odds(tally.habits, domain)
    best: dict[str, Guess] = {}
    for form in FORMS:
        for local, share in _shared_out(form, name, habit_odds).items():
            email = f"{local}@{domain}"
            before = best.get(email)
            guess = before if before and before.form in tally.forms else Guess(email, form, 0)
            confidence = _likelihood(tally, form) * share + (before.confidence if before else 0)
            best[email] = replace(guess, confidence=confidence)
    guesses = (replace(guess, confidence=round(guess.confidence, 4)) for guess in best.values())
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence))


def _filled(form: str, first: str, last: str) -> str:
    return form.format(first=first, f=first[0], last=last, l=last[0])


def _tally(counts: Iterable[PatternStat]) -> _Tally:
    """Count the addresses per known form, per habit, and in total."""
    forms: dict[str, int] = {}
    habits: dict[str, int] = {}
    total = 0
    for stat in counts:
        form, _, shown = stat.form.partition(" ")
        total += max(stat.count, 0)
        if form in SHARES and stat.count > 0:
            forms[form] = forms.get(form, 0) + stat.count
            habits |= {habit: habits.get(habit, 0) + stat.count for habit in shown.split()}
    return _Tally(forms, habits, total)


def _likelihood(tally: _Tally, form: str) -> float:
    return (tally.forms.get(form, 0) + PRIOR_ADDRESSES * SHARES[form]) / (tally.total + PRIOR_ADDRESSES)


def _matched(form: str, name: PersonName, local: str) -> str | None:
    """Return the form with the habits common to all spellings that match; None if none matches."""
    habit_sets = [habits for spelled, habits in fill(form, name) if spelled == local]
    return " ".join((form, *sorted(frozenset.intersection(*habit_sets)))) if habit_sets else None


def _shared_out(form: str, name: PersonName, habit_odds: Mapping[str, float]) -> dict[str, float]:
    """Return the spellings of a name in the form, likeliest first, with shares that add up to at most 1."""
    shares: dict[str, float] = {}
    for spelled, habits in fill(form, name) if form in SHARES else ():
        shares[spelled] = shares.get(spelled, 0) + weight(habits, habit_odds)
    total = sum(shares.values())
    best = sorted(shares.items(), key=lambda item: -item[1])[:MAX_SPELLINGS]
    return {spelled: share / total for spelled, share in best}
