"""Words about one e-mail or phone put together: who saw it, since when, and whose verdict counts.

A verdict is a word with `verified_at`. Any verdict beats any plain word; of two verdicts the newer counts, of
two plain words the newer, and of the same moment the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.findings import FoundEmail, FoundPhone, Source
from app.domain.records.merging import sortable


def initial_sources(source: Source) -> list[dict[str, str]]:
    """Begin the list of sources."""
    at = sortable(source.at)
    return [{"provider": source.provider, "kind": source.kind.value, "first_seen_at": at, "last_seen_at": at}]


def record_observation(row: dict[str, Any], source: Source) -> bool:
    """Note that the source saw the row's value; tell whether that moved any date or is a new source."""
    at = sortable(source.at)
    before = (row["sources"], row["first_seen_at"], row["last_seen_at"])
    row["sources"] = _with_sight(row["sources"], source, at)
    row["first_seen_at"] = min(row["first_seen_at"], source.at)
    row["last_seen_at"] = max(row["last_seen_at"], source.at)
    return before != (row["sources"], row["first_seen_at"], row["last_seen_at"])


def supersedes(row: Mapping[str, Any], found: FoundEmail | FoundPhone) -> bool:
    """Tell whether the found verdict or word is to replace the row's; asked before `seen_again`."""
    if row["verified_at"] is not None:
        return found.verified_at is not None and found.verified_at > row["verified_at"]
    return bool(found.verified_at is not None or found.source.at > row["last_seen_at"])


def apply(row: dict[str, Any], said: Mapping[str, Any]) -> bool:
    """Write what is said into the row; tell whether anything differs."""
    differing = {name: value for name, value in said.items() if row[name] != value}
    row.update(differing)
    return bool(differing)


def _with_sight(sources: list[dict[str, str]], source: Source, at: str) -> list[dict[str, str]]:
    merged = []
    known = False
    for sight in sources:
        if (sight["provider"], sight["kind"]) == (source.provider, source.kind.value):
            known = True
            first, last = min(sight["first_seen_at"], at), max(sight["last_seen_at"], at)
            merged.append({**sight, "first_seen_at": first, "last_seen_at": last})
        else:
            merged.append(sight)
    return merged if known else [*sources, *initial_sources(source)]
