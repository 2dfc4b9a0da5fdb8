from __future__ import annotations

import dataclasses
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from sqlalchemy import delete

from app.domain.errors import Unavailable
from app.domain.records.subjects import Subject
from app.domain.suppression_lists.hashed_values import hash_of
from app.engine.contacts.suppressions import suppressions as stored_suppressions
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.providers import provider_opt_outs
from app.features.suppressions import commands as suppressions
from app.infra import clock
from app.infra.database.session import DataSettings

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
            session,
            provider="hunter",
            field="email",
            subject_digest=question,
            subject=results,
            now=clock.now(),
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
        "by_reason": {"requested": 3},
        "by_list": {"": 3},
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Specify --email, --phone, --linkedin-url or --domain."),
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

    body = body_of(result)
    assert (result.exit_code, body["given"], body["added"], body["known"], body["rejected"]) == (
        1,
        5,
        3,
        1,
        1,
    )
    assert run("import", path, "--skip-unreadable").exit_code == 0
    assert run("count").stdout == "3 values are suppressed.\n"


def test_the_numbers_of_a_list_are_read_as_those_of_an_import(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "phone,country\n"
        "+49 (0)30 / 7654322,\n"
        "tel:+493076543 23,\n"
        "16502530999.0,\n"
        "030 / 7654321,Deutschland\n"
        "0171 7654321 or 030/1234567/8,Atlantis\n"
        "1.65E+10,\n",
        encoding="utf-8",
    )

    result = body_of(run("import", path, "--json"))

    assert (result["given"], result["added"], result["rejected"]) == (8, 7, 1)
    assert result["unreadable"] == [{"line": 7, "column": "phone"}]
    for number in ("+49307654322", "+49307654323", "+16502530999", "+49307654321", "+49301234568"):
        assert is_suppressed(run, "--phone", number)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("name\nAda\n", "Columns found: 'name'"),
        ("email\nada\n", "Correct these lines and repeat the command"),
    ],
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
    assert reviewed["opt_outs"][0]["asked_by"] == ["full_name", "linkedin_url"]
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


