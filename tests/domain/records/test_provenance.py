from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.findings import Source, SourceKind
from app.domain.records import provenance

NOW = datetime(2026, 11, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def seen(url: str | None, at: datetime, provider: str = "website") -> Source:
    return Source(provider, SourceKind.PROVIDER, at, url=url)


def row(source: Source) -> dict[str, Any]:
    return {
        "sources": provenance.initial_sources(source),
        "first_seen_at": source.at,
        "last_seen_at": source.at,
    }


@pytest.mark.parametrize(
    ("at", "url"), [(NOW + DAY, "https://acme.com/b"), (NOW - DAY, "https://acme.com/a")]
)
def test_the_page_of_a_value_is_the_one_of_the_latest_observation(at: datetime, url: str) -> None:
    value = row(seen("https://acme.com/a", NOW))

    provenance.record_observation(value, seen("https://acme.com/b", at))

    assert [source["url"] for source in value["sources"]] == [url]


def test_another_source_has_no_page() -> None:
    value = row(seen("https://acme.com/a", NOW))

    provenance.record_observation(value, seen(None, NOW + DAY, "hunter"))

    assert [source.get("url") for source in value["sources"]] == ["https://acme.com/a", None]
