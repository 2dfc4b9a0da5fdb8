"""Cells of e-mails as lists have them: `person_email_cases.csv` has each with its source."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in
from app.domain.lists.cells.email_cells import read_email
from app.domain.normal.emails import email_kind, email_reasons

CASES = list(
    csv.DictReader(
        (Path(__file__).parent / "person_email_cases.csv").read_text(encoding="utf-8").splitlines()
    )
)


def addresses(cell: str) -> list[str]:
    found = []
    for part in emails_in(cell):
        try:
            found.append(read_email(part))
        except InvalidValue:
            continue
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["cell"])
def test_a_cell_has_the_addresses_that_are_meant(case: dict[str, str]) -> None:
    assert addresses(case["cell"]) == case["addresses"].split()


@pytest.mark.parametrize(
    "local",
    [
        *("donotreply", "do-not-reply", "buero", "biuro", "accueil", "direction", "ufficio", "segreteria"),
        *("receptie", "administratie", "firmapost", "hey", "compras", "facturation"),
        *("contact.paris", "info.de", "sales-uk", "office_berlin", "kontakt.wien"),
    ],
)
def test_a_mailbox_of_a_task_is_one_in_other_languages_and_of_a_place(local: str) -> None:
    assert email_reasons(f"{local}@acme.example") == ("role",)


@pytest.mark.parametrize("local", ["information.architect", "salesman", "office", "supporter", "infoada"])
def test_a_word_that_only_begins_like_a_task_is_not_its_mailbox(local: str) -> None:
    assert ("role" in email_reasons(f"{local}@acme.example")) is (local == "office")


def test_an_address_that_apple_made_for_a_person_is_personal() -> None:
    assert email_kind("abc123@privaterelay.appleid.com") == "personal"
