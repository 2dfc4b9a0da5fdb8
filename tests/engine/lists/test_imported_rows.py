"""A row that was imported before is skipped only where importing it again would change nothing."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from findings_support import DAY, NOW
from sqlalchemy import delete, func, select

from app.domain.errors import Unavailable
from app.domain.lists.headers.column_mapping import Entity
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import imported_rows, importer, row_parser
from app.engine.lists.imported_rows import RETENTION, ImportedRow
from app.engine.lists.importer import ImportOptions
from app.infra.database import database_clock
from app.infra.database.db import Database

ADA = "Ada Lovelace,ada@acme.example,+1 617 555 0101,CTO,2026-10-01\n"
BOB = "Bob Ray,bob@acme.example,,CEO,2026-10-01\n"
LIST = "Name,Email,Phone,Title,Updated At\n"

Import = Callable[..., dict[str, int]]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of the rows that were parsed."""
    addresses: list[str] = []
    parse = row_parser.person_of

    def recorded(*arguments: Any) -> Any:
        found = parse(*arguments)
        addresses.extend(email.email.partition("@")[0] for email in found.found.emails)
        return found

    monkeypatch.setattr(row_parser, "person_of", recorded)
    return addresses


@pytest.fixture
def imported(database: Database) -> Import:
    """Imports a list and returns what was counted."""

    def run(text: str, **options: Any) -> dict[str, int]:
        summary = importer.run(
            database,
            ImportOptions(**{"entity": Entity.CONTACTS, "source": "list.csv"} | options),
            io.BytesIO(text.encode()),
            rejects=lambda _header: nullcontext(lambda _row, _reason: None),
            advance=lambda: None,
        )
        return {name: count for name, count in summary.counts.items() if count}

    return run


def count(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(ImportedRow)) or 0


def test_a_row_imported_before_is_not_parsed_again(imported: Import, parsed: list[str]) -> None:
    imported(LIST + ADA)

    again = imported(LIST + ADA + BOB)

    assert again == {"unchanged": 1, "new": 1}
    assert parsed == ["ada", "bob"]


def test_many_rows_imported_before_are_not_parsed_again(imported: Import, parsed: list[str]) -> None:
    rows = "".join(f"Ada,ada{index}@acme.example,,,2026-10-01\n" for index in range(120))
    imported(LIST + rows)

    assert imported(LIST + rows) == {"unchanged": 120}
    assert len(parsed) == 120


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (LIST + ADA.replace("CTO", "CEO"), {}),
        (LIST + ADA, {"source": "other.csv"}),
        (LIST + ADA, {"region": "US"}),
        (LIST + ADA, {"at": datetime(2026, 10, 1, tzinfo=UTC)}),
        (LIST + ADA, {"mapped": {"Title": "ignore"}}),
        ("Name,Email,Phone,Department,Updated At\n" + ADA, {}),
    ],
)
def test_another_row_or_the_same_with_other_options_is_parsed(
    imported: Import, parsed: list[str], text: str, options: dict[str, Any]
) -> None:
    imported(LIST + ADA)

    imported(text, **options)

    assert parsed == ["ada", "ada"]


def test_a_row_whose_contact_has_changed_since_is_compared_again(imported: Import, parsed: list[str]) -> None:
    imported(LIST + ADA)
    imported(LIST + ADA.replace("CTO", "CEO").replace("2026-10-01", "2026-10-02"))

    counts = [imported(LIST + ADA), imported(LIST + ADA)]

    assert counts == [{"unchanged": 1}, {"unchanged": 1}]
    assert parsed == ["ada", "ada", "ada"]


def test_a_person_suppressed_since_is_counted_as_suppressed(imported: Import, database: Database) -> None:
    imported(LIST + ADA + BOB)
    with database.transaction() as session:
        listed = [Identifier("email", "ada@acme.example")]
        suppressions.suppress(session, listed, reason="asked", now=database_clock.now())

    assert imported(LIST + ADA + BOB) == {"suppressed": 1, "unchanged": 1}


def test_a_person_whose_phone_is_no_longer_suppressed_is_added(imported: Import, database: Database) -> None:
    listed = [Identifier("phone", "+16175550101")]
    with database.transaction() as session:
        suppressions.suppress(session, listed, reason="asked", now=database_clock.now())
    imported(LIST + ADA)
    with database.transaction() as session:
        suppressions.remove(session, listed)

    assert imported(LIST + ADA) == {"new": 1}