@pytest.mark.parametrize("arguments", [(), ("--list", "partner", "--email", "ada@acme.example")])
def test_remove_requires_a_value(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("remove", *arguments)

    assert (result.exit_code, "Specify --email" in result.stderr) == (2, True)


def test_an_empty_review_is_explained(run: Run) -> None:
    assert run("review").stdout == "No provider reported an opt-out.\n"


def test_an_export_suppresses_the_same_people_in_another_database(
    run: Run, app: APIFlask, tmp_path: Path
) -> None:
    file = tmp_path / "list.jsonl"
    run("add", "--email", "ada@acme.example", "--phone", "+1 617 555 0101", "--reason", "asked")

    exported = run("export", file, "--json")
    run("remove", "--email", "ada@acme.example", "--phone", "+1 617 555 0101")
    replayed = body_of(run("replay", file, "--json"))

    assert body_of(exported) == {"file": str(file), "entries": 2}
    assert (file.stat().st_mode & 0o777, "ada" in file.read_text()) == (0o600, False)
    assert (replayed["read"], replayed["added"], replayed["erased"]["contacts"]) == (2, 2, 0)
    assert body_of(run("count", "--json"))["by_kind"] == {"email": 1, "phone": 1}
    assert sorted(run("export", "-").stdout.splitlines()) == sorted(file.read_text().splitlines())


def test_the_configured_journal_is_replayed(run: Run, app: APIFlask, tmp_path: Path) -> None:
    services = app.extensions["services"]
    journal = str(tmp_path / "journal")
    settings = dataclasses.replace(services.settings, suppression_journal=journal)
    app.extensions["services"] = dataclasses.replace(services, settings=settings)
    services.database.settings = DataSettings(suppression_journal=Path(journal))
    run("add", "--email", "ada@acme.example")
    with services.database.transaction() as session:
        session.execute(delete(Suppression))

    assert run("replay").stdout.startswith(
        "Read 1 changes: 1 suppressed again, 0 removed again. "
        "Erased again: 0 contacts, 0 jobs, 0 saved profiles"
    )  # rows of features follow
    assert body_of(run("count", "--json"))["total"] == 1


def test_a_replay_states_what_it_could_not_apply(run: Run, tmp_path: Path) -> None:
    journal, other = tmp_path / "journal", tmp_path / "other"
    run("add", "--email", "ada@acme.example")
    run("export", journal)
    key = json.loads(journal.read_text())["key"]
    other.write_text(journal.read_text().replace(key, "00000000"))
    journal.write_text(journal.read_text() + "torn")

    results = [run("replay"), run("replay", journal), run("replay", other)]

    assert [result.exit_code for result in results] == [2, 1, 1]
    sentences = ("set SUPPRESSION_JOURNAL", "journal:2", "1 digests were made with another SUPPRESSION_KEY")
    for result, sentence in zip(results, sentences, strict=True):
        assert sentence in " ".join(result.stderr.split())


def test_a_command_explains_that_the_journal_cannot_be_written(
    run: Run, app: APIFlask, tmp_path: Path
) -> None:
    missing = DataSettings(suppression_journal=tmp_path / "missing" / "journal")
    app.extensions["services"].database.settings = missing

    result = run("add", "--email", "ada@acme.example")

    assert (result.exit_code, "SUPPRESSION_JOURNAL cannot be written" in result.stderr) == (1, True)


ANNA = "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE="
NUMBER = "vGM7y5n+hBXRSEAklhHDPCbysyNgYTmXdMcagGUOY8E="
DROP_FILES = {
    "20260312_4821_Email.csv": f"ID,Hash\nA7kP2xQ9Lm4R,{ANNA}\nB7kP2xQ9Lm4R,nonsense\n",
    "20260312_4821_Phone_part01.csv": f"ID,Hash\nC7kP2xQ9Lm4R,{NUMBER}\n",
    "20260312_4821_NDZ.csv": f"ID,Hash\nD7kP2xQ9Lm4R,{ANNA}\n",
}
REMOVED = f"ID,Hash,ListType\nA7kP2xQ9Lm4R,{ANNA},Email\nD7kP2xQ9Lm4R,{ANNA},NDZ\n"


def archive(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


def is_suppressed(run: Run, *arguments: str) -> bool:
    return bool(body_of(run("check", *arguments, "--json"))["suppressed"])


def test_a_download_of_drop_is_imported_and_removed_requests_are_taken_back(run: Run, tmp_path: Path) -> None:
    first = archive(tmp_path / "20260312_4821_DROP.zip", DROP_FILES)
    second = archive(tmp_path / "20260412_4821_DROP.zip", {"20260412_4821_Removed.csv": REMOVED})
    run("add", "--email", "anna.smith@domain.com")

    imported = body_of(run("import", first, "--format", "drop", "--json"))
    again = run("import", first, "--format", "drop")
    listed = [
        is_suppressed(run, "--phone", "+1 415 555 9317"),
        is_suppressed(run, "--phone", "+1 415 555 9318"),
    ]
    removed = body_of(run("import", second, "--format", "drop", "--json"))

    counts = [imported[name] for name in ("given", "added", "known", "removed", "rejected")]
    assert (counts, imported["unmatched"]) == ([4, 2, 0, 0, 1], {"NDZ": 1})
    assert again.stdout.splitlines() == [
        "Added 0 of 4; 2 were listed already; 1 values could not be read.",
        "1 entries of NDZ were left out: they need a date of birth and ZIP code, which is not stored here.",
        "Lines that could not be read: 3 (Email).",
    ]
    assert (listed, removed["removed"], removed["unmatched"]) == ([True, False], 1, {"NDZ": 1})
    assert is_suppressed(run, "--email", " Anna.Smith@Domain.com")  # the operator's own entry stays
    run("remove", "--email", "anna.smith@domain.com")
    assert not is_suppressed(run, "--email", "anna.smith@domain.com")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("list.csv", f"ID,Hash\nx,{ANNA}\n", "A file of DROP has a name such as"),
        ("20260312_4821_Email.csv", f"ID;Hash\nx;{ANNA}\n", "The header of Email must contain: ID, Hash."),
    ],
)
def test_another_file_is_not_taken_for_one_of_drop(
    run: Run, tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    path = tmp_path / name
    path.write_text(content)

    result = run("import", path, "--format", "drop")

    assert (result.exit_code, sentence in " ".join(result.stderr.split())) == (1, True)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (f"email_sha256;Phone (SHA-256)\n{hash_of('anna.smith@domain.com').hex().upper()};{NUMBER}\n;\n", ()),
        (f"{ANNA}\n", ("--kind", "email")),
        (f"hash\n{ANNA}\nnonsense\n", ("--kind", "email")),
    ],
)
def test_a_list_of_hashes_is_imported_and_removed_by_its_name(
    run: Run, tmp_path: Path, content: str, options: tuple[str, ...]
) -> None:
    path = tmp_path / "partner.csv"
    path.write_text(content)

    run("import", path, "--format", "hashed", "--list", "partner", "--reason", "partner", *options)
    before = is_suppressed(run, "--email", "anna.smith@domain.com")
    lists = body_of(run("count", "--json"))["by_list"]
    run("remove", "--list", "partner")

    assert (before, set(lists)) == (True, {"partner"})
    assert not is_suppressed(run, "--email", "anna.smith@domain.com")


