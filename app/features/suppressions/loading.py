"""Loads lists of suppressed people in batches; a load that was interrupted is continued by repeating it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from app.domain.suppression_lists import forms
from app.domain.suppression_lists.drop_files import KINDS, DropRow
from app.domain.suppression_lists.plain_files import ListedValue
from app.engine.contacts.suppressions import suppression_digests, suppressions
from app.engine.contacts.suppressions.suppression_digests import Entry, Identifier
from app.engine.contacts.suppressions.suppressions import Listing
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database

BATCH = 5_000
REJECTED = "rejected"
DROP = Listing("deletion request (California Delete Act)", "California DROP")


@dataclass(frozen=True, slots=True)
class Change:
    """A value of a list: an entry to add or to remove, or why there is none (`REJECTED`, or a list's name).

    `line` and `column` are where it stands.
    """

    hashed: tuple[str, bytes] | None = None
    identifier: Identifier | None = None
    is_removed: bool = False
    skipped: str = ""
    line: int = 0
    column: str = ""


def of_drop(row: DropRow) -> Change:
    """Return the change that a row of DROP asks for."""
    if row.list_type not in KINDS:
        return Change(skipped=row.list_type)
    if row.sha256 is None:
        return Change(skipped=REJECTED, line=row.line, column=row.list_type)
    return Change(hashed=(KINDS[row.list_type], row.sha256), is_removed=row.is_removed)


def of_hash(kind: str, sha256: bytes | None, line: int) -> Change:
    """Return the change that a hash in a list asks for."""
    if sha256 is None:
        return Change(skipped=REJECTED, line=line, column=kind)
    return Change(hashed=(kind, sha256))


def of_value(listed: ListedValue) -> Change:
    """Return the change that a value in a list asks for."""
    if listed.value is None:
        return Change(skipped=REJECTED, line=listed.line, column=listed.column)
    return Change(identifier=Identifier(listed.kind, listed.value))


def load(
    database: Database,
    changes: Iterable[Change],
    listing: Listing,
    *,
    tick: Callable[[], object] = lambda: None,
    reject: Callable[[Change], object] = lambda _change: None,
) -> Counter[str]:
    """Apply the changes in transactions of a few thousand; `tick` is called after each.

    `reject` is called with each value that cannot be read; the others are applied all the same.

    Return the counts `given`, `added`, `known` (on the list already), `removed`, and what was skipped.
    """
    counts: Counter[str] = Counter()
    for batch in _batches(changes):
        counts["given"] += len(batch)
        counts.update(change.skipped for change in batch if change.skipped)
        for change in batch:
            if change.skipped == REJECTED:
                reject(change)
        with database.transaction(no_deadline=True) as session:
            keys, now = session.keys, database_clock.now()
            removed = [_entry(keys, change)[0].digest for change in batch if change.is_removed]
            added = [change for change in batch if not (change.is_removed or change.skipped)]
            counts["removed"] += suppressions.remove_entries(session, removed, list_name=listing.list_name)
            first = [_entry(keys, change) for change in added]
            new = suppressions.suppress_entries(session, [entries[0] for entries in first], listing, now=now)
            others = [entry for entries in first for entry in entries[1:]]
            suppressions.suppress_entries(session, others, listing, now=now)
        counts["added"] += new
        counts["known"] += len(added) - new
        tick()
    return counts


def _entry(keys: DigestKeys, change: Change) -> list[Entry]:
    """Return the entries of a change, first the entry of the value as it was given."""
    if change.hashed is not None:
        return [suppression_digests.hashed_entry(keys, *change.hashed)]
    item = change.identifier
    listed = forms.listed(item.kind, item.value) if item is not None else ()
    return [suppression_digests.entry_of_form(keys, form) for form in listed]


def _batches(changes: Iterable[Change]) -> Iterator[list[Change]]:
    rest = iter(changes)
    while batch := list(islice(rest, BATCH)):
        yield batch
