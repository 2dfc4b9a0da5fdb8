"""What features hold about people, beyond the contacts themselves, and what they keep secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from app import feature_registry
from app.domain.records.person_matcher import PersonMatcher
from app.engine.mentions import mention_sources
from app.engine.mentions.mention_sources import Key, Source
from app.infra.database.db import Base
from app.infra.database.session import Session

Export: TypeAlias = dict[str, list[dict[str, Any]]]
Texts: TypeAlias = tuple[type[Base], tuple[str, ...]]
"""A table, and its columns with values or texts that may name people."""


class PersonalData(Protocol):
    """The rows of a feature that mention a person, found before they are erased."""

    @property
    def rows(self) -> int:
        """Return how many rows are about the person."""

    @property
    def notes(self) -> int:
        """Return how many rows and names are about something else, and mention the person."""

    def export(self, session: Session) -> Export:
        """Return what they say, for the person."""

    def erase(self, session: Session) -> Iterable[tuple[Source, Sequence[Key]]]:
        """Remove the person, and return the changed rows of each source, whose mentions are indexed again.

        It runs in the transaction of the erasure, after the person is on the suppression list, while no
        mentions are indexed.
        """


class EncryptedAgain(NamedTuple):
    """How many values were encrypted under the current key now, and whether all are."""

    values: int
    is_finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """How a person's data in the tables of a feature is erased, counted and shown to them, and its secrets.

    Rows that refer to a contact are deleted with it: `count` returns how many there are about these contacts
    by table, for the receipt of an erasure, and `export` what they say, for the person. `find` returns the
    rows that mention a person, by the name under which they are counted; `sources` are its rows in the index
    of mentions, and `texts` the columns that may name people. `await_writers` waits until transactions that
    may store more about a person have ended; transactions that begin later know who is suppressed.

    `encrypt_again` encrypts the secrets under the current key and returns how many. Values that are too large
    to be encrypted together have functions that encrypt the next one, by table.
    """

    count: Callable[[Session, Sequence[str]], dict[str, int]] = lambda *_: {}
    export: Callable[[Session, Sequence[str]], Export] = lambda *_: {}
    find: Mapping[str, Callable[[Session, PersonMatcher], PersonalData]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    texts: tuple[Texts, ...] = ()
    await_writers: Callable[[Session], object] = lambda *_: None
    encrypt_again: Callable[[Session], int] = lambda *_: 0
    encrypt_next: Mapping[str, Callable[[Session], EncryptedAgain]] = field(default_factory=dict)


def all_holdings() -> list[Holdings]:
    """Return the holdings of all features."""
    return [module.HOLDINGS for module in feature_registry.parts("holdings")]


def all_sources() -> list[Source]:
    """Return what the index of mentions covers, in the order in which it is locked."""
    return [*mention_sources.SOURCES, *(source for each in all_holdings() for source in each.sources)]
