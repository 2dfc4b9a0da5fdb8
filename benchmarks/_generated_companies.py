"""People and work addresses of generated companies, which mix forms as the measured ones do."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from app.domain.email_patterns.company_forms import OTHER
from app.domain.email_patterns.spelling import MAX_LOGIN, SHORTENED_FORM

RULES: dict[str, dict[str, int]] = {
    "umlauts": {"plain": 50, "expanded": 50},  # 85 to 15 where the country has a convention
    "given": {"-": 45, "": 30, "first": 25},
    "hyphens": {"-": 65, "": 20, "first": 10, "last": 5},
    "surnames": {"first": 55, "": 20, "-": 8, "last": 12, ".": 5},
    "particles": {"": 65, "dropped": 18, "-": 7, ".": 10},
    "length": {"whole": 67, "shortened": 33},
}
"""Ways to spell a name with their weights; the words name a part, the signs join the parts."""
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
    """A generated person: given names, surnames, work address and its form, or `OTHER`."""

    name: str
    given_name: str
    surnames: tuple[str, ...]
    email: str
    form: str

    @property
    def is_plain(self) -> bool:
        """Whether the name can be spelled in one way only."""
        return self.name.isascii() and len(self.surnames) == 1 and self.name.replace(" ", "", 1).isalpha()


@dataclass(frozen=True, slots=True)
class Company:
    """A generated company: its domain, spelling rules, country, and the people per form of a measured one."""

    domain: str
    rules: Mapping[str, str]
    country: People
    forms: Mapping[str, int]

    @property
    def usual_form(self) -> str:
        """The form of most of its people."""
        return max((form for form in self.forms if form != OTHER), key=self.forms.__getitem__, default=OTHER)


def draw(rng: random.Random, weights: Mapping[str, int]) -> str:
    """Return a random key, with the values as weights."""
    return rng.choices(list(weights), list(weights.values()))[0]


def make_company(rng: random.Random, number: int, forms: Mapping[str, int]) -> Company:
    """Return a company of a random country, with random rules of spelling."""
    country = rng.choice(COUNTRIES)
    rules = {rule: draw(rng, weights) for rule, weights in RULES.items()}
    if country.umlauts:
        other = {"plain": "expanded", "expanded": "plain"}[country.umlauts]
        rules["umlauts"] = draw(rng, {country.umlauts: 85, other: 15})
    if country.domain == "com.br":
        rules["surnames"] = draw(rng, {"last": 60, "first": 20, "": 15, ".": 5})
    ending = country.domain if rng.random() < 0.8 else "com"  # noqa: PLR2004 -- four in five
    return Company(f"company{number}.{ending}", rules, country, forms)


def make_person(rng: random.Random, company: Company) -> Person:
    """Return a random person, whose address has one of the company's forms, or none."""
    country = company.country
    lasts = [name for part in country.last.split("|") for name in _family_names(part)]
    surnames = tuple(rng.sample(lasts, 2 if rng.random() < country.double else 1))
    given_name = rng.choice(country.first.split())
    form = draw(rng, company.forms)
    if form == OTHER:
        local = exception(rng, company, given_name, surnames)
    else:
        local = write(form, company, given_name, surnames)
    name = " ".join((given_name, *surnames))
    return Person(name, given_name, surnames, f"{local}@{company.domain}", form)


def exception(rng: random.Random, company: Company, given_name: str, surnames: tuple[str, ...]) -> str:
    """Return a local part of no form: a short name, one with a number, or one with a typing error."""
    usual = "{first}.{last}" if company.usual_form == OTHER else company.usual_form
    local = write(usual, company, given_name, surnames)
    first = folded(given_name, "plain").replace("-", "")
    return rng.choice((first[:3], f"{local}{rng.randint(2, 9)}", local[:2] + local[3:]))


def write(form: str, company: Company, given_name: str, surnames: Sequence[str]) -> str:
    """Return the local part of an address of this form by the company's rules."""
    rules = company.rules
    first = joined(folded(given_name, rules["umlauts"]).split("-"), rules["given"])
    family = [_surname(folded(surname, rules["umlauts"]), rules) for surname in surnames]
    last = joined(family, rules["surnames"])
    local = form.format(first=first, last=last, f=first[:1], l=last[:1])
    return local[:MAX_LOGIN] if (form, rules["length"]) == (SHORTENED_FORM, "shortened") else local


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


def _family_names(part: str) -> list[str]:
    """Return the family names in a part: the first has its particles, the others are single words."""
    names = part.split()
    small = len(list(takewhile(lambda word: word.lower() in PARTICLES, names)))
    return [" ".join(names[: small + 1]), *names[small + 1 :]]


def _surname(text: str, rules: Mapping[str, str]) -> str:
    *particles, core = text.split()
    core = joined(core.split("-"), rules["hyphens"])
    return core if rules["particles"] == "dropped" else rules["particles"].join((*particles, core))
