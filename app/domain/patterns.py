"""E-mail patterns: which form a company's addresses follow, and what that makes of a name.

Before any address is known a form is as likely as it is common (`FORMS`); that counts for two addresses
beside those that were seen (additive smoothing; the posterior mean under a Dirichlet prior, of which
Laplace's rule of succession is the flat case). One address of the commonest form makes 0.63, three 0.78, ten
0.91, so that a small sample never sounds sure.

The shares are chosen, not measured: public guides say that half of the companies or more write
`{first}.{last}`, and most others `{f}{last}` or `{first}`; 0.04 is left for what no form explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from app.domain.names import PersonName, given_names, spellings
from app.domain.wordlists import words

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
NEXT_SPELLING = 0.4
"""How likely each further spelling of a name is, beside the one before."""
MOST_SPELLINGS = 12

_PARTICLES = words("particles.txt")
# Outside the German-speaking countries and Denmark, an umlaut loses its dots rather than gains an e.
_PLAIN_COUNTRIES = re.compile(r"\.(?!de$|at$|ch$|li$|lu$|dk$|eu$)[a-z]{2}$")
_NUMBER_OR_TAG = re.compile(r"[0-9]+$|\+.*$")


@dataclass(frozen=True, slots=True)
class PatternStat:
    """How many verified addresses of a domain follow a form."""

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


def form_of(email: str, name: PersonName) -> str | None:
    """Give the likeliest form that makes this address of the name, or of what its bearer is called.

    A number at the end, as the second of a name gets, and a `+tag` are left out of account.
    """
    local, _, domain = email.rpartition("@")
    local = _NUMBER_OR_TAG.sub("", local)
    known_as = (
        name,
        *(replace(name, first=other) for other in sorted(given_names(name.first)) if other in local),
    )
    return next((form for one in known_as for form in FORMS if local in _locals(form, one, domain)), None)


def render(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Write the addresses that a form makes of a name, likeliest spelling first; none of one not in Latin."""
    return tuple(f"{local}@{domain}" for local in _locals(form, name, domain))


def learn(counts: Iterable[PatternStat]) -> LearnedPattern | None:
    """Find the usual form of a domain; None if no address follows a form.

    Addresses of a form that is not in `FORMS` count in the sample, as they speak against the others.
    """
    seen, total = _tally(counts)
    if not seen:
        return None
    best = max(seen, key=lambda form: _likelihood(seen[form], total, form))
    return LearnedPattern(best, round(_likelihood(seen[best], total, best), 4), total)


def candidates(name: PersonName, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Guess a person's address, best first, from the forms of the domain's known addresses.

    Without any known address the guesses are those of `SHARES`. The confidences of all guesses together
    stay below 1: each form's is shared out among its spellings.
    """
    seen, total = _tally(counts)
    best: dict[str, Guess] = {}
    for form in FORMS:
        emails = render(form, name, domain)
        weights = [NEXT_SPELLING**place for place in range(len(emails))]
        for email, weight in zip(emails, weights, strict=True):
            sure = _likelihood(seen.get(form, 0), total, form) * weight / sum(weights)
            before = best.get(email)
            known = before if before and before.form in seen else Guess(email, form, 0)
            best[email] = replace(known, confidence=sure + (before.confidence if before else 0))
    guesses = (replace(guess, confidence=round(guess.confidence, 4)) for guess in best.values())
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence))


def _tally(counts: Iterable[PatternStat]) -> tuple[dict[str, int], int]:
    """Add up the addresses of each known form, and all of them."""
    seen: dict[str, int] = {}
    total = 0
    for stat in counts:
        total += max(stat.count, 0)
        if stat.form in SHARES and stat.count > 0:
            seen[stat.form] = seen.get(stat.form, 0) + stat.count
    return seen, total


def _likelihood(count: int, total: int, form: str) -> float:
    return (count + PRIOR_ADDRESSES * SHARES[form]) / (total + PRIOR_ADDRESSES)


def _locals(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Fill the form with every way mail systems spell the name; an unknown form makes nothing."""
    if form not in SHARES:
        return ()
    styles = (False, True) if _PLAIN_COUNTRIES.search(domain) else (True, False)
    made: list[str] = []
    for expanded in styles:
        firsts = _firsts(name.first, expanded) if "{f" in form else ("",)
        lasts = _lasts(name.last, expanded) if "{l" in form else ("",)
        made += [form.format(first=a, last=b, f=a[:1], l=b[:1]) for a, b in _likeliest(firsts, lasts)]
    return tuple(dict.fromkeys(made))[:MOST_SPELLINGS]


def _likeliest(firsts: tuple[str, ...], lasts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Pair likely with likely first: by the sum of their places in the two lists."""
    for distance in range(len(firsts) + len(lasts) - 1):
        for place, first in enumerate(firsts):
            if 0 <= distance - place < len(lasts):
                yield first, lasts[distance - place]


@lru_cache(maxsize=8192)
def _firsts(first: str, expanded: bool) -> tuple[str, ...]:  # noqa: FBT001 -- part of the cache's key
    """Spell a given name: hyphenated if it is written so, joined, the first of several."""
    parts = _latin(first, expanded=expanded)
    made = [*(["-".join(parts)] if "-" in first else []), "".join(parts), *parts[:1]]
    return tuple(filter(None, dict.fromkeys(made)))


@lru_cache(maxsize=8192)
def _lasts(last: str, expanded: bool) -> tuple[str, ...]:  # noqa: FBT001 -- part of the cache's key
    """Spell a family name: of two the first, or joined; particles joined, or left out."""
    parts = _latin(last, expanded=expanded)
    core = [part for part in parts if part not in _PARTICLES] or parts or [""]
    joined, hyphened, dotted = "".join(parts), "-".join(parts), ".".join(parts)
    if "-" in last:
        made = [hyphened, joined, core[0], core[-1]]
    elif len(core) > 1:
        made = [core[0], joined, hyphened, core[-1], dotted]
    else:
        made = [joined, core[0], hyphened, dotted]
    return tuple(filter(None, dict.fromkeys(made)))


def _latin(text: str, *, expanded: bool) -> list[str]:
    """Give the words of a Latin name as addresses have them, ü written as ue or as u."""
    key = spellings(text)[-1 if expanded else 0]
    return key.split() if key.isascii() else []
