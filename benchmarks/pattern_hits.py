"""Measure how often the pattern provider guesses an address that it has not seen.

    PYTHONPATH=. python benchmarks/pattern_hits.py [companies] [seed]

The data are generated; no real address was used. A company has a country, which determines its people's
names and, in four of five cases, its domain; a form of address, drawn from FORMS; a rule for each of accents,
hyphens, particles, second surnames and hyphenated given names, drawn from RULES; and people whose addresses
follow these, except for one in ten (EXCEPTIONS): those have another form, a short name, a number, or a typing
error. FORMS and RULES follow common practice, and the addresses are written by the code below, not by the
provider's. The figures rest on the assumption that a company follows its rules. They compare ways of guessing
with each other; the rate on real companies must be measured there.

Columns: `floor` always guesses {first}.{last}; `forms only` learns the form but not the spelling; `first` and
`first three` are the provider's guesses; `ceiling` knows the company's form and rules, so its first guess
misses only the exceptions (one of three guesses may also hit an exception).
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
    "umlauts": {"plain": 50, "expanded": 50},  # 85 to 15 where the country has a convention
    "given": {"-": 45, "": 30, "first": 25},
    "hyphens": {"-": 65, "": 20, "first": 10, "last": 5},
    "surnames": {"first": 55, "": 20, "-": 8, "last": 12, ".": 5},
    "particles": {"": 65, "dropped": 18, "-": 7, ".": 10},
}
PARTICLES = frozenset(("van", "der", "den", "de", "von", "zu", "la", "del", "da", "dos", "di", "du", "le"))


class People(NamedTuple):
    """The names of a country; `double` is the share of people with two surnames."""

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
    """A generated person: given names, surnames and work address; `regular` unless it is an exception."""

    name: str
    given_name: str
    surnames: tuple[str, ...]
    email: str
    regular: bool

    @property
    def is_plain(self) -> bool:
        """Whether the name can be spelled in one way only."""
        return self.name.isascii() and len(self.surnames) == 1 and self.name.replace(" ", "", 1).isalpha()


@dataclass(frozen=True, slots=True)
class Company:
    """A generated company: its domain, form and rules."""

    domain: str
    form: str
    rules: dict[str, str]


def draw(rng: random.Random, weights: dict[str, int]) -> str:
    """Return a random key, with the values as weights."""
    return rng.choices(list(weights), list(weights.values()))[0]


def make_company(rng: random.Random, number: int) -> tuple[Company, People]:
    """Return a random company, and its country."""
    country = rng.choice(COUNTRIES)
    rules = {rule: draw(rng, weights) for rule, weights in RULES.items()}
    if country.umlauts:
        other = {"plain": "expanded", "expanded": "plain"}[country.umlauts]
        rules["umlauts"] = draw(rng, {country.umlauts: 85, other: 15})
    if country.domain == "com.br":
        rules["surnames"] = draw(rng, {"last": 60, "first": 20, "": 15, ".": 5})
    ending = country.domain if rng.random() < 0.8 else "com"  # noqa: PLR2004 -- four in five
    return Company(f"company{number}.{ending}", draw(rng, FORMS), rules), country


def make_person(rng: random.Random, company: Company, country: People) -> Person:
    """Return a random person, whose address follows the company's rules or, one in ten, does not."""
    lasts = [name for part in country.last.split("|") for name in _family_names(part)]
    surnames = tuple(rng.sample(lasts, 2 if rng.random() < country.double else 1))
    given_name = rng.choice(country.first.split())
    local = write(company.form, company, given_name, surnames)
    regular = rng.random() >= EXCEPTIONS
    actual = local if regular else exception(rng, company, given_name, surnames)
    name = " ".join((given_name, *surnames))
    return Person(name, given_name, surnames, f"{actual}@{company.domain}", actual == local)


def exception(rng: random.Random, company: Company, given_name: str, surnames: tuple[str, ...]) -> str:
    """Return a local part of another form, a short one, one with a number, or one with a typing error."""
    local = write(company.form, company, given_name, surnames)
    first = folded(given_name, "plain").replace("-", "")
    others = (
        write(draw(rng, FORMS), company, given_name, surnames),
        first[:3],
        f"{local}{rng.randint(2, 9)}",
        local[:2] + local[3:],
    )
    return rng.choice(others)


def write(form: str, company: Company, given_name: str, surnames: Sequence[str]) -> str:
    """Return the local part of an address by the company's rules."""
    rules = company.rules
    first = joined(folded(given_name, rules["umlauts"]).split("-"), rules["given"])
    family = [_surname(folded(surname, rules["umlauts"]), rules) for surname in surnames]
    last = joined(family, rules["surnames"])
    return form.format(first=first, last=last, f=first[:1], l=last[:1])


