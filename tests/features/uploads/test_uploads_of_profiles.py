"""Uploads with a column of profiles: words are nobody's profile, and a person may have two."""

from __future__ import annotations

import pytest
from jobs_support import figures
from stored_support import a_contact, an_email
from upload_support import Uploader, a_list, uploader
from worker_harness import worker_harness

from app.infra.database.db import Database
from app.settings import Settings

ROOT = "https://www.linkedin.com/in/"
MEMBER = f"{ROOT}ACoAAAbCdEf_-123"


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


def know(ada: Uploader, linkedin_url: str, member_url: str | None = None) -> None:
    with ada.harness.database.transaction() as session:
        contact = a_contact(session, None, linkedin_url=linkedin_url, member_url=member_url)
        an_email(session, contact, "ada@acme.com")


def found(
    ada: Uploader, header: tuple[str, ...], *rows: tuple[str, ...]
) -> tuple[bool, tuple[int, int, int]]:
    """Upload and run a list; return whether the address is in the result, and the balances."""
    upload_id = ada.ready(a_list(*rows, header=header))
    ada.start(upload_id)
    ada.run(upload_id)
    with ada.harness.database.reading() as session:
        balances = figures(session, ada.harness.workspace_id)
    return any("ada@acme.com" in cell for row in ada.csv(upload_id)[1:] for cell in row), balances


@pytest.mark.parametrize("word", ["Yes", "Link", "pending"])
def test_a_word_in_two_rows_answers_neither_and_costs_nothing(ada: Uploader, word: str) -> None:
    know(ada, f"{ROOT}{word.lower()}")
    header = ("Full name", "Company", "LinkedIn")

    is_found, balances = found(ada, header, ("Bob Byron", "Beta", word), ("Eve Ray", "Gamma", word))

    assert (is_found, balances[0]) == (False, 1000)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        (("Full name", "LinkedIn URL"), ("Ada Lovelace", f"{ROOT}ada")),
        (("Full name", "LinkedIn URL"), ("Ada Lovelace", MEMBER)),
        (("Full name", "Sales Navigator URL"), ("Ada Lovelace", MEMBER)),
        (("LinkedIn URL", "LinkedIn Member ID"), (f"{ROOT}ada-2", "ACoAAAbCdEf_-123")),
    ],
)
def test_a_person_is_found_by_either_profile(
    ada: Uploader, header: tuple[str, ...], cells: tuple[str, ...]
) -> None:
    know(ada, f"{ROOT}ada", MEMBER)

    is_found, balances = found(ada, header, cells)

    assert (is_found, balances[0]) == (True, 999)


def test_a_row_is_suppressed_by_its_second_profile(ada: Uploader) -> None:
    know(ada, f"{ROOT}ada")
    ada.harness.suppress("linkedin_url", MEMBER)
    header = ("LinkedIn URL", "LinkedIn Member ID")

    is_found, balances = found(ada, header, (f"{ROOT}ada", "ACoAAAbCdEf_-123"))

    assert (is_found, balances[0]) == (False, 1000)
