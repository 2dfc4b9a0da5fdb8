"""How `flask contacts import` reads a file, and what it says of its encoding, header, dates and columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result

from cli import contacts

Run = Callable[..., Result]
CZECH = "Jméno;Příjmení;E-mail\nJiří;Dvořák;jiri@acme.example\n".encode("cp1250")
PLAIN = b"Ada Lovelace;ada.lovelace@acme.example\nBob Ray;bob.ray@acme.example\n"
DATED = (
    b"Name,Email,Last verified\nAda Low,ada@acme.example,03/04/2026\nBob Ray,bob@acme.example,05/04/2026\n"
)


@pytest.fixture
def run(app: APIFlask, tmp_path: Path) -> Run:
    runner = app.test_cli_runner()

    def invoke(content: bytes, *arguments: str) -> Result:
        file = tmp_path / "people.csv"
        file.write_bytes(content)
        return runner.invoke(contacts.group, ["import", str(file), *arguments])

    return invoke


def exported(app: APIFlask) -> str:
    return app.test_cli_runner().invoke(contacts.group, ["export", "-"]).stdout


def answer(result: Result) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(result.stdout)
    return body


def test_an_old_encoding_is_guessed_and_told(run: Run, app: APIFlask) -> None:
    result = run(CZECH)

    assert "It was read as cp1250, by the words that it contains. Use --encoding" in " ".join(
        result.output.split()
    )
    assert "Jiří Dvořák" in exported(app)


def test_another_encoding_is_named_if_the_words_do_not_decide(run: Run) -> None:
    content = "Name;Email\nŞtefan Ionescu;s@acme.example\n".encode("cp1250")
    result = run(content)
    body = answer(run(content, "--json"))

    assert "; cp1257 is possible, too." in " ".join(result.output.split())
    assert (body["encoding"], body["encoding_is_guessed"], body["other_encoding"]) == (
        "cp1250",
        True,
        "cp1257",
    )


def test_the_encoding_can_be_named(run: Run, app: APIFlask) -> None:
    body = answer(run(CZECH, "--json", "--encoding", "cp1252"))

    assert (body["encoding"], body["encoding_is_guessed"]) == ("cp1252", False)
    assert "Jiøí" in exported(app)


def test_a_list_without_a_header_is_imported_and_what_was_guessed_is_told(run: Run, app: APIFlask) -> None:
    result = run(PLAIN)
    text = " ".join(result.output.split())

    assert "The list was read without a header. Use --header if its first row is one." in text
    assert "Column 1: 2 guessed (line 1, 2). The list has no header;" in text
    assert "Ada Lovelace" in exported(app)


def test_whether_there_is_a_header_can_be_said(run: Run) -> None:
    assert answer(run(PLAIN, "--json", "--no-header", "--map", "Column 1=ignore"))["read"] == 2
    body = answer(run(PLAIN, "--json", "--header", "--map", "ada.lovelace@acme.example=email"))
    assert (body["read"], body["has_header"]) == (1, True)


def test_a_column_whose_values_do_not_fit_is_left_out_and_told(run: Run) -> None:
    body = answer(run(b"Attendee,Email\n1490213377,ada@acme.example\n", "--json"))

    assert body["columns"] == {"Attendee": None, "Email": "email"}
    [warning] = body["warnings"]
    assert (warning["column"], warning["code"], warning["effect"]) == ("Attendee", "unfit_column", "left_out")


@pytest.mark.parametrize(
    ("arguments", "day", "warned"), [((), "2026-05-04", 2), (("--dates", "dmy"), "2026-04-05", 0)]
)
def test_the_order_of_dates_is_told_or_given(
    run: Run, app: APIFlask, arguments: tuple[str, ...], day: str, warned: int
) -> None:
    body = answer(run(DATED, "--json", *arguments))

    assert sum(warning["count"] for warning in body["warnings"] if warning["code"] == "date_order") == warned
    assert day in exported(app)


def test_a_title_of_more_than_300_characters_is_cut_and_told(run: Run) -> None:
    long, short = "x" * 301, f"{'y' * 150}{' ' * 200}{'y' * 149}"
    content = f"Email,Title\na@acme.example,{long}\nb@acme.example,{short}\n"
    [warning] = answer(run(content.encode(), "--json"))["warnings"]

    assert (warning["column"], warning["code"], warning["count"]) == ("Title", "long_text", 1)
    assert (warning["effect"], warning["lines"]) == ("changed", [2])


def test_addresses_that_no_person_has_are_told_apart_from_unreadable_ones(run: Run) -> None:
    content = b"Name,Company,Email\nAda Low,Acme,noemail@acme.example\nBob Ray,Acme,bob(at)acme\n"
    codes = {warning["code"]: warning["lines"] for warning in answer(run(content, "--json"))["warnings"]}

    assert codes == {"impossible_email": [2], "invalid": [3]}