def joined(parts: Sequence[str], rule: str) -> str:
    """Join the parts of a name with the sign in `rule`, or return the part that it names: first or last."""
    if rule in {"first", "last"}:
        return parts[0] if rule == "first" else parts[-1]
    return rule.join(parts)


def folded(text: str, umlauts: str) -> str:
    """Return a name in ASCII letters, as addresses have them."""
    lower = text.lower().replace("'", "")
    if umlauts == "expanded":
        for letter, ascii_letters in zip("äöüåø", ("ae", "oe", "ue", "aa", "oe"), strict=True):
            lower = lower.replace(letter, ascii_letters)
    for letter, ascii_letters in zip("ßæøł", ("ss", "ae", "o", "l"), strict=True):
        lower = lower.replace(letter, ascii_letters)
    return "".join(sign for sign in unicodedata.normalize("NFD", lower) if not unicodedata.combining(sign))


def floor_of(person: Person, domain: str) -> str:
    """Return {first}.{last} without accents and spaces."""
    surnames = folded(person.name, "plain").split()[1:]
    return f"{folded(person.given_name, 'plain')}.{''.join(surnames)}@{domain}"


def counts_of(known: Iterable[Person]) -> list[PatternStat]:
    """Return the pattern counts that the database would have learned from these addresses."""
    counts = Counter(filter(None, (form_of(person.email, parse_name(person.name)) for person in known)))
    return [PatternStat(form, count) for form, count in counts.items()]


def guess(person: Person, domain: str, counts: Iterable[PatternStat]) -> tuple[Guess, ...]:
    """Return the provider's guesses from the full name."""
    return candidates(parse_name(person.name), domain, counts)


def measure(companies: int, seed: int) -> dict[tuple[str, int], Counter[str]]:
    """Return the hits by kind of name and number of known addresses."""
    rng = random.Random(seed)  # noqa: S311 -- not a secret
    tallies = {(kind, known): Counter[str]() for kind in ("plain", "special") for known in KNOWN}
    for number in range(companies):
        company, country = make_company(rng, number)
        people = [make_person(rng, company, country) for _ in range(max(KNOWN) + HELD_BACK)]
        for known in KNOWN:
            counts = counts_of(people[:known])
            bare = [PatternStat(stat.form.partition(" ")[0], stat.count) for stat in counts]
            for person in people[max(KNOWN) :]:
                tally = tallies["plain" if person.is_plain else "special", known]
                _count(tally, person, company.domain, counts, bare)
    return tallies


def show(tallies: dict[tuple[str, int], Counter[str]]) -> Table:
    """Return a table of the hit rates."""
    table = Table("names", "known", "held back", "floor", "forms only", "first", "first three", "ceiling")
    rows = dict(tallies)
    for known in KNOWN:
        rows["all", known] = tallies["plain", known] + tallies["special", known]
    for kind in ("plain", "special", "all"):
        for known in KNOWN:
            tally = rows[kind, known]
            rates = (f"{tally[column] / tally['guessed']:.1%}" for column in COLUMNS)
            table.add_row(kind, str(known), str(tally["guessed"]), *rates, end_section=known == KNOWN[-1])
    return table


COLUMNS = ("floor", "forms only", "first", "first three", "ceiling")


def _count(
    tally: Counter[str],
    person: Person,
    domain: str,
    counts: Iterable[PatternStat],
    bare: Iterable[PatternStat],
) -> None:
    guesses = [candidate.email for candidate in guess(person, domain, counts)[:3]]
    tally["guessed"] += 1
    tally["floor"] += floor_of(person, domain) == person.email
    tally["forms only"] += person.email in [candidate.email for candidate in guess(person, domain, bare)[:1]]
    tally["first"] += person.email in guesses[:1]
    tally["first three"] += person.email in guesses
    tally["ceiling"] += person.regular


def _family_names(part: str) -> list[str]:
    """Return the family names in a part: the first has its particles, the others are single words."""
    names = part.split()
    small = len(list(takewhile(lambda word: word.lower() in PARTICLES, names)))
    return [" ".join(names[: small + 1]), *names[small + 1 :]]


def _surname(text: str, rules: dict[str, str]) -> str:
    *particles, core = text.split()
    core = joined(core.split("-"), rules["hyphens"])
    return core if rules["particles"] == "dropped" else rules["particles"].join((*particles, core))


def main() -> None:
    """Measure, and print the table."""
    companies, seed = (int(text) for text in (*sys.argv[1:], *(COMPANIES, SEED)[len(sys.argv) - 1 :]))
    started = time.perf_counter()
    tallies = measure(companies, seed)
    console = Console(width=110)
    console.print(show(tallies))
    console.print(
        f"{companies} generated companies, {HELD_BACK} unseen addresses at each, one in ten an exception; "
        f"seed {seed}; {time.perf_counter() - started:.1f} s"
    )


if __name__ == "__main__":
    main()
