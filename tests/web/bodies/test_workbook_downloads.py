"""Each table that can be downloaded is also a workbook."""

from __future__ import annotations

import io

import pytest
from contact_page_support import reveal
from openpyxl import load_workbook
from page_support import Visitor
from users_support import SignedInUser

from app.web.bodies.received_files import XLSX


def cells(content: bytes) -> list[list[object]]:
    return [[cell.value for cell in row] for row in load_workbook(io.BytesIO(content)).active.rows]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "path", ["/api/contacts?format=xlsx", "/api/jobs?format=xlsx", "/api/usage?format=xlsx"]
)
def test_an_endpoint_returns_a_workbook(user: SignedInUser, path: str) -> None:
    reveal(user, "=Ada Lovelace")

    answer = user.client.get(path, headers=user.headers)

    assert (answer.status_code, answer.mimetype) == (200, XLSX)
    assert ".xlsx" in answer.headers["Content-Disposition"]
    assert cells(answer.data)


@pytest.mark.parametrize("path", ["/contacts/download?format=xlsx", "/history.xlsx", "/usage/day.xlsx"])
def test_a_page_downloads_a_workbook(browser: Visitor, user: SignedInUser, path: str) -> None:
    reveal(user)

    answer = browser.open(path)

    assert (answer.status_code, answer.mimetype) == (200, XLSX)


def test_a_number_keeps_its_plus_and_a_name_no_apostrophe(user: SignedInUser) -> None:
    reveal(user, "=Ada Lovelace")

    header, row = cells(user.client.get("/api/contacts?format=xlsx", headers=user.headers).data)

    found = dict(zip(header, row, strict=True))
    assert (found["full_name"], found["phone"]) == ("=Ada Lovelace", "+12025550143")


def test_the_receipts_as_text_name_no_person(browser: Visitor, user: SignedInUser) -> None:
    browser.send("/reveal", field="email", full_name="Grace Hopper", company="Navy")

    answer = browser.open("/history.csv")

    assert answer.text.startswith('\ufeff"id","kind"')
    assert "reveal.email" in answer.text
    assert "Hopper" not in answer.text
