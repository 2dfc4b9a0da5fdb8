from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from openpyxl import Workbook
from sqlalchemy import select, text

from app.domain.errors import Unavailable
from app.engine.contacts.phones import Phone
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import import_runs, importer
from app.infra import clock
from app.infra.database.db import Database
from cli import contacts
from cli.lists import list_commands

Run = Callable[..., Result]
PEOPLE = (
    "Name,E-Mail,Company,Phone,Title,Updated At\n"
    "Ada Lovelace,ada@acme.example,Acme,+1 617 555 0101,CTO,2026-10-01\n"
    "Bob Ray,bob@acme.example,Acme,no number,=1+1,2026-10-01\n"
    "nobody,,,,,\n"
)
ADA = [Identifier("email", "ada@acme.example")]
CUT = "name,email\nAda Lovelace,ada@acme.example\nBob Ray,"


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments, **options: runner.invoke(
        contacts.group, [str(argument) for argument in arguments], **options
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "people.csv", PEOPLE)


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def answer(result: Result) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def figures(result: Result) -> dict[str, int]:
    names = ("read", "new", "updated", "unchanged", "rejected", "suppressed")
    return {name: value for name in names if (value := answer(result)[name])}


def warned(result: Result) -> list[tuple[str, str, int]]:
    """Return the column, code and count of each warning."""
    return [(found["column"], found["code"], found["count"]) for found in answer(result)["warnings"]]


def dump(database: Database, table: str) -> list[tuple[Any, ...]]:
    with database.reading() as session:
        return [tuple(row) for row in session.execute(text(f"SELECT * FROM {table} ORDER BY id"))]  # noqa: S608 -- table names from this test


def test_a_list_is_imported_and_counted(run: Run, file: Path) -> None:
    result = run("import", file, "--json")

    assert result.exit_code == 0
    assert figures(result) == {"read": 3, "new": 2, "rejected": 1}
    assert warned(result) == [("Name", "placeholder_name", 1), ("Phone", "invalid", 1)]
    assert answer(result)["columns"]["E-Mail"] == "email"
    assert answer(result)["encoding"] == "utf-8"


def test_importing_twice_changes_nothing(run: Run, file: Path, database: Database) -> None:
    run("import", file)
    before = dump(database, "contacts"), dump(database, "emails"), dump(database, "companies")

    again = run("import", file, "--json")

    assert figures(again) == {"read": 3, "unchanged": 2, "rejected": 1}
    assert (dump(database, "contacts"), dump(database, "emails"), dump(database, "companies")) == before


def test_a_corrected_list_without_dates_updates_on_the_same_day(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "name,email,title\nAda Lovelace,ada@acme.example,CTO\n")
    run("import", path)
    written(path, "name,email,title\nAda Lovelace,ada@acme.example,CEO\n")

    corrected, again = run("import", path, "--json"), run("import", path, "--json")

    assert figures(corrected) == {"read": 1, "updated": 1}
    assert figures(again) == {"read": 1, "unchanged": 1}


def test_the_result_is_printed_as_a_table(run: Run, file: Path) -> None:
    result = run("import", file)

    assert result.exit_code == 0
    assert "rejected" in result.stdout
    assert "Phone: 1 left out (line 3). These values could not be read." in " ".join(result.stdout.split())
    assert "--rejects" in result.stdout


def test_phones_without_a_country_are_counted_and_a_remedy_is_named(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "email,phone\nada@acme.example,(202) 224-3121\n")

    printed, found = run("import", path), run("import", path, "--json")
    remedied = run("import", path, "--json", "--country", "US")

    lines = " ".join(printed.stdout.split())
    assert "left out because neither the row nor the list shows their country: 1." in lines
    assert "Import the list again with --country US" in lines
    assert warned(found) == [("phone", "no_country", 1)]
    assert answer(found)["suggested_country"] == "US"
    assert (warned(remedied), answer(remedied)["suggested_country"]) == ([], None)


def test_the_country_assumed_for_phones_is_printed(run: Run, tmp_path: Path) -> None:
    rows = "a@b.example,+1 202 224 3121\nc@b.example,2022243122\n"
    path = written(tmp_path / "people.csv", f"email,phone\n{rows}")

    printed, found = run("import", path), run("import", path, "--json")

    assert "were read as numbers of US, as most of the list" in " ".join(printed.stdout.split())
    assert answer(found)["phones_read_as"] == "US"


