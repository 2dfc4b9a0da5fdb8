"""A row of an uploaded list names a person or is refused with a reason, whatever its cells contain."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.upload_columns import UPLOAD_FIELDS
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SIGNS = list(",. ()[]-|/&'\"#@:;+<>\t\n")
WORDS = [
    "a",
    "B",
    "Dr.",
    "PhD",
    "Jr",
    "von",
    "née",
    "II",
    "12",
    "+44",
    "x1",
    "CEO",
    "GmbH",
    "and",
    "c/o",
    "漢",
]
MARKS = ["\u0301", "\u202e", "%20", "a@b.example", "www.", "linkedin.com/in/", "(she/her)", "Open to work"]
TEXTS = st.lists(st.sampled_from(SIGNS + WORDS + MARKS), max_size=8).map("".join)


def read(row: dict[str, str]) -> None:
    layout = upload_columns.layout_of(list(row))
    values = RowValues(layout, list(row.values()), ImportDefaults("list", NOW, NOW), CellWarnings(), 2)
    try:
        upload_columns.subject_of(values, layout)
    except InvalidValue as refusal:
        assert str(refusal)  # noqa: PT017 -- a row may also be read


@settings(max_examples=300, deadline=None)
@given(row=st.dictionaries(st.sampled_from(UPLOAD_FIELDS), TEXTS, min_size=1))
def test_a_row_of_any_texts_names_a_person_or_is_refused(row: dict[str, str]) -> None:
    read(row)


@pytest.mark.parametrize("part", ["a,((a", "a,)(a", "Dr.,((Dr.", ", , , aa", "a,, b"])
def test_a_name_with_an_empty_part_between_commas_is_read(part: str) -> None:
    read({"first_name": "Ethan", "last_name": part, "company_name": "Acme"})
    read({"first_name": part, "last_name": "Rivera", "company_name": "Acme"})
    read({"full_name": f"Rivera {part}", "company_name": "Acme"})


@pytest.mark.parametrize("cell", ["(,12", "(\u0301&0", "a+,12CEO", "> +/12345"])
def test_a_phone_cell_with_digits_in_its_last_part_only_is_read(cell: str) -> None:
    read({"full_name": "Ada Lovelace", "company_name": "Acme", "phone": cell})
