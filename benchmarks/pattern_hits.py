"""Measure how often the pattern provider guesses an address that it has not seen.

    python -m benchmarks.pattern_hits [draws]

The counts of the forms at 158 real companies (`app/domain/data/emails/email_forms.csv`) are the data: each
one is predicted from the others. The tables, by number of known addresses:

- people: whether a person of the company has one of the first three forms. No names are involved, so errors
  of spelling are not counted. `stated` is the mean confidence of the first form; `best form` is the rate of
  the company's most common form, which only hindsight knows. The second table compares confidence and rate.
- generated names: companies with the same mixes of forms, with random names of a country and a rule for each
  of accents, hyphens, particles, second surnames, hyphenated given names and login names. `floor` always
  guesses {first}.{last}, `forms only` learns the form but not the spelling, and `best form` knows the usual
  form and the rules.

Each person counts once, so a company counts by its size. The known addresses of a company are drawn `draws`
times (20). An address that follows no form is a miss, whatever is guessed.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from app.domain.email_patterns.company_forms import FORMS, OTHER, FormModel, measured_companies
from app.domain.email_patterns.patterns import PatternStat, candidates, form_of
from app.domain.normal.names.names import parse_name
from benchmarks._generated_companies import Company, Person, folded, make_company, make_person, write

DRAWS = 20
SEED = 7
KNOWN = (0, 1, 3, 10)
HELD_BACK = 10
BINS = 10


@dataclass(frozen=True, slots=True)
class Prediction:
    """The first guesses for the other people of a company; `rates` are the shares that each is right for.

    `best` is the share of the company's most common form, `weight` the number of people that this stands for.
    """

    known: int
    confidence: float
    rates: Sequence[float]
    best: float
    weight: float


def predictions(companies: Sequence[Mapping[str, int]], draws: int) -> Iterator[Prediction]:
    """Yield the predictions of each company's forms from the other companies and its known addresses."""
    rng = random.Random(SEED)  # noqa: S311 -- not a secret
    for index, company in enumerate(companies):
        model = FormModel((*companies[:index], *companies[index + 1 :]))
        people = [form for form, count in company.items() for _ in range(count)]
        for known in (known for known in KNOWN if known < len(people)):
            for _ in range(draws):
                rng.shuffle(people)
                yield _prediction(model, people[:known], people[known:], len(people) / draws)


def bins(made: Iterable[Prediction]) -> list[list[Prediction]]:
    """Return the predictions by confidence, in ten bins."""
    sorted_in: list[list[Prediction]] = [[] for _ in range(BINS)]
    for prediction in made:
        sorted_in[min(int(prediction.confidence * BINS), BINS - 1)].append(prediction)
    return sorted_in


def mean(made: Sequence[Prediction], values: Iterable[float]) -> float:
    """Return the mean of one value per prediction over the people they stand for."""
    pairs = zip(made, values, strict=True)
    return sum(prediction.weight * value for prediction, value in pairs) / sum(one.weight for one in made)


def measure_names(companies: Sequence[Mapping[str, int]]) -> dict[tuple[str, int], Counter[str]]:
    """Return the hits for generated people, by kind of name and number of known addresses."""
    rng = random.Random(SEED)  # noqa: S311 -- not a secret
    tallies = {(kind, known): Counter[str]() for kind in ("plain", "special") for known in KNOWN}
    for index, forms in enumerate(companies):
        model = FormModel((*companies[:index], *companies[index + 1 :]))
        company = make_company(rng, index, forms)
        people = [make_person(rng, company) for _ in range(max(KNOWN) + HELD_BACK)]
        for known in KNOWN:
            counts = counts_of(people[:known])
            for person in people[max(KNOWN) :]:
                tally = tallies["plain" if person.is_plain else "special", known]
                for column, is_hit in _hits(person, company, counts, model).items():
                    tally[column] += is_hit * sum(forms.values())
    return tallies


def counts_of(known: Iterable[Person]) -> list[PatternStat]:
    """Return the pattern counts that the database would have learned from these addresses."""
    counts = Counter(form_of(person.email, parse_name(person.name)) or OTHER for person in known)
    return [PatternStat(form, count) for form, count in counts.items()]


