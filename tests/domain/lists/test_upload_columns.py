"""The columns of uploaded lists: what a header means, and whom a row names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.lists import upload_columns
from app.domain.lists.row_values import ImportDefaults

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DEFAULTS = ImportDefaults("list.csv", NOW, NOW)


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

    assert upload_columns.subject_of(cells, layout, DEFAULTS).phone == phone
