"""E-mail patterns: which form a company's addresses follow, and what that makes of a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.names import PersonName, name_key, spellings

FORMS = (
    "{first}.{last}",
    "{f}{last}",
    "{first}",
    "{first}{last}",
    "{f}.{last}",
    "{first}_{last}",
    "{first}-{last}",
    "{last}",
    "{last}.{first}",
    "{first}{l}",
    "{first}.{l}",
    "{last}{f}",
    "{last}{first}",
    "{last}.{f}",
    "{last}_{first}",
    "{last}-{first}",
    "{f}_{last}",
    "{f}-{last}",
    "{l}{first}",
    "{l}.{first}",
    "{f}{l}",
)
"""Likeliest first: an address that two forms explain counts for the first of them."""

PARTICLES = frozenset(
    [
        "af",
        "al",
        "av",
        "bin",
        "d",
        "da",
        "das",
        "de",
        "dei",
        "del",
        "della",
        "den",
        "der",
        "di",
        "do",
        "dos",
        "du",
        "el",
        "la",
        "las",
        "le",
        "les",
        "lo",
        "los",
        "of",
        "san",
        "st",
        "ten",
        "ter",
        "van",
        "ver",
        "vom",
        "von",
        "zu",
        "zum",
        "zur",
        "y",
        "e",
    ]
)
MOST_SPELLINGS = 12
SPELLING_SHARE = 0.6
"""How much of a form's likelihood each further way to spell the name keeps."""


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
    """Give the likeliest form that makes this address of the name; None if none does."""
    local = email.rpartition("@")[0]
    for form in FORMS:
        if local in _locals(form, name):
            return form
    return None


def render(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Write the addresses that a form makes of a name, likeliest spelling first."""
    return tuple(f"{local}@{domain}" for local in _locals(form, name))


def learn(counts: Iterable[PatternStat]) -> LearnedPattern | None:
    """Find the usual form of a domain.

    The confidence is Laplace's rule of succession, (n + 1) / (N + 2), for n of N addresses: one address
    makes 0.67, three alike 0.8, ten alike 0.92.
    """
    ranked = _ranked(counts)
    if not ranked:
        return None
    total = sum(stat.count for stat in ranked)
    return LearnedPattern(ranked[0].form, _likelihood(ranked[0].count, total), total)


def candidates(name: PersonName, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Guess a person's address from the forms that the domain's known addresses follow, best first."""
    ranked = _ranked(counts)
    total = sum(stat.count for stat in ranked)
    best: dict[str, Guess] = {}
    for stat in ranked:
        for step, email in enumerate(render(stat.form, name, domain)):
            confidence = round(_likelihood(stat.count, total) * SPELLING_SHARE**step, 4)
            if email not in best or best[email].confidence < confidence:
                best[email] = Guess(email, stat.form, confidence)
    return tuple(sorted(best.values(), key=lambda guess: (-guess.confidence, guess.email)))


def _ranked(counts: Iterable[PatternStat]) -> list[PatternStat]:
    known = [stat for stat in counts if stat.count > 0 and stat.form in FORMS]
    return sorted(known, key=lambda stat: (-stat.count, FORMS.index(stat.form)))


def _likelihood(count: int, total: int) -> float:
    return round((count + 1) / (total + 2), 4)


def _locals(form: str, name: PersonName) -> tuple[str, ...]:
    """Fill the form with every way mail systems spell the name."""
    firsts = _firsts(name.first) if "{f" in form else ("",)
    lasts = _lasts(name.last) if "{l" in form else ("",)
    if not firsts or not lasts:
        return ()
    made = [
        form.format(first=first, last=last, f=first[:1], l=last[:1])
        for distance in range(len(firsts) + len(lasts) - 1)
        for first, last in _at(firsts, lasts, distance)
    ]
    return tuple(dict.fromkeys(local for local in made if local.isascii()))[:MOST_SPELLINGS]


def _at(firsts: Sequence[str], lasts: Sequence[str], distance: int) -> list[tuple[str, str]]:
    """Give the pairs whose places in the two lists add up to the distance: likely with likely first."""
    return [
        (first, lasts[distance - place])
        for place, first in enumerate(firsts)
        if 0 <= distance - place < len(lasts)
    ]


def _firsts(first: str) -> tuple[str, ...]:
    """Spell a given name: joined, hyphenated if it is written so, the first of several."""
    made: list[str] = []
    for key in _latin(first):
        words = key.split()
        made += ["-".join(words)] if "-" in first else []
        made += ["".join(words), words[0]]
    return tuple(dict.fromkeys(made))


def _lasts(last: str) -> tuple[str, ...]:
    """Spell a family name: joined, hyphenated, without its particles, one of two."""
    made: list[str] = []
    for key in _latin(last):
        words = key.split()
        core = [word for word in words if word not in PARTICLES] or words
        made += ["-".join(words)] if "-" in last else []
        made += ["".join(words), "-".join(words), "".join(core), core[0], core[-1], ".".join(words)]
    return tuple(dict.fromkeys(made))


def _latin(text: str) -> tuple[str, ...]:
    """Give the keys of a name that can stand in an address: ü as ue first, as German mail systems do."""
    keys = (name_key(text.lower()), *spellings(text))
    return tuple(dict.fromkeys(key for key in reversed(keys) if key and key.isascii()))