def rates_table(made: Sequence[Prediction]) -> Table:
    """Return the hit rates by number of known addresses."""
    table = Table("known", "first", "first two", "first three", "stated", "best form", title="people")
    for known in KNOWN:
        part = [one for one in made if one.known == known]
        rates = [mean(part, (sum(one.rates[:guesses]) for one in part)) for guesses in (1, 2, 3)]
        stated, best = mean(part, (one.confidence for one in part)), mean(part, (one.best for one in part))
        table.add_row(str(known), *(f"{rate:.1%}" for rate in (*rates, stated, best)))
    return table


def calibration_table(made: Sequence[Prediction]) -> Table:
    """Return the confidence of the first guess beside its hit rate."""
    table = Table(
        "confidence", "people", "stated", "right", "difference", title="confidence of the first guess"
    )
    everybody = sum(one.weight for one in made)
    for number, part in enumerate(bins(made)):
        if part:
            stated, right = (
                mean(part, (one.confidence for one in part)),
                mean(part, (one.rates[0] for one in part)),
            )
            share = sum(one.weight for one in part) / everybody
            limits = f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"
            table.add_row(
                limits, f"{share:.1%}", f"{stated:.1%}", f"{right:.1%}", f"{100 * (right - stated):+.1f}"
            )
    return table


def names_table(tallies: Mapping[tuple[str, int], Counter[str]]) -> Table:
    """Return the hit rates for generated people."""
    table = Table("names", "known", *COLUMNS, title="generated names")
    rows = dict(tallies)
    for known in KNOWN:
        rows["all", known] = tallies["plain", known] + tallies["special", known]
    for kind in ("plain", "special", "all"):
        for known in KNOWN:
            tally = rows[kind, known]
            rates = (f"{tally[column] / tally['people']:.1%}" for column in COLUMNS)
            table.add_row(kind, str(known), *rates, end_section=known == KNOWN[-1])
    return table


COLUMNS = ("floor", "forms only", "first", "first two", "first three", "best form")


def _prediction(model: FormModel, known: Sequence[str], rest: Sequence[str], weight: float) -> Prediction:
    probabilities = model.probabilities(Counter(known))
    first = sorted(FORMS, key=probabilities.__getitem__, reverse=True)[:3]
    counts = Counter(rest)
    whole = counts + Counter(known)
    best = max((whole[form] for form in FORMS), default=0) / whole.total()
    rates = [counts[form] / len(rest) for form in first]
    return Prediction(len(known), probabilities[first[0]], rates, best, weight)


def _hits(
    person: Person, company: Company, counts: Sequence[PatternStat], model: FormModel
) -> dict[str, bool]:
    name = parse_name(person.name)
    guesses = [guess.email for guess in candidates(name, company.domain, counts, model)[:3]]
    bare = [PatternStat(stat.form.partition(" ")[0], stat.count) for stat in counts]
    surnames = "".join(folded(person.name, "plain").split()[1:])
    floor = f"{folded(person.given_name, 'plain')}.{surnames}@{company.domain}"
    best = write(company.usual_form, company, person.given_name, person.surnames)
    return {
        "people": True,
        "floor": person.email == floor,
        "forms only": person.email == candidates(name, company.domain, bare, model)[0].email,
        "first": person.email in guesses[:1],
        "first two": person.email in guesses[:2],
        "first three": person.email in guesses,
        "best form": person.email == f"{best}@{company.domain}",
    }


def main() -> None:
    """Measure, and print the tables."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    started = time.perf_counter()
    companies = measured_companies()
    made = list(predictions(companies, draws))
    console = Console(width=110)
    console.print(rates_table(made))
    console.print(calibration_table(made))
    console.print(names_table(measure_names(companies)))
    people = sum(sum(company.values()) for company in companies)
    console.print(
        f"{people:,} people of {len(companies)} companies, each predicted from the others; {draws} draws, "
        f"seed {SEED}; {time.perf_counter() - started:.1f} s"
    )


if __name__ == "__main__":
    main()
