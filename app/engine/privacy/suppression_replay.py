"""Applies the suppression journal to a database that was restored from an older backup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.engine.contacts.bulk import BATCH_SIZE
from app.engine.contacts.suppressions import suppression_journal, suppressions
from app.engine.contacts.suppressions.suppression_digests import Entry
from app.engine.contacts.suppressions.suppression_journal import ADD, JournalLine
from app.engine.contacts.suppressions.suppressions import Listing
from app.engine.privacy import erased_people
from app.infra.database.db import Database
from app.infra.database.session import Session


@dataclass(slots=True)
class Applied:
    """What the lines of journals changed.

    `other_key` counts digests made with another SUPPRESSION_KEY, which match no row; `unreadable` names
    lines by file and number.
    """

    read: int = 0
    added: int = 0
    removed: int = 0
    other_key: int = 0
    unreadable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay: what changed in the list, and what was erased again."""

    applied: Applied
    erased: Counter[str]


def replay(database: Database, *paths: Path) -> ReplayResult:
    """Suppress again whom the journals name, and erase again what the backup brought back of erased people.

    The lines of several journals are applied in the order of their time. A second replay changes nothing.

    Raises:
        OSError: a journal cannot be read.

    """
    applied = apply(database, paths)
    return ReplayResult(applied, erased_people.erase_again(database))


def apply(database: Database, paths: Iterable[Path], *, tick: Callable[[], object] = lambda: None) -> Applied:
    """Apply the lines of journals or exports to the list; `tick` is called after each transaction."""
    applied = Applied()
    for lines in _transactions(suppression_journal.read(paths, unreadable=applied.unreadable)):
        with database.transaction(no_deadline=True) as session:
            session.settings = replace(session.settings, suppression_journal=None)  # not recorded again
            for line in lines:
                _apply(session, line, applied)
        tick()
    return applied


def _apply(session: Session, line: JournalLine, applied: Applied) -> None:
    applied.read += len(line.digests)
    if line.key != session.keys.suppression_fingerprint:
        applied.other_key += len(line.digests)
    elif line.action == ADD:
        entries = [Entry(line.kind, digest) for digest in line.digests]
        listing = Listing(line.reason, line.list_name)
        applied.added += suppressions.suppress_entries(session, entries, listing, now=line.at)
    else:
        applied.removed += suppressions.remove_entries(session, line.digests, list_name=line.list_name)


def _transactions(lines: Iterable[JournalLine]) -> Iterator[list[JournalLine]]:
    """Yield the lines in groups of about `BATCH_SIZE` digests."""
    group: list[JournalLine] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line.digests)
        if size >= BATCH_SIZE:
            yield group
            group, size = [], 0
    if group:
        yield group