def test_unknown_columns_of_hashes_are_explained(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "partner.csv"
    path.write_text(f"value\n{ANNA}\n")

    result = run("import", path, "--format", "hashed")

    assert (result.exit_code, "use --kind" in result.stderr) == (1, True)


def test_an_export_is_imported(run: Run, tmp_path: Path) -> None:
    run("add", "--email", "anna.smith@domain.com")
    run("export", tmp_path / "list")
    run("remove", "--email", "anna.smith@domain.com")

    imported = body_of(run("import", tmp_path / "list", "--format", "export", "--json"))

    assert (imported["given"], imported["added"]) == (1, 1)
    assert is_suppressed(run, "--email", "anna.smith@domain.com")


def test_a_list_of_domains_is_imported_and_a_website_beside_an_address_is_not(
    run: Run, tmp_path: Path
) -> None:
    people, domains = tmp_path / "people.csv", tmp_path / "domains.csv"
    people.write_text("email,website\nada@acme.example,acme.example\n")
    domains.write_text("domain\nhttps://www.acme.org/about\nco.uk\n")

    run("import", people)
    imported = body_of(run("import", domains, "--kind", "domain", "--json"))

    assert (imported["added"], imported["rejected"]) == (1, 1)
    assert is_suppressed(run, "--email", "bob@uk.acme.org")
    assert not is_suppressed(run, "--email", "bob@acme.example")
    assert is_suppressed(run, "--domain", "acme.org")


def test_a_check_tells_when_why_and_by_which_list(run: Run) -> None:
    run("add", "--domain", "acme.com", "--reason", "asked by mail")

    checked = body_of(run("check", "--email", "ada@acme.com", "--json"))
    page = run("check", "--email", "ada@acme.com").stdout

    [entry] = checked["entries"]
    assert (entry["by"], entry["reason"], entry["list"]) == ("domain", "asked by mail", "")
    assert ("domain" in page, "ada" in page) == (True, False)
    assert run("check", "--email", "ada@acme.org").stdout == "The value is not suppressed.\n"
    assert run("check").exit_code == 2


@pytest.mark.parametrize("command", [("add", "--email", "ada@acme.com"), ("import", __file__)])
def test_the_reason_of_erased_people_is_reserved(run: Run, command: tuple[str, ...]) -> None:
    result = run(*command, "--reason", "erased")

    assert (result.exit_code, "erased" in result.stderr) == (1, True)


def test_an_export_that_fails_leaves_the_earlier_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "list.jsonl"
    file.write_text("the earlier export")
    monkeypatch.setattr(stored_suppressions, "all_lines", _unavailable)

    result = run("export", file)
    missing = run("export", tmp_path / "missing" / "list.jsonl")

    assert "The database cannot be used" in result.stderr
    assert file.read_text() == "the earlier export"
    assert list(tmp_path.glob("*.part")) == []
    assert missing.stderr.endswith("list.jsonl cannot be written: No such file or directory.\n")


def _unavailable(_session: object) -> None:
    raise Unavailable


def test_the_rejected_rows_of_people_who_opted_out_can_be_imported(
    run: Run, app: APIFlask, tmp_path: Path
) -> None:
    people, rejects = tmp_path / "people.csv", tmp_path / "rejects.csv"
    people.write_text(
        "Name,Email,Email Opt Out\nAda Lovelace,ada@acme.example,WAHR\nCy Dee,cy@acme.example,perhaps\n"
    )
    app.test_cli_runner().invoke(args=["contacts", "import", str(people), "--rejects", str(rejects)])

    run("import", rejects)

    assert run("count").stdout == "2 values are suppressed.\n"
