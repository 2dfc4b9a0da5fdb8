"""The columns of uploaded lists: what a header means, and whom a row names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey, described
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DEFAULTS = ImportDefaults("list.csv", NOW, NOW)


def row(layout: ColumnMapping, cells: list[str]) -> RowValues:
    return RowValues(layout, cells, DEFAULTS, CellWarnings(), line=2)


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        (["URL", "Name"], ["linkedin_url", "full_name"]),
        (["HQ phone", "Name"], [None, "full_name"]),
    ],
)
def test_a_header_proposes_fields(header: list[str], fields: list[str | None]) -> None:
    assert upload_columns.propose(header) == fields


@pytest.mark.parametrize(
    ("fields", "cells", "phone"),
    [
        (
            ["full_name", "company_name", "mobile_phone"],
            ["Ada King", "Acme", "+44 20 7946 0000"],
            "+442079460000",
        ),
        (["full_name", "company_name", "phone"], ["Ada King", "Acme", "+44 20 7946 0000"], None),
        (["full_name", "phone"], ["Ada King", "+44 20 7946 0000"], "+442079460000"),
    ],
)
def test_a_phone_of_unknown_use_counts_only_if_nothing_else_names_the_person(
    fields: list[str], cells: list[str], phone: str | None
) -> None:
    layout = upload_columns.layout_of(fields)

    assert upload_columns.subject_of(row(layout, cells), layout).phone == phone


PROFILE = "https://www.linkedin.com/in/template"


@pytest.mark.parametrize(
    ("fields", "identifier"),
    [("linkedin_url", PROFILE), ("email", "ada.lovelace@acme.example"), ("mobile_phone", "+1 650 253 0000")],
)
def test_an_identifier_that_people_of_a_list_share_names_none_of_them(fields: str, identifier: str) -> None:
    layout = upload_columns.layout_of(["full_name", "company_name", fields])
    people = [["Ada Lovelace", "Acme", identifier], ["Bob Byron", "Beta", identifier], ["", "", ""]]
    shared = upload_columns.shared_in(people, layout, DEFAULTS)
    rows = [row(layout, cells) for cells in people[:2]]

    subjects = [upload_columns.subject_of(values, layout, shared) for values in rows]

    assert not any(subject.has_exact_key for subject in subjects)
    assert [subject.company_name for subject in subjects] == ["Acme", "Beta"]
    assert sum(values.warnings.count("shared_in_list") for values in rows) == 2


def test_a_row_with_only_a_shared_identifier_names_nobody() -> None:
    layout = upload_columns.layout_of(["full_name", "linkedin_url"])
    people = [["Ada Lovelace", PROFILE], ["Bob Byron", PROFILE], ["Ada King", "linkedin.com/in/ada-king"]]
    shared = upload_columns.shared_in(people, layout, DEFAULTS)
    values = row(layout, people[0])

    with pytest.raises(InvalidValue, match="Other people of the list have the same profile"):
        upload_columns.subject_of(values, layout, shared)

    assert values.warnings.lines == {WarningKey("linkedin_url", None, "shared_in_list"): [2]}
    assert upload_columns.subject_of(row(layout, people[2]), layout, shared).linkedin_url is not None


def test_a_second_profile_that_people_of_a_list_share_is_not_asked_for() -> None:
    layout = upload_columns.layout_of(["full_name", "linkedin_url", "linkedin_url"])
    member = "ACoAAAbCdEf_-123"
    people = [[name, f"linkedin.com/in/{name[:3]}-1", member] for name in ("Ada Lovelace", "Bob Byron")]
    shared = upload_columns.shared_in(people, layout, DEFAULTS)
    values = row(layout, people[0])

    subject = upload_columns.subject_of(values, layout, shared)

    assert (subject.linkedin_url, subject.member_url) == ("https://www.linkedin.com/in/ada-1", None)
    assert values.warnings.lines == {WarningKey("linkedin_url", None, "shared_in_list"): [2]}


@pytest.mark.parametrize("other", ["Ada King", "A. Lovelace", "Лавлейс Ада", ""])
def test_rows_about_one_person_may_share_all(other: str) -> None:
    layout = upload_columns.layout_of(["full_name", "linkedin_url"])

    assert upload_columns.shared_in([["Ada Lovelace", PROFILE], [other, PROFILE]], layout, DEFAULTS) == set()


def test_a_stored_warning_of_an_earlier_release_has_a_general_sentence() -> None:
    stored = [{"field": "email", "column": 0, "code": "no_longer_known", "count": 2, "lines": [3]}]

    [warning] = described(CellWarnings.from_json(stored), ["E-mail"], ["email"])

    assert (warning["code"], warning["effect"], warning["lines"]) == ("no_longer_known", "changed", [3])
    assert warning["detail"] == "These values were not read as they are written."
