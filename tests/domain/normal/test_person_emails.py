"""Addresses as people write them, and texts that only look like addresses."""

# ruff: noqa: RUF001 -- typographic signs are what is read

from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cells import emails_in
from app.domain.lists.cells.email_cells import read_email
from app.domain.normal.person_emails import MAX_LENGTH, ImpossibleAddress, person_email, wrapped_email


@pytest.mark.parametrize(
    "text",
    [
        '"ada@acme.com"', "'ada@acme.com'", "“ada@acme.com”", "<ada@acme.com>",
        "[ada@acme.com]", "{ada@acme.com}",
        "MAILTO:ada@acme.com", "mailto:ada@acme.com?subject=Hi&cc=bob@acme.com", "mailto://ada@acme.com",
        "<mailto:ada@acme.com>", "SMTP:ada@acme.com", "e-mail: ada@acme.com", "Ada Lovelace <ada@acme.com>",
        '"Lovelace, Ada" <ada@acme.com>', "Ada Lovelace (ada@acme.com)", "ada@acme.com (work)",
        "ada@acme.com(work)",
        "ada@acme.com [home]", "ada@acme.com;", "ada@acme.com.", "ada@acme.com,", "ada@acme.com>",
        "ada@acme.com/",
        "a\u200bda@acme.com", "\ufeffada@acme.com", "ada@acme.com\u00a0", "ada＠acme.com", "ＡＤＡ@acme.com",
        "%20ada@acme.com", "ada%40acme.com", "&lt;ada@acme.com&gt;", "ada&#64;acme.com", "ADA@ACME.COM",
    ],
)  # fmt: skip
def test_what_stands_around_an_address_is_left_out(text: str) -> None:
    assert person_email(text) == "ada@acme.com"
    assert [read_email(part) for part in emails_in(text)] == ["ada@acme.com"]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("ada@acme.com,bob@acme.com", ["ada@acme.com", "bob@acme.com"]),
        ("ada@acme.com/bob@acme.com", ["ada@acme.com", "bob@acme.com"]),
        ("ada@acme.com / bob@acme.com", ["ada@acme.com", "bob@acme.com"]),
        ("ada@acme.com or bob@acme.com", ["ada@acme.com", "bob@acme.com"]),
        ("Ada <ada@acme.com>, 'Bob' <bob@acme.com>", ["ada@acme.com", "bob@acme.com"]),
        ("work: ada@acme.com; home: ada@gmail.com", ["ada@acme.com", "ada@gmail.com"]),
        ("ada @ acme.com", ["ada@acme.com"]),
        ("ada@ acme.com", ["ada@acme.com"]),
        ("O’Neil@acme.com", ["o'neil@acme.com"]),
        ("jean‑luc@acme.com", ["jean-luc@acme.com"]),
    ],
)
def test_a_cell_may_have_several_addresses_and_words(text: str, addresses: list[str]) -> None:
    assert [read_email(part) for part in emails_in(text)] == addresses


@pytest.mark.parametrize(
    "text",
    [
        "u003eada@acme.com", "u003cada@acme.com", "u0022ada@acme.com", "u200bada@acme.com",
        "20ada@acme.com",
        "noemail@acme.com", "no-email@acme.com", "noemail123@acme.com", "ada@noemail.com",
        "keine-email@acme.de", "email_not_unlocked@domain.com", "EmailNotFound@acme.com",
        "sincorreo@acme.es", "none@none.com", "na@na.com", "test@test.com", "test1@example.com",
        "user@domain.com",
        "name@company.com", "null.null@acme.com", "logo@2x.png", "icon@3x.svg", "photo@2x.jpg",
        "ada@acme.con",
        "ada@acme.cmo", "387a0c015e78429ca256c602993e2b92@sentry.io", "//ada@acme.com", "a=ada@acme.com",
        "20px!important@acme.com",
    ],
)  # fmt: skip
def test_an_address_that_no_person_has_is_refused(text: str) -> None:
    with pytest.raises(ImpossibleAddress):
        read_email(text)


@pytest.mark.parametrize(
    "text",
    ["ada@acme..com", "ada@@acme.com", ".ada@acme.com", "ada.@acme.com", "ada@acme", "ada", "ada at acme",
     "ada@acme.com bob@acme.com", "<>", "@", "x" * (MAX_LENGTH + 1) + "@acme.com"],
)  # fmt: skip
def test_a_text_that_is_not_one_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        person_email(text)


@pytest.mark.parametrize(
    "text",
    ["20ada@gmail.com", "20thcentury@acme.com", "2020vision@acme.com", "na@acme.com", "test@acme.com",
     "info@acme.com", "null@acme.com", "r&d@acme.com", "ada+news@acme.com", "ada@acme.example",
        "a_b-c@acme.test",
     "ada@acme.zip", "u0@acme.com", "20@acme.com"],
)  # fmt: skip
def test_an_unusual_address_is_accepted(text: str) -> None:
    assert read_email(text) == person_email(text) == text


def test_a_placeholder_has_a_normal_form_where_no_person_is_looked_for() -> None:
    assert wrapped_email("<NoEmail@acme.com>") == "noemail@acme.com"


@pytest.mark.parametrize(
    "text", ["<a@" * 40_000, "(a@" * 40_000, "&" * 130_000, "%20" * 40_000, "a@b(" * 30_000, " @" * 60_000]
)
def test_a_long_text_is_refused_at_once(text: str) -> None:
    for part in emails_in(text):
        with pytest.raises(InvalidValue):
            read_email(part)
