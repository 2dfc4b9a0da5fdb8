"""How often the pattern provider's guesses are right, on addresses held back from it.

    PYTHONPATH=. python benchmarks/pattern_hits.py [companies] [seed]

The data are made up; nobody's address was used. A company has a country, from which come its people's names
and, four times in five, its domain; a form of address, drawn from FORMS below; a rule for each of accents,
hyphens, particles, second surnames and hyphened given names, drawn from RULES; and people whose addresses
follow these, except for one in ten (EXCEPTIONS): those have another form, a short name, a number, or a typing
error. FORMS and RULES are chosen as what is seen in practice, and the writing below is its own, not the
provider's; that a company keeps to its rules is an assumption, and what these figures stand on. They compare
ways of guessing with each other; the rate on real companies must be measured there.

Columns: `floor` always guesses {first}.{last}; `forms only` learns the form and no spelling; `first` and
`first three` are the provider's; `ceiling` knows the company's form and rules, so that its first guess misses
only exceptions (of three guesses, one may be right about an exception, too).
"""

from __future__ import annotations

import random
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from app.domain.email_patterns.patterns import Guess, PatternStat, candidates, form_of
from app.domain.normal.names import parse_name

COMPANIES = 300
SEED = 7
KNOWN = (0, 1, 3, 10)
HELD_BACK = 10
EXCEPTIONS = 0.1
FORMS = {
    "{first}.{last}": 48, "{f}{last}": 20, "{first}": 9, "{first}{last}": 5, "{f}.{last}": 5,
    "{first}_{last}": 3, "{last}": 2, "{last}.{first}": 2, "{first}{l}": 2, "{last}{f}": 2,
    "{first}-{last}": 1, "{first}.{l}": 1,
}  # fmt: skip
RULES: dict[str, dict[str, int]] = {
    "umlauts": {"plain": 50, "expanded": 50},  # where the country has a custom, 85 to 15
    "given": {"-": 45, "": 30, "first": 25},
    "hyphens": {"-": 65, "": 20, "first": 10, "last": 5},
    "surnames": {"first": 55, "": 20, "-": 8, "last": 12, ".": 5},
    "particles": {"": 65, "dropped": 18, "-": 7, ".": 10},
}
PARTICLES = frozenset(("van", "der", "den", "de", "von", "zu", "la", "del", "da", "dos", "di", "du", "le"))


class People(NamedTuple):
    """What names in a country are made of; `double` is how many have two surnames."""

    domain: str
    first: str
    last: str
    double: float = 0.0
    umlauts: str = ""


COUNTRIES = (
    People(
        "com",
        "James Mary Robert Patricia Michael Linda Emily Daniel Sarah Kevin Megan Brian Laura Jason Priya",
        "Smith Johnson Williams Brown Taylor O'Brien Davis Miller Wilson Moore Thomas Lee White Smith-Jones "
        "Parker-Bowles Harris Clark Nguyen Patel Walker Hall Young Allen Wright Scott Green Baker Adams",
    ),
    People(
        "de",
        "Jürgen Björn Käthe Anna Hans-Peter Karl-Heinz Sören Lukas Jörg Günther Sabine Anna-Lena Petra",
        "Müller Schröder Weiß Schäfer Koch Böhm|von der Heide|von Bülow Meyer-Landrut Müller-Wohlfahrt "
        "Fischer Weber Wagner Becker Jäger König Krüger Lang Köhler|zu Guttenberg Huber Vogel",
        umlauts="expanded",
    ),
    People(
        "fr",
        "Élodie François Jean-Luc Jean-Pierre Marie-Claire Zoé Hélène André Chloé Anne-Sophie Luc Noël",
        "Lefèvre Dupont Bélanger|de Villepin Martin Durand|du Pré Garçon Saint-Exupéry|Le Goff Béranger "
        "Girard-Perregaux Rousseau Fournier Lévy Mercier|de La Tour Perrin",
    ),
    People(
        "es",
        "José María Ana Íñigo Lucía Sofía Andrés Begoña Martín Álvaro Carmen Iván Nuria Javier Raúl",
        "García López Núñez Fernández Martínez Ibáñez González Pérez|de la Cruz Gómez Muñoz Ruiz Ortega Vega "
        "Castillo|del Río Serrano Molina Suárez Ramos Ortiz Peña",
        double=0.75,
    ),
    People(
        "com.br",
        "João Antônio Luísa Inês Conceição Gonçalo Tiago Beatriz Rafael Thaís Bruna Caio Letícia Paulo",
        "Silva Santos Oliveira|dos Santos|da Silva Souza Araújo Magalhães Gonçalves Costa|de Assis Lima "
        "Teixeira Rocha Almeida Carvalho Moreira",
        double=0.5,
    ),
    People(
        "nl",
        "Jan Pieter Sanne Anouk Daan Femke Joost Maartje Willem Lotte Bram Eline Ruben Noor",
        "Jansen|van Gogh|van den Berg|de Vries|van der Meer Bakker Visser Smit|de Boer Bos Vos|van Dijk "
        "Peters Hendriks Dekker-Smit Brouwer Kok",
    ),
    People(
        "se",
        "Göran Åsa Björn Märta Sören Linnéa Erik Anna-Karin Karl Lars-Åke Maja Håkan Elin Oskar",
        "Öberg Åkesson Lindström Sjögren Svensson Nilsson Bergström Hägg Nyström Lund Berg Ek Holm Söderberg "
        "Larsson-Friesen Gustafsson",
        umlauts="plain",
    ),
    People(
        "dk",
        "Søren Bjørn Kåre Mette Lærke Jens Anne-Mette Lars Rasmus Ida Jørgen Freja Niels Karen",
        "Sørensen Østergaard Møller Jensen Nielsen Kjær Ågård Holm Christensen Mørk Larsen Bøgh Skov Krogh",
        umlauts="expanded",
    ),
    People(
        "pl",
        "Łukasz Małgorzata Wojciech Zofia Paweł Agnieszka Michał Józef Kinga Tomasz Ewa Bożena",
        "Nowak Kowalski Wiśniewska Wójcik Szymańska Dąbrowski Zając Kamińska-Nowak Król Lis Wróbel Mazur "
        "Górski Pawłowska",
    ),
    People(
        "it",
        "Niccolò Giulia Marco Beatrice Luca Francesca Matteo Chiara Andrea Elisa Davide Paola",
        "Rossi Bianchi|De Luca|Di Stefano|Dell'Orto Conti Greco|De Rosa Ferrari Gallo Rizzo Moretti Fontana "
        "|della Valle Riva Costa",
    ),
)


