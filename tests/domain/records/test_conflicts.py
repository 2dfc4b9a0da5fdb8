from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.findings import FoundCompany, FoundContact, Source, SourceKind
from app.domain.records import conflicts
from app.domain.records.conflicts import EMPLOYER, SourceRecord
from app.domain.records.merging import RankedSource

NOW = datetime(2026, 11, 20, tzinfo=UTC)
OLD = {"source": "old", "at": "2026-11-19T00:00:00.000Z"}
NEW = {"source": "new", "at": "2026-11-20T00:00:00.000Z"}


def word(stamp: dict[str, str] | None = NEW, **values: str | None) -> SourceRecord:
    return SourceRecord(values, {"*": stamp} if stamp else {})


def conflict(field: str, value: str, other: str) -> dict[str, Any]:
    return {"entity": "contact", "field": field, "value": value, **NEW, "other": {"value": other, **OLD}}


def test_a_differing_value_is_returned_with_the_current_one() -> None:
    result = conflicts.conflicts("contact", word(title="CEO"), [word(OLD, title="CTO"), word(title="CEO")])

    assert result == [conflict("title", "CEO", "CTO")]


@pytest.mark.parametrize(
    ("field", "value", "other"),
    [
        ("full_name", "José Álvarez", "jose alvarez"),
        ("name", "Acme Inc.", "ACME"),
        (EMPLOYER, "Acme Inc.", "ACME"),
        ("title", "CEO", "ceo"),
        ("title", "CEO", None),
        ("name", "☆", "☆"),
        (
            "linkedin_url",
            "https://www.linkedin.com/in/ada",
            "https://www.linkedin.com/in/ACoAAAbCdEf_-123",
        ),
    ],
)
def test_another_spelling_or_a_missing_value_is_not_a_conflict(
    field: str, value: str, other: str | None
) -> None:
    assert conflicts.conflicts("contact", word(**{field: value}), [word(OLD, **{field: other})]) == []


@pytest.mark.parametrize(
    ("value", "other"), [("ada", "bob"), ("ACoAAAbCdEf_-123", "ACoAAABCDEF_-123"), ("ada", "ada-2")]
)
def test_two_profiles_of_one_kind_conflict(value: str, other: str) -> None:
    urls = [f"https://www.linkedin.com/in/{slug}" for slug in (value, other)]

    [result] = conflicts.conflicts("contact", word(linkedin_url=urls[0]), [word(OLD, linkedin_url=urls[1])])

    assert (result["value"], result["other"]["value"]) == tuple(urls)


def test_two_names_without_a_letter_can_conflict() -> None:
    [result] = conflicts.conflicts("contact", word(name="☆"), [word(OLD, name="♪")])

    assert (result["value"], result["other"]["value"]) == ("☆", "♪")


def test_a_field_without_a_value_has_no_conflict_and_no_source() -> None:
    standing, records = word(city=None), [word(OLD, city="Paris")]

    assert conflicts.conflicts("contact", standing, records) == []
    assert conflicts.sources(standing, records) == {}


def test_a_repeated_other_value_is_returned_once_in_its_first_spelling() -> None:
    records = [word(OLD, title="CTO"), word(title="cto")]

    result = conflicts.conflicts("contact", word(title="CEO"), records)

    assert result == [conflict("title", "CEO", "CTO")]


def test_a_field_that_is_not_shown_has_no_conflict() -> None:
    standing = word(title="CEO", city="Paris").only(("city",))

    assert conflicts.conflicts("contact", standing, [word(OLD, title="CTO", city="Paris")]) == []


def test_a_value_without_a_stamp_has_an_unknown_source() -> None:
    [result] = conflicts.conflicts("contact", word(None, title="CEO"), [word(None, title="CTO")])

    assert (result["source"], result["at"], result["other"]["source"]) == (None, None, None)


def test_the_source_is_the_fields_own_stamp_or_the_default_one() -> None:
    standing = SourceRecord({"title": "CEO", "city": "Paris"}, {"*": OLD, "title": NEW})

    assert conflicts.sources(standing, []) == {"title": NEW, "city": OLD}


def test_a_field_filled_once_has_its_first_source() -> None:
    standing = SourceRecord({"linkedin_url": "u"}, {"*": NEW})

    result = conflicts.sources(standing, [word(OLD, linkedin_url=None), word(OLD, linkedin_url="u")])

    assert result == {"linkedin_url": OLD}


def test_a_field_filled_once_can_have_its_own_stamp() -> None:
    standing = SourceRecord({"domain": "acme.com"}, {"*": OLD, "domain": NEW})

    assert conflicts.sources(standing, [word(OLD, domain="acme.com")]) == {"domain": NEW}


def test_the_employer_has_the_stamp_of_the_company() -> None:
    standing = SourceRecord({}, {"*": OLD, "company_id": NEW}).employed_by("Acme")

    assert conflicts.sources(standing, []) == {EMPLOYER: NEW}


def test_the_company_of_a_finding_has_the_same_ranking() -> None:
    source = Source("one", SourceKind.PROVIDER, NOW)
    found = FoundContact(source=source, company=FoundCompany(source=source, name="Acme"))

    ranked = conflicts.ranked(found, ("one", "two"))

    weighed = RankedSource("one", SourceKind.PROVIDER, NOW, ("one", "two"))
    assert ranked.company is not None
    assert (ranked.source, ranked.company.source) == (weighed, weighed)
