"""E-mail patterns: which form a company's addresses follow, and what that makes of a name.

Before any address is known a form is as likely as it is common (`FORMS`); that counts for two addresses
beside those that were seen (additive smoothing; the posterior mean under a Dirichlet prior, of which
Laplace's rule of succession is the flat case). One address of the commonest form makes 0.63, three 0.78, ten
0.91, so that a small sample never sounds sure. What a company makes of umlauts, hyphens, particles and second
surnames is learned in the same way, from the addresses that show it (`app.domain.email_patterns.spelling`).

The shares are chosen, not measured: public guides say that half of the companies or more write
`{first}.{last}`, and most others `{f}{last}` or `{first}`; 0.04 is left for what no form explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.domain.email_patterns.spelling import fill, odds, weight
from app.domain.normal.names import PersonName, given_names

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
"""How common each form is."""
FORMS: tuple[str, ...] = tuple(SHARES)
"""An address that two forms explain counts for the first of them."""
PRIOR_ADDRESSES = 2
"""How many seen addresses the knowledge of `SHARES` is worth."""
MAX_SPELLINGS = 12

_NUMBER_OR_TAG = re.compile(r"[0-9]+$|\+.*$")


@dataclass(frozen=True, slots=True)
class PatternStat:
    """How many verified addresses of a domain follow a form.

    The form is as `form_of` gives it, with the habits of spelling that those addresses show, if any.
    """

    form: str
    count: int


@dataclass(frozen=True, slots=True)
class LearnedPattern:
    """A domain's usual form; `confidence` 0 to 1, `sample_size` the addresses it was learned from."""

    pattern: str
    confidence: float
    sample_size: int


@dataclass(frozen=True, slots=True)
class Guess:
    """An address that nobody has verified; `confidence` 0 to 1."""

    email: str
    form: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Tally:
    """How many addresses of a domain there are of each form, of each habit, and in all."""

    forms: Mapping[str, int]
    habits: Mapping[str, int]
    total: int


def form_of(email: str, name: PersonName) -> str | None:
    """Give the likeliest form that makes this address of the name, or of what its bearer is called.

    With it come the habits that the address shows, as in `{f}{last} particles:joined umlauts:plain`. A
    number at the end, as the second of a name gets, and a `+tag` are left out of account.
    """
    local = _NUMBER_OR_TAG.sub("", email.rpartition("@")[0])
    known_as = (
        name,
        *(replace(name, first=other) for other in sorted(given_names(name.first)) if other in local),
    )
    return next((told for one in known_as for form in FORMS if (told := _told(form, one, local))), None)


def render(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Write the addresses that a form makes of a name, likeliest spelling first; none of one not in Latin.

    An unknown form makes nothing.
    """
    return tuple(f"{local}@{domain}" for local in _shared_out(form, name, odds({}, domain)))


def learn(counts: Iterable[PatternStat]) -> LearnedPattern | None:
    """Find the usual form of a domain; None if no address follows a form.

    Addresses of a form that is not in `FORMS` count in the sample, as they speak against the others.
    """
    tally = _tally(counts)
    if not tally.forms:
        return None
    best = max(tally.forms, key=lambda form: _likelihood(tally, form))
    return LearnedPattern(best, round(_likelihood(tally, best), 4), tally.total)


def candidates(name: PersonName, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Guess a person's address, best first, from the forms of the domain's known addresses.

    Without any known address the guesses are those of `SHARES`. The confidences of all guesses together
    stay below 1: each form's is shared out among its spellings.
    """
    tally = _tally(counts)
    likely = odds(tally.habits, domain)
    best: dict[str, Guess] = {}
    for form in FORMS:
        for local, share in _shared_out(form, name, likely).items():
            email = f"{local}@{domain}"
            before = best.get(email)
            known = before if before and before.form in tally.forms else Guess(email, form, 0)
            sure = _likelihood(tally, form) * share + (before.confidence if before else 0)
            best[email] = replace(known, confidence=sure)
    guesses = (replace(guess, confidence=round(guess.confidence, 4)) for guess in best.values())
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence))


def _tally(counts: Iterable[PatternStat]) -> _Tally:
    """Add up the addresses of each known form and habit, and all of them."""
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


def _told(form: str, name: PersonName, local: str) -> str | None:
    """Give the form and the habits that every way to this address shares; None if none leads there."""
    ways = [habits for spelled, habits in fill(form, name) if spelled == local]
    return " ".join((form, *sorted(frozenset.intersection(*ways)))) if ways else None


def _shared_out(form: str, name: PersonName, likely: Mapping[str, float]) -> dict[str, float]:
    """Give the spellings of a name in the form, likeliest first, each with its share; together at most 1."""
    shares: dict[str, float] = {}
    for spelled, habits in fill(form, name) if form in SHARES else ():
        shares[spelled] = shares.get(spelled, 0) + weight(habits, likely)
    whole = sum(shares.values())
    best = sorted(shares.items(), key=lambda item: -item[1])[:MAX_SPELLINGS]
    return {spelled: share / whole for spelled, share in best}
