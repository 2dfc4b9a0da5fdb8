from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import text

from app.infra.database.db import Database
from cli import companies

Run = Callable[..., Result]
LIST = (
    "Name,Website,Industry,Employees,Country,LinkedIn\n"
    "Acme,www.acme.example,Tools,137,Germany,linkedin.com/company/acme-demo\n"
    "Apex,,,many,,\n"
    ",,Tools,,,\n"
)


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(companies.group, [str(argument) for argument in arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "companies.csv"
    path.write_text(LIST, encoding="utf-8")
    return path


def test_a_list_of_companies_is_imported_and_counted(run: Run, file: Path) -> None:
    first = json.loads(run("import", file, "--json").stdout)
    again = json.loads(run("import", file, "--json").stdout)

    assert (first["new"], first["rejected"]) == (2, 1)
    assert [(found["field"], found["count"]) for found in first["warnings"]] == [("company_headcount", 1)]
    assert (again["new"], again["updated"], again["unchanged"]) == (0, 0, 2)


def test_exported_companies_can_be_imported_again(
    run: Run, file: Path, tmp_path: Path, database: Database
) -> None:
    run("import", file)
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    run("export", first)
    with database.transaction() as session:
        session.execute(text("DELETE FROM companies"))

    run("import", first)
    run("export", second)

    assert first.read_text(encoding="utf-8") == second.read_text(encoding="utf-8")
    assert (
        '"Acme","acme.example","https://www.linkedin.com/company/acme-demo","Tools","51-200","","DE"'
        in first.read_text(encoding="utf-8")
    )


def test_a_list_without_companies_is_explained(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "companies.csv"
    path.write_text("shoe,size\nx,1\n", encoding="utf-8")

    result = run("import", path)

    assert result.exit_code == 1
    assert "a company name, a domain or a LinkedIn page" in " ".join(result.stderr.split())
