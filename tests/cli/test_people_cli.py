from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from apiflask import APIFlask
from click.testing import Result
from stored_support import a_company, a_contact, a_phone, an_email

from app.engine.contacts import emails
from app.engine.contacts.contacts import Contact
from app.infra.database.db import Database
from cli import people

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(people.group, list(arguments))


@pytest.fixture
def ada(database: Database) -> str:
    with database.transaction() as session:
        contact = a_contact(session, a_company(session), title="Engineer")
        an_email(session, contact, "ada@acme.com")
        an_email(session, contact, "wrong@acme.com")
        a_phone(session, contact, "+16175550155")
        return contact.id


@pytest.mark.usefixtures("app")
def test_the_export_has_every_value(run: Run, ada: str) -> None:
    result = run("export", "--email", "Ada@ACME.com")

    document = json.loads(result.stdout)
    [contact] = document["contacts"]
    assert contact["id"] == ada
    assert {value["field"] for value in contact["values"]} >= {"full_name", "title", "company"}
    assert [row["phone"] for row in contact["phones"]] == ["+16175550155"]


@pytest.mark.usefixtures("app", "ada")
def test_only_its_owner_can_read_the_exported_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ada.json"

    result = run("export", "--email", "ada@acme.com", str(file))

    assert result.exit_code == 0, result.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(json.loads(file.read_text(encoding="utf-8"))["contacts"]) == 1


@pytest.mark.usefixtures("app", "ada")
def test_a_file_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "missing" / "ada.json"

    result = run("export", "--email", "ada@acme.com", str(file))

    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: {file} cannot be written: No such file or directory.\n",
    )


def test_a_person_is_corrected(run: Run, ada: str, database: Database) -> None:
    result = run(
        "rectify",
        "--contact-id",
        ada,
        "--set",
        "full_name=Ada King",
        "--clear",
        "title",
        "--remove-email",
        "wrong@acme.com",
        "--remove-phone",
        "+1 617 555 0155",
    )

    assert result.output == "Corrected: full_name, title, emails, phones\n"
    with database.reading() as session:
        contact = session.get_one(Contact, ada)
        assert (contact.full_name, contact.last_name, contact.title) == ("Ada King", "King", None)
        assert [row.email for row in emails.by_contact(session, [ada])[ada]] == ["ada@acme.com"]


def test_a_correction_that_changes_nothing_says_so(run: Run, ada: str) -> None:
    result = run("rectify", "--contact-id", ada, "--set", "title=Engineer", "--json")

    assert json.loads(result.stdout) == {"contact_ids": [ada], "changed": []}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "title"], "--set FIELD=VALUE"),
        (["--set", "id=1"], "--set FIELD=VALUE"),
        (["--set", "country=Nowhere"], "two letters of a country"),
        (["--set", "company=Other"], "only be removed"),
        (["--set", "full_name= "], "cannot be removed"),
        (["--set", f"title={'x' * 201}"], "at most 200"),
        (["--remove-email", "x"], "not an e-mail address"),
        ([], "Specify --set"),
    ],
)
def test_an_invalid_correction_is_one_sentence(
    run: Run, ada: str, arguments: list[str], sentence: str
) -> None:
    result = run("rectify", "--contact-id", ada, *arguments)

    assert result.exit_code in {1, 2}
    assert sentence in result.output


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rectify", "--email", "nobody@acme.com", "--set", "title=x"], "No contact matches."),
        (["rectify", "--set", "title=x"], "Specify --email"),
        (["export", "--contact-id", "con_none"], "There is no contact with this id."),
    ],
)
def test_an_unknown_person_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    result = run(*arguments)

    assert result.exit_code in {1, 2}
    assert sentence in result.output