@dataclass(frozen=True, slots=True)
class Person:
    """A made-up person: given names, surnames, and the address they have at work."""

    name: str
    given: str
    surnames: tuple[str, ...]
    email: str
    regular: bool

    @property
    def is_plain(self) -> bool:
        """Tell whether the name leaves no choice of spelling."""
        return self.name.isascii() and len(self.surnames) == 1 and self.name.replace(" ", "", 1).isalpha()


@dataclass(frozen=True, slots=True)
class Company:
    """A made-up company: its domain, form and rules."""

    domain: str
    form: str
    rules: dict[str, str]


def draw(chance: random.Random, weights: dict[str, int]) -> str:
    """Draw one by its weight."""
    return chance.choices(list(weights), list(weights.values()))[0]


def found_company(chance: random.Random, number: int) -> tuple[Company, People]:
    """Make a company up."""
    country = chance.choice(COUNTRIES)
    rules = {rule: draw(chance, weights) for rule, weights in RULES.items()}
    if country.umlauts:
        other = {"plain": "expanded", "expanded": "plain"}[country.umlauts]
        rules["umlauts"] = draw(chance, {country.umlauts: 85, other: 15})
    if country.domain == "com.br":
        rules["surnames"] = draw(chance, {"last": 60, "first": 20, "": 15, ".": 5})
    ending = country.domain if chance.random() < 0.8 else "com"  # noqa: PLR2004 -- four in five
    return Company(f"company{number}.{ending}", draw(chance, FORMS), rules), country


def hire(chance: random.Random, company: Company, country: People) -> Person:
    """Make somebody up, with an address by the company's rules or, one in ten, another."""
    lasts = [one for part in country.last.split("|") for one in _family_names(part)]
    surnames = tuple(chance.sample(lasts, 2 if chance.random() < country.double else 1))
    given = chance.choice(country.first.split())
    local = write(company.form, company, given, surnames)
    regular = chance.random() >= EXCEPTIONS
    made = local if regular else exception(chance, company, given, surnames)
    name = " ".join((given, *surnames))
    return Person(name, given, surnames, f"{made}@{company.domain}", made == local)


def exception(chance: random.Random, company: Company, given: str, surnames: tuple[str, ...]) -> str:
    """Write an address that does not follow the company's form: another, short, numbered or mistyped."""
    local = write(company.form, company, given, surnames)
    first = folded(given, "plain").replace("-", "")
    others = (
        write(draw(chance, FORMS), company, given, surnames),
        first[:3],
        f"{local}{chance.randint(2, 9)}",
        local[:2] + local[3:],
    )
    return chance.choice(others)


def write(form: str, company: Company, given: str, surnames: Sequence[str]) -> str:
    """Write a name as the company does."""
    rules = company.rules
    first = joined(folded(given, rules["umlauts"]).split("-"), rules["given"])
    family = [_surname(folded(one, rules["umlauts"]), rules) for one in surnames]
    last = joined(family, rules["surnames"])
    return form.format(first=first, last=last, f=first[:1], l=last[:1])


