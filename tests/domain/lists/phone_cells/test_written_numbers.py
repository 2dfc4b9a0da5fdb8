"""Numbers as lists have them: `written_numbers.csv` has each with its country and its source."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.lists.headers.column_mapping import Entity
from app.domain.lists.headers.column_values import Kind, fit_columns, kind_of
from app.domain.lists.phone_cells.phone_labels import label_type
from app.domain.lists.phone_cells.phone_reading import PhoneRegions
from app.domain.lists.phone_cells.phone_splits import ReadPhone, read_phones

CASES = list(
    csv.DictReader((Path(__file__).parent / "written_numbers.csv").read_text(encoding="utf-8").splitlines())
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['country']} {case['cell']}")
def test_a_cell_has_the_number_that_is_meant(case: dict[str, str]) -> None:
    found = list(read_phones(case["cell"], lambda: PhoneRegions((case["country"],))))

    numbers = [read.number.e164 for read in found if isinstance(read, ReadPhone)]
    assert numbers == [case["number"]] * bool(case["number"])


def test_a_column_of_links_to_whatsapp_is_one_of_numbers() -> None:
    columns = fit_columns(
        ["Name", "WhatsApp number"], Entity.CONTACTS, [["Ada Low", "https://wa.me/16502530000"]]
    )

    assert not columns.unfit
    assert kind_of("https://acme.example/16502530000") is Kind.LINK


def test_c_is_the_label_of_a_mobile() -> None:
    assert label_type("C") == "mobile"
