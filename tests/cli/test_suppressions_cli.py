from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result

from app.core.contacts.suppressions import Identifier, suppress
from app.core.providers import provider_opt_outs
from app.domain.records.subjects import Subject
from app.infra import clock
from cli import suppressions

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(suppressions.group, [str(argument) for argument in arguments])


def opt_out(app: APIFlask, number: int, **subject: str) -> str:
    """Record an opt-out of the subject that a provider reported; return its id."""
    with app.extensions["services"].database.transaction() as session:
        question = bytes([number]) * 32
        results = Subject(**subject)
        provider_opt_outs.record(
            session, provider="hunter", field="email", question=question, subject=results, now=clock.now()
        )
        return str(provider_opt_outs.latest(session, all_states=True, limit=1)[0].id)


def body_of(result: Result) -> Any:
    return json.loads(result.stdout)


def test_values_are_suppressed_once(run: Run) -> None:
    values = (
        "--email",
        "Ada@Acme.example",
        "--phone",
        "+1 617 555 0101",
        "--linkedin-url",
        "linkedin.com/in/ada-demo",
    )

    first, again = run("add", *values, "--json"), run("add", *values, "--reason", "asked")

    assert body_of(first) == {"given": 3, "added": 3}
    assert again.stdout == "Added 0 of 3.\n"
    assert body_of(run("count", "--json")) == {
        "total": 3,
        "by_kind": {"email": 1, "linkedin_url": 1, "phone": 1},
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Specify --email, --phone or --linkedin-url."),
        (("--email", "ada"), "This is not an e-mail address"),
        (("--linkedin-url", "https://example.com/in/ada"), "linkedin.com"),
    ],
)
def test_invalid_values_are_explained(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    result = run("add", *arguments)

    assert result.exit_code != 0
    assert sentence in result.stderr


def test_a_list_is_suppressed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "Email;Phone;LinkedIn URL\n"
        "ada@acme.example;+1 617 555 0101;\n"
        "ada@acme.example;12;linkedin.com/in/ada-demo\n",
        encoding="utf-8",
    )

    result = run("import", path, "--json")

    assert (result.exit_code, body_of(result)) == (0, {"given": 3, "added": 3, "rejected": 1})
    assert run("count").stdout == "3 values are suppressed.\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("name\nAda\n", "Columns found: 'name'"), ("email\nada\n", "No value could be read.")],
)
def test_a_list_without_values_is_explained(run: Run, tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(content, encoding="utf-8")

    result = run("import", path)

    assert result.exit_code == 1
    assert sentence in " ".join(result.stderr.split())


def test_opt_outs_are_listed_until_they_are_reviewed(run: Run, app: APIFlask) -> None:
    alone = opt_out(app, 1, email="ada@acme.example")
    mixed = opt_out(app, 2, linkedin_url="https://www.linkedin.com/in/ada", full_name="Ada")

    reviewed = body_of(run("review", "--json"))
    page = run("review").stdout.splitlines()

    assert [(entry["id"], entry["state"], entry["identifier"]) for entry in reviewed["opt_outs"]] == [
        (mixed, "open", "linkedin_url"),
        (alone, "listed", "email"),
    ]
    assert (reviewed["opt_outs"][0]["asked_by"], reviewed["unreviewed"]) == (
        ["full_name", "linkedin_url"],
        {},
    )
    assert page[0].split() == ["id", "provider", "field", "asked_by", "identifier", "state", "created_at"]
    assert len({line.index("hunter") for line in page[1:]} | {page[0].index("provider")}) == 1
    assert not re.search(r"\bada\b", "\n".join(page))


def test_accepting_an_opt_out_hides_the_person(run: Run, app: APIFlask) -> None:
    mixed = opt_out(app, 1, email="ada@acme.example", full_name="Ada")

    accepted = run("accept", mixed)

    assert accepted.stdout == f"Accepted {mixed}: its email is on the suppression list.\n"
    assert body_of(run("count", "--json"))["by_kind"] == {"email": 1}
    assert body_of(run("review", "--json"))["opt_outs"] == []
    assert [entry["state"] for entry in body_of(run("review", "--all", "--json"))["opt_outs"]] == ["accepted"]


def test_dismissing_an_opt_out_shows_the_person_again(run: Run, app: APIFlask) -> None:
    alone, mixed = opt_out(app, 1, email="ada@acme.example"), opt_out(app, 2, full_name="Ada")

    results = [body_of(run("dismiss", opt_out_id, "--json")) for opt_out_id in (alone, mixed)]

    assert [(entry["state"], entry["removed"]) for entry in results] == [
        ("dismissed", True),
        ("dismissed", False),
    ]
    assert body_of(run("count", "--json"))["total"] == 0


def test_a_value_that_the_operator_suppressed_stays_on_the_list(run: Run, app: APIFlask) -> None:
    run("add", "--email", "ada@acme.example")
    alone = opt_out(app, 1, email="ada@acme.example")

    dismissed = run("dismiss", alone)

    assert dismissed.stdout == f"Dismissed {alone}. The suppression list is unchanged.\n"
    assert body_of(run("count", "--json"))["total"] == 1


def test_a_value_of_another_opt_out_stays_on_the_list(run: Run, app: APIFlask) -> None:
    first, second = opt_out(app, 1, email="ada@acme.example"), opt_out(app, 2, email="ada@acme.example")

    removed = [body_of(run("dismiss", opt_out_id, "--json"))["removed"] for opt_out_id in (first, second)]

    assert removed == [False, True]


def test_an_opt_out_without_a_single_identifier_cannot_be_accepted(run: Run, app: APIFlask) -> None:
    several = opt_out(app, 1, email="ada@acme.example", linkedin_url="https://www.linkedin.com/in/ada")

    results = [run("accept", several), run("accept", "opt_none"), run("dismiss", "ada@acme.example")]

    assert [result.exit_code for result in results] == [1, 1, 1]
    assert "flask suppressions add" in results[0].stderr
    assert all("flask suppressions review --all" in result.stderr for result in results[1:])


def test_unreviewed_entries_of_an_earlier_version_are_counted_and_can_be_removed(
    run: Run, app: APIFlask
) -> None:
    with app.extensions["services"].database.transaction() as session:
        values = [Identifier("email", "ada@acme.example"), Identifier("email", "bob@acme.example")]
        suppress(session, values, reason=provider_opt_outs.UNREVIEWED, now=clock.now())
    run("add", "--phone", "+1 617 555 0101")

    counted, page = body_of(run("review", "--json"))["unreviewed"], run("review").stdout
    removed = body_of(run("remove", "--email", "bob@acme.example", "--json"))
    unreviewed = run("remove", "--unreviewed")

    assert counted == {"email": 2}
    assert "flask suppressions remove --unreviewed" in page
    assert (removed, unreviewed.stdout) == ({"removed": 1}, "Removed 1 from the list.\n")
    assert body_of(run("count", "--json")) == {"total": 1, "by_kind": {"phone": 1}}


@pytest.mark.parametrize("arguments", [(), ("--unreviewed", "--email", "ada@acme.example")])
def test_remove_requires_a_value(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("remove", *arguments)

    assert (result.exit_code, "Specify --email" in result.stderr) == (2, True)


def test_an_empty_review_is_explained(run: Run) -> None:
    assert run("review").stdout == "No provider reported an opt-out.\n"
