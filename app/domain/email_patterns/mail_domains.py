"""Guesses of a person's address at the domains where a company's people have theirs.

One person in eight has an address at a subdomain of the website, or at another domain. A domain is as likely
as its share of the company's known addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.domain.email_patterns.patterns import Guess, PatternStat, candidates
from app.domain.normal.companies.company_domains import is_named_after
from app.domain.normal.names.names import PersonName

WEBSITE = 0.3
"""The weight of the website's domain before any address is known, in addresses."""
MIN_SHARE = 0.05
"""A domain with a smaller share of the addresses is not guessed at."""
UNRELATED = 2
"""So many addresses show that a domain is the company's, if it does not resemble the website's."""
ONE_UNRELATED = 0.5
"""The weight of one such address if none at the website is known; it may be of an earlier employer."""
OWN = 3
"""From so many addresses on, the forms of a domain are its own; before, the forms of all domains count."""


def guesses(name: PersonName, website: str | None, counts: Sequence[PatternStat]) -> tuple[Guess, ...]:
    """Return guesses of a person's address at all domains of the company, best first.

    `counts` are the forms at each domain. The confidence of a domain's guesses is multiplied by its share.
    """
    found = [
        replace(guess, confidence=round(guess.confidence * share, 4))
        for domain, share in shares(website, counts).items()
        for guess in candidates(name, domain, _forms_at(domain, website, counts))
    ]
    return tuple(sorted(found, key=lambda guess: -guess.confidence))


def shares(website: str | None, counts: Sequence[PatternStat]) -> dict[str, float]:
    """Return the probability of each mail domain of a company, without those that few people use."""
    known: Counter[str] = Counter()
    for stat in counts:
        known[_domain(stat, website)] += stat.count
    at_website = known[website or ""]
    weights = {domain: _weight(domain, website, count, at_website) for domain, count in known.items()}
    if website:
        weights[website] = at_website + WEBSITE
    total = sum(weights.values())
    return {domain: weight / total for domain, weight in weights.items() if weight > MIN_SHARE * total}


def _weight(domain: str, website: str | None, count: int, at_website: int) -> float:
    """Return the weight of a domain at which so many addresses are known, in addresses."""
    if not domain:
        return 0
    label = website.partition(".")[0] if website else ""
    if count >= UNRELATED or (website and (domain.endswith(f".{website}") or is_named_after(domain, label))):
        return count
    return ONE_UNRELATED if website and not at_website else 0


def _forms_at(domain: str, website: str | None, counts: Sequence[PatternStat]) -> Sequence[PatternStat]:
    own = [stat for stat in counts if _domain(stat, website) == domain]
    return own if sum(stat.count for stat in own) >= OWN else counts


def _domain(stat: PatternStat, website: str | None) -> str:
    return stat.domain or website or ""
