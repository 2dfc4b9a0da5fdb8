"""Measure how well the names of persons and organisations are matched, on labelled pairs.

    python -m benchmarks.name_bench FILE [--wrong]

FILE is a CSV with the columns schema, name1, name2, is_match (true or false), category and notes, such as
`contrib/name_bench/cases.csv` of https://github.com/opensanctions/nomenklatura (MIT).

- `product`: the functions of a lookup. A person is found if the contact would be matched or ambiguous at a
  company with the same domain, an organisation if it would be a candidate for the company's name.
- `rapidfuzz`: the ratio of rapidfuzz on case-folded names, without any rule, at the best threshold for these
  very pairs, which flatters it.
- `logic_v2`: the matcher of nomenklatura at its default threshold, if that package is installed. It is made
  for screening against sanction lists.

Pairs that only a screening wants are left out by the rules in `benchmarks/_name_pairs.py`; the figures are
given with and without them. `--wrong` lists the pairs that the product judges differently from their labels.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from rapidfuzz import fuzz
from rich.console import Console
from rich.table import Table

from app.domain.errors import InvalidValue
from app.domain.normal.names.names import parse_name
from app.domain.records.similarity import similarity
from app.domain.records.similarity.company_similarity import company_score
from app.domain.records.similarity.name_similarity import name_score
from benchmarks._name_pairs import LEFT_OUT, Pair, read_pairs

LOGIC_V2_THRESHOLD = 0.7


@dataclass(frozen=True, slots=True)
class Score:
    """The precision, recall and F1 of judgements, each 0 to 1; 0 if nothing was found."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(pairs: Sequence[Pair], found: Sequence[bool]) -> Score:
    """Compare judgements with the labels."""
    right = sum(pair.is_match and hit for pair, hit in zip(pairs, found, strict=True))
    matches = sum(pair.is_match for pair in pairs)
    return Score(right / sum(found) if any(found) else 0.0, right / matches if matches else 0.0)


def is_found(pair: Pair) -> bool:
    """Return whether a lookup of one name would return the other."""
    if pair.group == "organisations":
        return company_score(pair.name1, pair.name2) >= similarity.AGREES
    try:
        name = name_score(parse_name(pair.name1), parse_name(pair.name2))
    except InvalidValue:
        return False
    sure = similarity.confidence(matched_on=("full_name", "company_domain"), name=name, company=1.0)
    return similarity.decide([sure]) != "none"


def product(pairs: Sequence[Pair]) -> list[bool]:
    """Return the judgements of the product."""
    return [is_found(pair) for pair in pairs]


def baseline(pairs: Sequence[Pair]) -> list[bool]:
    """Return the judgements of rapidfuzz at the threshold with the best F1."""
    ratios = [fuzz.ratio(pair.name1.casefold(), pair.name2.casefold()) for pair in pairs]
    choices = ([ratio >= threshold for ratio in ratios] for threshold in sorted(set(ratios)))
    return max(choices, key=lambda found: score(pairs, found).f1, default=[])


def logic_v2(pairs: Sequence[Pair]) -> list[bool]:
    """Return the judgements of nomenklatura."""
    matcher = import_module("nomenklatura.matching").LogicV2
    model, config = import_module("followthemoney").model, matcher.default_config()

    def entity(role: str, schema: str, name: str) -> object:  # names are cached by the id of their entity
        properties = {"name": [name]}
        return model.get_proxy({"id": f"{role} {schema} {name}", "schema": schema, "properties": properties})

    found = []
    for pair in pairs:
        query, result = entity("query", pair.schema, pair.name1), entity("result", pair.schema, pair.name2)
        found.append(matcher.compare(query, result, config).score >= LOGIC_V2_THRESHOLD)
    return found


def systems() -> dict[str, Callable[[Sequence[Pair]], list[bool]]]:
    """Return the matchers that are installed."""
    optional = {"logic_v2": logic_v2} if find_spec("nomenklatura") else {}
    return {"product": product, "rapidfuzz": baseline, **optional}


def parts(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    """Yield the pairs of each group, all of them and without those left out, and their title."""
    for group in ("persons", "organisations"):
        members = [pair for pair in pairs if pair.group == group]
        yield group, [pair for pair in members if not pair.left_out]
        yield f"{group}, all pairs", members


def show(pairs: Sequence[Pair]) -> Table:
    """Return a table of the figures."""
    table = Table("pairs", "number", "matches", "system", "precision", "recall", "F1")
    for title, members in parts(pairs):
        labels: tuple[str, ...] = (title, str(len(members)), str(sum(pair.is_match for pair in members)))
        for name, judge in systems().items():
            result = score(members, judge(members))
            figures = (f"{figure:.3f}" for figure in (result.precision, result.recall, result.f1))
            table.add_row(*labels, name, *figures, end_section=name == list(systems())[-1])
            labels = ("", "", "")
    return table


def show_left_out(pairs: Sequence[Pair]) -> Table:
    """Return a table of the rules for leaving out pairs, with the numbers of pairs."""
    counts = Counter((pair.left_out, pair.group) for pair in pairs)
    table = Table("left out", "persons", "organisations")
    for rule in LEFT_OUT:
        table.add_row(rule, str(counts[rule, "persons"]), str(counts[rule, "organisations"]))
    return table


def wrong(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a line for each pair that the product judges differently from its label, by category."""
    judged = [pair for pair in pairs if is_found(pair) != pair.is_match]
    judged.sort(key=_section)
    for section, members in groupby(judged, key=_section):
        yield " · ".join(filter(None, section))
        yield from (f"  {pair.name1} | {pair.name2} | {pair.notes}".rstrip(" |") for pair in members)


def _section(pair: Pair) -> tuple[str, str, str, str]:
    error = "missed" if pair.is_match else "matched wrongly"
    return pair.group, f"left out: {pair.left_out}" if pair.left_out else "", error, pair.category


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="CSV of labelled pairs")
    parser.add_argument("--wrong", action="store_true", help="list the pairs that are judged wrongly")
    options = parser.parse_args(arguments)
    pairs = read_pairs(options.file)
    console = Console(width=110, highlight=False)
    console.print(show(pairs), show_left_out(pairs))
    if "logic_v2" not in systems():
        console.print("logic_v2 was not measured: `pip install nomenklatura` adds it.")
    if options.wrong:
        console.print("\n".join(wrong(pairs)), markup=False)


if __name__ == "__main__":
    main()