def test_a_second_person_with_the_same_address_is_stored_and_reported(run: Run, tmp_path: Path) -> None:
    people = (
        "Name,E-Mail\nThomas Ray,ray@acme.example\nBob Low,bob@acme.example\nMaria Ray,ray@acme.example\n"
    )
    path = written(tmp_path / "people.csv", people)

    tried, first, again = (run("import", path, "--json", *options) for options in (["--dry-run"], [], []))
    exported = csv.DictReader(io.StringIO(run("export", "-").stdout))

    assert figures(tried) == figures(first) == {"read": 3, "new": 3}
    assert (answer(first)["conflicts"], answer(first)["conflict_lines"]) == (1, [4])
    assert figures(again) == {"read": 3, "unchanged": 3}
    assert answer(again)["conflicts"] == 0
    assert [row["email"] for row in exported if "Ray" in row["full_name"]] == ["ray@acme.example"] * 2


def test_conflicts_are_printed_with_their_lines(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "Name,E-Mail\nAda Ray,a@acme.example\nBob Low,a@acme.example\n")

    result = run("import", path)

    assert "E-Mail: 1 guessed (line 3). These rows have the e-mail address of a person with another" in (
        " ".join(result.stdout.split())
    )


def test_colleagues_share_the_address_of_a_role_without_a_conflict(run: Run, tmp_path: Path) -> None:
    path = written(
        tmp_path / "people.csv", "Name,E-Mail\nAda Ray,info@acme.example\nBob Low,info@acme.example\n"
    )

    assert answer(run("import", path, "--json"))["conflicts"] == 0


def test_an_address_of_another_person_is_reported_where_a_contact_gains_it(run: Run, tmp_path: Path) -> None:
    rows = "Ada Ray,a@acme.example,\nBob Low,b@acme.example,\nAda Ray,a@acme.example,b@acme.example\n"
    path = written(tmp_path / "people.csv", f"Name,Email,Email 2\n{rows}")

    assert answer(run("import", path, "--json"))["conflict_lines"] == [4]


def test_unknown_columns_are_named(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "email,shoe size\nada@acme.example,38\n")

    result = run("import", path)

    assert "Columns ignored: shoe size." in result.stdout


def test_rejected_rows_are_written_to_a_file(run: Run, file: Path, tmp_path: Path) -> None:
    rejects = tmp_path / "rejects.csv"

    run("import", file, "--rejects", rejects)

    rows = list(csv.reader(io.StringIO(rejects.read_text(encoding="utf-8"))))
    assert rows[0][:3] == ["line", "reason", "Name"]
    assert rows[1][0] == "4"
    assert "does not identify a person" in rows[1][1]
    assert rows[1][2] == "nobody"
    assert rejects.stat().st_mode & 0o777 == 0o600