def joined(parts: Sequence[str], rule: str) -> str:
    """Put parts of a name together by a rule, which is a sign or says which of them stays."""
    if rule in {"first", "last"}:
        return parts[0] if rule == "first" else parts[-1]
    return rule.join(parts)


def folded(text: str, umlauts: str) -> str:
    """Write a name in the letters of addresses."""
    lower = text.lower().replace("'", "")
    if umlauts == "expanded":
        for sign, two in zip("äöüåø", ("ae", "oe", "ue", "aa", "oe"), strict=True):
            lower = lower.replace(sign, two)
    for sign, two in zip("ßæøł", ("ss", "ae", "o", "l"), strict=True):
        lower = lower.replace(sign, two)
    return "".join(one for one in unicodedata.normalize("NFD", lower) if not unicodedata.combining(one))


def floor_of(person: Person, domain: str) -> str:
    """Guess {first}.{last} without a thought: no accents, no spaces."""
    return f"{folded(person.given, 'plain')}.{''.join(folded(person.name, 'plain').split()[1:])}@{domain}"


def counts_of(known: Iterable[Person]) -> list[PatternStat]:
    """Learn from addresses as the database does."""
    told = Counter(filter(None, (form_of(person.email, parse_name(person.name)) for person in known)))
    return [PatternStat(form, count) for form, count in told.items()]


def guess(person: Person, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Guess from the whole name, as a caller gives it."""
    return candidates(parse_name(person.name), domain, counts)


def measure(companies: int, seed: int) -> dict[tuple[str, int], Counter[str]]:
    """Count hits by kind of name and number of known addresses."""
    chance = random.Random(seed)  # noqa: S311 -- no secret
    tallies = {(kind, known): Counter[str]() for kind in ("plain", "special") for known in KNOWN}
    for number in range(companies):
        company, country = found_company(chance, number)
        people = [hire(chance, company, country) for _ in range(max(KNOWN) + HELD_BACK)]
        for known in KNOWN:
            counts = counts_of(people[:known])
            bare = [PatternStat(stat.form.partition(" ")[0], stat.count) for stat in counts]
            for person in people[max(KNOWN) :]:
                tally = tallies["plain" if person.is_plain else "special", known]
                _count(tally, person, company.domain, counts, bare)
    return tallies


def show(tallies: dict[tuple[str, int], Counter[str]]) -> Table:
    """Lay the hit rates out."""
    table = Table("names", "known", "held back", "floor", "forms only", "first", "first three", "ceiling")
    rows = dict(tallies)
    for known in KNOWN:
        rows["all", known] = tallies["plain", known] + tallies["special", known]
    for kind in ("plain", "special", "all"):
        for known in KNOWN:
            tally = rows[kind, known]
            rates = (f"{tally[column] / tally['asked']:.1%}" for column in COLUMNS)
            table.add_row(kind, str(known), str(tally["asked"]), *rates, end_section=known == KNOWN[-1])
    return table


COLUMNS = ("floor", "forms only", "first", "first three", "ceiling")


def _count(
    tally: Counter[str],
    person: Person,
    domain: str,
    counts: Iterable[PatternStat],
    bare: Iterable[PatternStat],
) -> None:
    guesses = [one.email for one in guess(person, domain, counts)[:3]]
    tally["asked"] += 1
    tally["floor"] += floor_of(person, domain) == person.email
    tally["forms only"] += person.email in [one.email for one in guess(person, domain, bare)[:1]]
    tally["first"] += person.email in guesses[:1]
    tally["first three"] += person.email in guesses
    tally["ceiling"] += person.regular


def _family_names(part: str) -> list[str]:
    """Read family names: the first of a part begins with its particles, the others are single words."""
    names = part.split()
    small = len(list(takewhile(lambda word: word.lower() in PARTICLES, names)))
    return [" ".join(names[: small + 1]), *names[small + 1 :]]


def _surname(text: str, rules: dict[str, str]) -> str:
    *particles, core = text.split()
    core = joined(core.split("-"), rules["hyphens"])
    return core if rules["particles"] == "dropped" else rules["particles"].join((*particles, core))


def main() -> None:
    """Measure and print."""
    companies, seed = (int(one) for one in (*sys.argv[1:], *(COMPANIES, SEED)[len(sys.argv) - 1 :]))
    started = time.perf_counter()
    tallies = measure(companies, seed)
    console = Console(width=110)
    console.print(show(tallies))
    console.print(
        f"{companies} made-up companies, {HELD_BACK} addresses held back at each, one in ten an exception; "
        f"seed {seed}; {time.perf_counter() - started:.1f} s"
    )


if __name__ == "__main__":
    main()
