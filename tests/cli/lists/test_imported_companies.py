"""What companies become of rows whose websites are shared by many."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from apiflask import APIFlask
from click import Group
from sqlalchemy import select

from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.infra.database.db import Database
from cli import companies, contacts

Import = Callable[..., list[tuple[str, str, int, list[int]]]]
HEADER = "Full name,Company,Website,Email"


@pytest.fixture
def imported(app: APIFlask, tmp_path: Path) -> Import:
    """Import a list; return column, code, count and lines of each warning."""

    def run(*lines: str, command: Group = contacts.group) -> list[tuple[str, str, int, list[int]]]:
        path = tmp_path / "list.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        result = app.test_cli_runner().invoke(command, ["import", str(path), "--json"])
        assert result.exit_code == 0, result.output
        warnings = json.loads(result.stdout)["warnings"]
        return [(one["column"], one["code"], one["count"], one["lines"]) for one in warnings]

    return run


def stored(database: Database) -> set[tuple[str | None, str | None, str | None]]:
    """Return the name of each person with the name and domain of the company."""
    query = select(Contact.full_name, Company.name, Company.domain)
    with database.reading() as session:
        rows = session.execute(query.outerjoin(Company, Company.id == Contact.company_id))
        return {(row[0], row[1], row[2]) for row in rows}


def test_pages_at_one_host_and_bodies_of_one_government_are_different_companies(
    imported: Import, database: Database
) -> None:
    warnings = imported(
        HEADER,
        "Jo Tate,Acme Bikes,https://sites.google.com/view/acme-bikes,",
        "Kit Usher,Zenith Law,https://sites.google.com/view/zenith-law,",
        "Lea Vance,Albury City Council,http://www.alburycity.nsw.gov.au,",
        "Max Wolf,Ryde City Council,http://www.ryde.nsw.gov.au,",
        "Nia Xu,Google,https://www.google.com,",
    )

    assert stored(database) == {
        ("Jo Tate", "Acme Bikes", None),
        ("Kit Usher", "Zenith Law", None),
        ("Lea Vance", "Albury City Council", None),
        ("Max Wolf", "Ryde City Council", None),
        ("Nia Xu", "Google", "google.com"),
    }
    assert warnings == [("Website", "shared_host", 4, [2, 3, 4])]


def test_the_second_name_at_a_domain_is_a_company_without_it_and_is_told(
    imported: Import, database: Database
) -> None:
    lines = (
        HEADER,
        "Jo Tate,Acme Bikes,both.example,",
        "Kit Usher,Zenith Law,both.example,",
        "Lea Vance,Acme Bikes Ltd,www.both.example,",
    )
    warnings = imported(*lines)

    companies = {
        ("Jo Tate", "Acme Bikes", "both.example"),
        ("Kit Usher", "Zenith Law", None),
        ("Lea Vance", "Acme Bikes", "both.example"),
    }
    assert stored(database) == companies
    assert warnings == [("Website", "taken_domain", 1, [3])]
    assert imported(*lines) == warnings
    assert stored(database) == companies


def test_addresses_at_one_domain_do_not_make_two_names_one_company(
    imported: Import, database: Database
) -> None:
    lines = (
        "Full name,Company,Email",
        "Jo Tate,Acme Bikes,jo@both.example",
        "Kit Usher,Zenith Law,kit@both.example",
        "Lea Vance,Acme Bikes Ltd,lea@both.example",
        "Max Wolf,,max@both.example",
    )
    warnings = imported(*lines)

    assert {company for _, company, _ in stored(database)} == {"Acme Bikes", "Zenith Law"}
    assert [(code, lines) for _, code, _, lines in warnings] == [("taken_domain", [3])]
    assert imported(*lines) == warnings


def test_two_companies_with_addresses_at_one_domain_are_two_if_both_are_known(
    imported: Import, database: Database
) -> None:
    imported("Name,Domain", "Acme Bikes,both.example", "Zenith Law,", command=companies.group)

    warnings = imported(
        "Full name,Company,Email",
        "Jo Tate,Acme Bikes,jo@both.example",
        "Kit Usher,Zenith Law,kit@both.example",
    )

    assert stored(database) == {
        ("Jo Tate", "Acme Bikes", "both.example"),
        ("Kit Usher", "Zenith Law", None),
    }
    assert warnings == [("company_domain", "taken_domain", 1, [3])]


def test_a_list_of_companies_counts_taken_domains(imported: Import) -> None:
    warnings = imported(
        "Name,Domain", "Acme Bikes,both.example", "Zenith Law,both.example", command=companies.group
    )

    assert warnings == [("Domain", "taken_domain", 1, [])]


def test_two_freelancers_of_one_name_are_not_colleagues(imported: Import, database: Database) -> None:
    warnings = imported(
        HEADER,
        "Ada Lovelace,Freelance,,ada@one.example",
        "Ada Lovelace,Self-employed,,ada@gmail.com",
        "Ada Lovelace,Freelance,,",
    )

    assert stored(database) == {("Ada Lovelace", None, "one.example"), ("Ada Lovelace", None, None)}
    assert warnings == [("Company", "no_employer", 3, [2, 3, 4])]
