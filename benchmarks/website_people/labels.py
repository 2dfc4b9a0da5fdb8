"""What people who read the pages say of pairs of a name and an address, kept as digests.

`labels.json` has no names and addresses: `pairs` says of the digest of a domain, a name and an address
whether the address is the person's; `people` has the digests of the addresses at each labelled site that a
reader of its pages finds beside a named person.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import InvalidValue
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.names import parse_name

LABELS = Path(__file__).with_name("labels.json")


@dataclass(frozen=True, slots=True)
class Pair:
    """A person's name and address at a site."""

    domain: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels by digest; a site without an address of a named person has no digests in `people`."""

    pairs: Mapping[str, bool]
    people: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Score:
    """Pairs that are right, wrong and without a label, and addresses that a reader of the pages finds."""

    right: int
    wrong: int
    unlabelled: int
    found: int
    findable: int

    @property
    def precision(self) -> float:
        """The share of the labelled pairs that is right."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """The share of a reader's addresses, at labelled sites, that was found for the right person."""
        return self.found / max(self.findable, 1)


def read_labels() -> Labels:
    """Return the labels of the benchmark."""
    stored = json.loads(LABELS.read_text())
    people = {domain: frozenset(digests) for domain, digests in stored["people"].items()}
    return Labels(stored["pairs"], people)


def pair_digest(pair: Pair) -> str:
    """Return the digest of a domain, a name and an address; the name's spelling and titles do not matter."""
    try:
        name = parse_name(pair.name).full
    except InvalidValue:
        name = pair.name
    return _digest(pair.domain, person_key(name), pair.email)


def address_digest(domain: str, email: str) -> str:
    """Return the digest of a domain and an address."""
    return _digest(domain, email)


def score(pairs: Iterable[Pair], labels: Labels, *, unlabelled: bool | None = None) -> Score:
    """Compare pairs with the labels; `unlabelled` is the label of pairs that have none."""
    found: set[str] = set()
    counts = Counter[bool | None]()
    for pair in pairs:
        label = labels.pairs.get(pair_digest(pair), unlabelled)
        counts[label] += 1
        if label:
            found.add(address_digest(pair.domain, pair.email))
    findable = frozenset[str]().union(*labels.people.values())
    return Score(counts[True], counts[False], counts[None], len(found & findable), len(findable))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
