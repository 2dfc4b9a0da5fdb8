from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import select
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own

from app.engine.accounts import accounts, workspaces
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppressions import Suppression
from app.infra import clock
from app.infra.database.db import Database
from cli import people as commands

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments, **options: runner.invoke(commands.group, ["erase", *arguments], **options)


@pytest.fixture
def ids(app: APIFlask, database: Database) -> list[str]:
    """Two colleagues with the same switchboard number; a workspace owns the e-mails of the first."""
    with database.transaction() as session:
        workspace = workspaces.create(session, name="Acme", now=clock.now())
        accounts.create(
            session, workspace.id, email="ada@acme.com", name="Ada", password_hash="x", now=clock.now()
        )
        company = a_company(session)
        ada, bob = a_contact(session, company, linkedin_url=ADA_URL), a_contact(session, company, "Bob Ray")
        an_email(session, ada, "ada@acme.com")
        own(session, workspace.id, ada, "email", "recruiting")
        for contact in (ada, bob):
            a_phone(session, contact, "+16175550100")
        return [ada.id, bob.id]


def left(database: Database) -> list[str]:
    with database.reading() as session:
        return sorted(session.scalars(select(Contact.id)))


def listed(database: Database) -> int:
    with database.reading() as session:
        return len(session.scalars(select(Suppression)).all())


def test_a_person_is_erased_by_an_unnormalized_address(run: Run, ids: list[str], database: Database) -> None:
    result = run("--email", " Ada@ACME.com", "--yes", "--json")

    receipt = json.loads(result.stdout)
    assert (receipt["erased"], receipt["contact_ids"]) == (True, ids[:1])
    assert (receipt["suppressed_values"], receipt["shared_values"]) == (2, 1)
    received = [(row["workspace"], row["field"], row["purpose"]) for row in receipt["recipients"]]
    assert received == [("Acme", "email", "recruiting")]
    assert len(receipt["accounts"]) == 1
    assert (left(database), listed(database)) == (ids[1:], 2)


def test_a_dry_run_shows_everything_and_changes_nothing(run: Run, ids: list[str], database: Database) -> None:
    result = run("--email", "ada@acme.com", "--dry-run")

    assert result.stdout.startswith("This would be erased:")
    for sentence in ("Recipients to notify:", "recruiting", "kept for those: 1", "because they sign in"):
        assert sentence in result.stdout
    assert (left(database), listed(database)) == (ids, 0)


def test_nothing_happens_until_the_operator_says_yes(run: Run, ids: list[str], database: Database) -> None:
    refused = run("--email", "ada@acme.com", input="n\n")
    remaining = left(database)
    agreed = run("--email", "ada@acme.com", input="y\n")

    assert (refused.exit_code, remaining) == (1, ids)
    assert (agreed.exit_code, left(database)) == (0, ids[1:])
    assert agreed.stdout.startswith("Erased:")


def test_a_number_of_several_people_requires_a_choice(run: Run, ids: list[str], database: Database) -> None:
    refused = run("--phone", "+1 617 555 0100", "--yes")
    remaining = left(database)
    meant = run("--phone", "+1 617 555 0100", "--everybody", "--yes", "--json")

    assert refused.exit_code == 1
    assert all(text in refused.output for text in (*ids, "--contact-id", "--everybody"))
    assert remaining == ids
    assert json.loads(meant.stdout)["counts"]["contacts"] == 2
    assert left(database) == []


def test_contacts_are_erased_by_their_ids(run: Run, ids: list[str], database: Database) -> None:
    result = run("--contact-id", ids[0], "--contact-id", ids[1], "--yes")

    assert result.exit_code == 0
    assert left(database) == []


def test_an_unknown_person_is_suppressed(run: Run, database: Database) -> None:
    result = run("--linkedin-url", "linkedin.com/in/nobody-known", "--yes")

    assert "Given to" not in result.stdout
    assert listed(database) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Specify --email, --phone, --linkedin-url or --contact-id."),
        (("--contact-id", "con_none"), "There is no contact with this id."),
        (("--email", "nothing"), "This is not an e-mail address"),
        (("--linkedin-url", "https://acme.com"), "linkedin.com"),
    ],
)
def test_invalid_identifiers_are_reported_as_a_message(
    run: Run, arguments: tuple[str, ...], sentence: str
) -> None:
    result = run(*arguments, "--yes")

    assert result.exit_code != 0
    assert sentence in result.output