@pytest.mark.parametrize(
    "text",
    [
        LIST + ADA.replace("2026-10-01", ""),
        LIST + ADA.replace("2026-10-01", "2999-01-01"),
        LIST + ADA.replace("+1 617 555 0101", "no number"),
        "Name,Email\nAda Lovelace,ada@acme.example\n",
        "Name,Email,Email Status,Updated At\nAda Lovelace,ada@acme.example,2999-01-01,2026-10-01\n",
    ],
    ids=["no date", "a date to come", "an invalid value", "no column of dates", "a status dated to come"],
)
def test_a_row_that_may_be_read_differently_later_is_parsed_again(
    imported: Import, parsed: list[str], text: str
) -> None:
    imported(text)

    imported(text)

    assert parsed == ["ada", "ada"]


def test_a_list_without_dates_that_is_given_one_is_not_parsed_again(
    imported: Import, parsed: list[str]
) -> None:
    text = "Name,Email\nAda Lovelace,ada@acme.example\n"
    imported(text, at=NOW - 30 * DAY)

    assert imported(text, at=NOW - 30 * DAY) == {"unchanged": 1}
    assert parsed == ["ada"]


def test_a_rejected_row_is_rejected_again(imported: Import) -> None:
    text = LIST + ADA + "nobody,,,,2026-10-01\n" + "a,b,c,d,e,f,g\n"

    assert imported(text) == {"new": 1, "rejected": 2}
    assert imported(text) == {"unchanged": 1, "rejected": 2}


def test_companies_have_no_digests(imported: Import, database: Database) -> None:
    text = "Company,Website,Updated At\nAcme,acme.example,2026-10-01\n"
    imported(text, entity=Entity.COMPANIES)

    assert imported(text, entity=Entity.COMPANIES) == {"unchanged": 1}
    assert count(database) == 0


def test_a_dry_run_stores_no_digest(imported: Import, database: Database) -> None:
    imported(LIST + ADA, dry_run=True)

    assert count(database) == 0


def test_digests_are_deleted_with_their_contact(imported: Import, database: Database) -> None:
    imported(LIST + ADA)
    with database.transaction() as session:
        session.execute(delete(Contact))

    assert count(database) == 0
    assert imported(LIST + ADA) == {"new": 1}


def test_a_row_is_compared_again_after_an_upgrade(
    imported: Import, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(LIST + ADA)
    monkeypatch.setattr(imported_rows, "_version", lambda: "another")

    assert imported(LIST + ADA) == {"unchanged": 1}
    assert parsed == ["ada", "ada"]


def test_the_version_includes_every_library_of_the_rules() -> None:
    distributions = packages_distributions()
    imported = {
        name.partition(".")[0]
        for folder in imported_rows._RULES  # noqa: SLF001 -- a list that must agree with the imports
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in _imported(node)
    }

    libraries = {distributions[name][0].lower() for name in imported & distributions.keys()}

    assert libraries - {"sqlalchemy"} == set(imported_rows._LIBRARIES)  # noqa: SLF001 -- likewise


def _imported(node: ast.AST) -> list[str]:
    """Return the modules that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_expired_digests_are_purged(imported: Import, database: Database) -> None:
    imported(LIST + ADA)
    with database.transaction() as session:
        imported_rows.purge_expired(session, now=database_clock.now())
    kept = count(database)

    with database.transaction() as session:
        imported_rows.purge_expired(session, now=database_clock.now() + RETENTION + DAY)

    assert (kept, count(database)) == (1, 0)


def test_a_busy_database_is_asked_again_for_the_digests(
    imported: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([Unavailable(), frozenset()])

    def busy(*_arguments: Any) -> frozenset[bytes]:
        answer = next(answers)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    monkeypatch.setattr(importer, "RETRY_DELAYS", (0,))
    monkeypatch.setattr(imported_rows, "unchanged", busy)

    assert imported(LIST + ADA) == {"new": 1}


def test_rows_whose_cells_are_divided_differently_are_different(imported: Import, parsed: list[str]) -> None:
    imported("Name,Email,Title,Department,Updated At\nAda,ada@acme.example,ab,c,2026-10-01\n")

    imported("Name,Email,Title,Department,Updated At\nAda,ada@acme.example,a,bc,2026-10-01\n")

    assert parsed == ["ada", "ada"]
