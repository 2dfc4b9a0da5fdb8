"""How often the address of a person is guessed right, without and with the others of the site."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.email_patterns.company_forms import OTHER
from app.domain.email_patterns.mail_domains import guesses
from app.domain.email_patterns.patterns import PatternStat, form_of
from app.domain.errors import InvalidValue
from app.domain.normal.names.names import PersonName, parse_name
from benchmarks.website_people.labels import Pair


@dataclass(frozen=True, slots=True)
class Hits:
    """The people whose address is the first guess: with nothing known of the domain, and with the others."""

    people: float
    untaught: float
    taught: float


def measure(pairs: Iterable[Pair], least: int = 1, *, is_each_site_one: bool = False) -> Hits:
    """Hold each person back, learn the forms of the others of the site, and guess.

    Sites with fewer than `least` people are left out; one person teaches nothing. Each person counts
    once, or each site if `is_each_site_one`.
    """
    sites: defaultdict[str, list[tuple[PersonName, str]]] = defaultdict(list)
    for pair in pairs:
        try:
            sites[pair.domain].append((parse_name(pair.name), pair.email))
        except InvalidValue:
            continue
    people = untaught = taught = 0.0
    for domain, known in sites.items():
        for index, (name, email) in enumerate(known if len(known) >= least else ()):
            others = [*known[:index], *known[index + 1 :]]
            weight = 1 / len(known) if is_each_site_one else 1
            people += weight
            untaught += weight * (_first(name, domain, ()) == email)
            taught += weight * (_first(name, domain, _forms(others, domain)) == email)
    return Hits(people, untaught, taught)


def _forms(people: Iterable[tuple[PersonName, str]], website: str) -> list[PatternStat]:
    counts = Counter(
        (
            form_of(email, name) or OTHER,
            mail_domain if (mail_domain := email.partition("@")[2]) != website else "",
        )
        for name, email in people
    )
    return [PatternStat(form, count, domain) for (form, domain), count in counts.items()]


def _first(name: PersonName, domain: str, forms: Sequence[PatternStat]) -> str | None:
    found = guesses(name, domain, forms)
    return found[0].email if found else None