def test_a_truncated_row_is_rejected(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", f'{CUT}"bob@ac')

    result = run("import", path, "--json", "--rejects", tmp_path / "rejects.csv")

    assert figures(result) == {"read": 2, "new": 1, "rejected": 1}
    assert "The file ends inside this row." in (tmp_path / "rejects.csv").read_text(encoding="utf-8")


def test_a_dry_run_writes_nothing(run: Run, file: Path, database: Database) -> None:
    result = run("import", file, "--dry-run", "--json")
    table = run("import", file, "--dry-run")

    assert figures(result) == {"read": 3, "new": 2, "rejected": 1}
    assert "dry run" in table.stdout
    assert dump(database, "contacts") == dump(database, "import_runs") == []


def test_columns_can_be_mapped_by_an_option(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "wer,wo=was,title\nAda Lovelace,Acme,x\n")

    result = run(
        "import",
        path,
        "--json",
        "--map",
        "wer=full_name",
        "--map",
        "wo=was=company name",
        "--map",
        "title=ignore",
    )

    assert figures(result) == {"read": 1, "new": 1}
    assert answer(result)["columns"] == {"wer": "full_name", "wo=was": "company_name", "title": None}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--map", "wer=shoe_size"), "'shoe_size' is not a field"),
        (("--map", "who=email"), "The list has no column 'who'. Columns found: 'wer', 'was'."),
        (("--map", "nothing"), "is not of the form column=field"),
        (("--region", "Atlantis"), "This is not a country"),
        (("--date", "2999-01-01"), "is in the future"),
        (("--delimiter", "::"), "The delimiter must be one character"),
        (("--encoding", "klingon"), "The encoding 'klingon' is unknown"),
        ((), "Columns found: 'wer', 'was'. Assign fields with --map"),
    ],
)
def test_invalid_options_are_explained(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    path = written(tmp_path / "people.csv", "wer,was\nAda,x\n")

    result = run("import", path, *arguments)

    assert result.exit_code != 0
    assert sentence in " ".join(result.stderr.split())


def test_a_file_without_a_readable_row_is_a_failure(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "name,email\nAda,\n")

    result = run("import", path, "--json")

    assert result.exit_code == 1
    assert "No row could be read." in result.stderr
    assert figures(result) == {"read": 1, "rejected": 1}


def test_a_list_can_be_piped(run: Run, database: Database) -> None:
    result = run("import", "-", "--json", input=PEOPLE)

    assert figures(result) == {"read": 3, "new": 2, "rejected": 1}
    with database.reading() as session:
        sources = session.scalars(text("SELECT sources FROM emails")).all()
    assert ["standard input" in str(source) for source in sources] == [True, True]


def test_source_date_and_region_apply_to_the_whole_list(run: Run, tmp_path: Path, database: Database) -> None:
    path = written(tmp_path / "people.csv", "email,phone\nada@acme.example,030 23125 001\n")

    run("import", path, "--source", "fair 2025", "--date", "2025-05-01", "--region", "Germany")

    with database.reading() as session:
        [sources] = session.scalars(text("SELECT sources FROM phones")).all()
        [e164] = session.scalars(select(Phone.e164)).all()
    assert e164 == "+493023125001"
    assert "fair 2025" in str(sources)
    assert "2025-05-01T00:00:00.000Z" in str(sources)


def test_a_missing_file_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("import", tmp_path / "away.csv")

    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_an_unreadable_file_is_an_error(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == file:
            raise PermissionError(13, "Permission denied")
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)

    result = run("import", file)

    assert "cannot be read: Permission denied" in " ".join(result.stderr.split())


def test_many_rows_are_imported_in_batches(
    run: Run, tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "BATCH", 10)
    rows = "".join(f"Ada Lovelace{index % 23},a{index % 23}@acme.example\n" for index in range(46))
    path = written(tmp_path / "people.csv", f"name,email\n{rows}")

    result = run("import", path, "--json")

    assert figures(result) == {"read": 46, "new": 23, "unchanged": 23}
    with database.reading() as session:
        assert session.scalar(text("SELECT rows FROM import_runs")) == 23
        assert session.scalar(select(import_runs.LATEST)) is not None


def test_an_import_that_only_updates_is_recorded_too(run: Run, tmp_path: Path, database: Database) -> None:
    run("import", written(tmp_path / "old.csv", "name,email,title\nAda Lovelace,ada@acme.example,CTO\n"))
    run("import", written(tmp_path / "new.csv", "name,email,title\nAda Lovelace,ada@acme.example,CEO\n"))

    with database.reading() as session:
        assert session.scalars(text("SELECT rows FROM import_runs")).all() == [1, 1]


def test_a_busy_database_is_retried(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [Unavailable(), Unavailable()]
    admit = importer.ingest.ingest_contacts

    def busy(*arguments: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return admit(*arguments, **options)

    monkeypatch.setattr(importer, "RETRY_DELAYS", (0, 0))
    monkeypatch.setattr(importer.ingest, "ingest_contacts", busy)

    result = run("import", file, "--json")

    assert figures(result) == {"read": 3, "new": 2, "rejected": 1}


def test_an_export_can_be_imported_again(run: Run, tmp_path: Path, database: Database) -> None:
    extra = (
        "Name,Email,Email 2,Email 2 Status,Phone,Phone 2,Phone 2 Type,Phone 2 DNC,Title,"
        "City,Country,Company,Website,Last verified\n"
        "Ada Lovelace,ada@acme.example,al@acme.example,catch-all,+1 617 555 0101,+1 617 555 0100 x42,hq,yes,"
        "=SUM(A1),Boston,USA,Acme,acme.example,2026-10-01\n"
        "Madonna,m@other.example,,,,,,,+1 singer,,,,,\n"
        "Íñigo García Lorca,,,,,,,,-,,,Olivares del Sur,,2026-01-01\n"
    )
    run("import", written(tmp_path / "people.csv", extra))
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    result = run("export", first)
    with database.transaction() as session:
        session.execute(text("DELETE FROM contacts"))
        session.execute(text("DELETE FROM companies"))

    again = run("import", first, "--json")
    run("export", second)

    assert result.stdout == f"Wrote 3 rows to {first}.\n"
    assert figures(again) == {"read": 3, "new": 3}
    assert second.read_text(encoding="utf-8") == first.read_text(encoding="utf-8")
    assert "'=SUM(A1)" in first.read_text(encoding="utf-8")
    assert first.stat().st_mode & 0o777 == 0o600


def test_a_workbook_is_imported_like_a_csv_file(run: Run, tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Name", "E-Mail", "Phone", "Country"])
    book.active.append(["Ada Lovelace", "ada@acme.example", 6175550101.0, "USA"])
    book.active.append(["nobody"])
    book.create_sheet("Old").append(["Name", "E-Mail"])
    book.save(tmp_path / "people.xlsx")

    result, printed = (
        run("import", tmp_path / "people.xlsx", "--json"),
        run("import", tmp_path / "people.xlsx"),
    )
    exported = csv.DictReader(io.StringIO(run("export", "-").stdout))

    assert figures(result) == {"read": 2, "new": 1, "rejected": 1}
    assert (answer(result)["sheet"], answer(result)["unread_sheets"]) == ("Sheet", ["Old"])
    assert "Sheets not read: Old." in printed.stdout
    assert [(row["full_name"], row["phone"]) for row in exported] == [("Ada Lovelace", "'+16175550101")]


def test_a_sheet_can_be_chosen(run: Run, tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Name", "E-Mail"])
    book.create_sheet("Two").append(["E-Mail"])
    book["Two"].append(["bob@acme.example"])
    book.save(tmp_path / "people.xlsx")

    assert figures(run("import", tmp_path / "people.xlsx", "--sheet", "Two", "--json")) == {
        "read": 1,
        "new": 1,
    }


def test_suppressed_people_are_not_exported(run: Run, file: Path, app: APIFlask) -> None:
    run("import", file)
    with app.extensions["services"].database.transaction() as session:
        suppressions.suppress(session, ADA, reason="asked", now=clock.now())

    result = run("export", "-")

    assert [row["full_name"] for row in csv.DictReader(io.StringIO(result.stdout))] == ["Bob Ray"]


def test_a_confidence_of_one_is_not_exported_as_a_yes(run: Run, tmp_path: Path) -> None:
    header = "Name,Email,Email Confidence,Phone,Phone DNC\n"
    ada = "Ada Lovelace,ada@acme.example,100%,+1 617 555 0101,yes\n"
    run("import", written(tmp_path / "people.csv", header + ada))

    [row] = csv.DictReader(io.StringIO(run("export", "-").stdout))

    assert (row["email_confidence"], row["phone_do_not_call"]) == ("1.0", "yes")


def test_people_who_opted_out_are_rejected_and_counted(run: Run, tmp_path: Path) -> None:
    header = "Name,Email,Email Opt Out\n"
    rows = "Ada Lovelace,ada@acme.example,WAHR\nBob Ray,bob@acme.example,FALSCH\n"
    rows += "Cy Dee,cy@acme.example,perhaps\n"

    result = run("import", written(tmp_path / "people.csv", header + rows), "--json")

    assert figures(result) == {"read": 3, "new": 1, "rejected": 2}
    assert [(warning["code"], warning["count"]) for warning in answer(result)["warnings"]] == [
        ("opted_out", 2),
        ("unread_flag", 1),
    ]


def test_the_json_of_an_export_has_the_number_of_rows(run: Run, file: Path, tmp_path: Path) -> None:
    run("import", file)

    result = run("export", tmp_path / "out.csv", "--json")

    assert answer(result) == {"file": str(tmp_path / "out.csv"), "rows": 2}


def test_an_empty_export_has_a_header(run: Run) -> None:
    result = run("export", "-")

    assert result.stdout.startswith('"full_name","first_name","last_name","title",')
    assert len(result.stdout.splitlines()) == 1


def test_an_export_that_cannot_be_written_is_an_error(run: Run, tmp_path: Path) -> None:
    result = run("export", tmp_path / "no folder" / "out.csv")

    assert result.exit_code == 1
    assert "cannot be written" in " ".join(result.stderr.split())


def test_a_failed_export_leaves_no_file(
    run: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", file)
    monkeypatch.setattr(list_commands, "csv_line", lambda _text: 1 / 0)

    result = run("export", tmp_path / "out.csv")

    assert isinstance(result.exception, ZeroDivisionError)
    assert not list(tmp_path.glob("out.csv*"))


def test_a_word_in_a_column_of_profiles_joins_nobody_and_is_counted(
    run: Run, tmp_path: Path, database: Database
) -> None:
    people = (
        "Full name,Company,Email,LinkedIn\n"
        "Ada Lovelace,Acme,ada@acme.example,Yes\n"
        "Bob Byron,Beta,bob@beta.example,Yes\n"
    )

    result = run("import", written(tmp_path / "people.csv", people), "--json")

    assert figures(result) == {"read": 2, "new": 2}
    assert warned(result) == [("LinkedIn", "not_a_profile", 2)]
    with database.reading() as session:
        assert set(session.scalars(text("SELECT linkedin_url FROM contacts"))) == {None}


def test_two_lists_with_two_profiles_of_one_person_make_one_contact(
    run: Run, tmp_path: Path, database: Database
) -> None:
    root = "https://www.linkedin.com/in/"
    first = f"Name,Email,LinkedIn\nAda Lovelace,ada@acme.example,{root}ada\n"
    second = f"Name,Email,Sales Navigator URL\nAda Lovelace,ada@acme.example,{root}ACoAAAbCdEf_-123\n"

    for number, people in enumerate((first, second)):
        run("import", written(tmp_path / f"{number}.csv", people))

    with database.reading() as session:
        urls = session.execute(text("SELECT linkedin_url, member_url FROM contacts")).all()
    assert urls == [(f"{root}ada", f"{root}ACoAAAbCdEf_-123")]
