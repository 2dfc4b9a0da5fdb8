"""Provenance of an e-mail or phone: its sources, when each observed it, and which status is current.

An observation with `verified_at` is a verdict. A verdict supersedes any observation without one. Between two
verdicts, or two observations without one, the newer is current; at the same time, the first is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from app.domain.findings import FoundEmail, FoundPhone, Source
from app.domain.records.merging import sortable


@lru_cache(maxsize=1024)
def initial_sources(source: Source) -> list[dict[str, str]]:
    """Return the source list of a value that was first observed by this source.

    It is cached and shared, so it must not be mutated.
    """
    time = sortable(source.at)
    return [
        {
            "provider": source.provider,
            "kind": source.kind.value,
            "first_seen_at": time,
            "last_seen_at": time,
            **_place(source),
        }
    ]


def record_observation(row: dict[str, Any], source: Source) -> bool:
    """Record that the source observed the row's value; return whether a date or the source list changed."""
    time = sortable(source.at)
    before = (row["sources"], row["first_seen_at"], row["last_seen_at"])
    row["sources"] = _with_observation(row["sources"], source, time)
    row["first_seen_at"] = min(row["first_seen_at"], source.at)
    row["last_seen_at"] = max(row["last_seen_at"], source.at)
    return before != (row["sources"], row["first_seen_at"], row["last_seen_at"])


def supersedes(row: Mapping[str, Any], found: FoundEmail | FoundPhone) -> bool:
    """Return whether the found value supersedes the row's; call it before `record_observation`."""
    if row["verified_at"] is not None:
        return found.verified_at is not None and found.verified_at > row["verified_at"]
    return bool(found.verified_at is not None or found.source.at > row["last_seen_at"])


def apply(row: dict[str, Any], values: Mapping[str, Any]) -> bool:
    """Write the values into the row; return whether any of them changed."""
    differing = {name: value for name, value in values.items() if row[name] != value}
    row.update(differing)
    return bool(differing)


def _with_observation(sources: list[dict[str, str]], source: Source, time: str) -> list[dict[str, str]]:
    merged = []
    is_known = False
    for observation in sources:
        if (observation["provider"], observation["kind"]) == (source.provider, source.kind.value):
            is_known = True
            first, last = min(observation["first_seen_at"], time), max(observation["last_seen_at"], time)
            place = _place(source) if time == last else {}
            merged.append({**observation, "first_seen_at": first, "last_seen_at": last, **place})
        else:
            merged.append(observation)
    return merged if is_known else [*sources, *initial_sources(source)]


def _place(source: Source) -> dict[str, str]:
    """Return the page where the value stands; nothing for other sources, which are most."""
    return {"url": source.url} if source.url else {}
