"""The endpoint, the page, the commands, the check and the gauges of do-not-call registers."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from page_support import Visitor, visitor
from users_support import SignedInUser

from app.domain.call_registers import Effect
from app.engine.accounts.accounts import Account, Role
from app.features.call_registers import checks
from app.features.call_registers.commands import group
from app.features.call_registers.gauges import gauges
from app.infra import clock
from app.settings import Settings
from cli.checks.findings import Level

LIST = "07860 338653\n01635 506160\n"


def yesterday(days: int = 1) -> str:
    return f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%d}"


@pytest.fixture
def run(app: APIFlask) -> Any:
    runner = app.test_cli_runner()

    def run(*arguments: str) -> Result:
        return runner.invoke(group, arguments)

    return run


@pytest.fixture
def tps(run: Any, tmp_path: Path) -> Path:
    """Return the file of a loaded register."""
    file = tmp_path / "tps.txt"
    file.write_text(LIST, encoding="ascii")
    assert run("load", "uk-tps", str(file), "--date", yesterday()).exit_code == 0
    return file


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return user


def listed(user: SignedInUser) -> list[dict[str, Any]]:
    body = user.client.get("/api/call-registers", headers=user.headers).get_json()
    rows: list[dict[str, Any]] = body["registers"]
    return rows


def put(user: SignedInUser, register: str, effect: object) -> Any:
    path = f"/api/call-registers/{register}"
    return user.client.put(path, json={"effect": effect}, headers=user.headers)


@pytest.mark.usefixtures("tps")
def test_members_see_the_registers_and_their_dates(user: SignedInUser) -> None:
    [row] = listed(user)

    assert (row["id"], row["name"], row["country"], row["numbers"]) == ("uk-tps", "TPS", "GB", 2)
    assert (row["date"][:10], row["outdated"]) == (yesterday(), False)
    assert (row["effect"], row["operator_effect"]) == ("flag", "flag")


@pytest.mark.usefixtures("tps")
def test_an_admin_may_be_stricter_than_the_operator_and_not_looser(admin: SignedInUser, run: Any) -> None:
    stricter = put(admin, "uk-tps", "hide")
    run("set", "uk-tps", "hide_for_members")
    looser = put(admin, "uk-tps", "flag")

    assert (stricter.status_code, stricter.get_json()["effect"]) == (200, "hide")
    assert (looser.status_code, looser.get_json()["code"]) == (422, "validation_error")
    assert "hide_for_members" in looser.get_json()["errors"][0]["detail"]
    assert put(admin, "us-dnc", "hide").status_code == 404
    assert put(admin, "uk-tps", "delete").status_code == 422
    assert put(admin, "uk-tps", None).status_code == 422


@pytest.mark.usefixtures("tps")
def test_the_page_has_a_form_for_each_register(app: APIFlask, admin: SignedInUser, run: Any) -> None:
    page: Visitor = visitor(app, admin)

    chosen = page.send("/admin/call-registers", register="uk-tps", effect="hide_for_members").text
    unknown = page.send("/admin/call-registers", register="us-dnc", effect="hide").text
    wrong = page.send("/admin/call-registers", register="uk-tps", effect="delete").text
    run("set", "uk-tps", "hide")
    looser = page.send("/admin/call-registers", register="uk-tps", effect="flag").text

    assert "Numbers in TPS: Hide from members." in chosen
    assert "Choose one of the listed effects." in unknown
    assert "Choose one of the listed effects." in wrong
    assert "a workspace may only be stricter" in looser
    assert 'name="effect"' not in looser
    assert listed(admin)[0]["effect"] == "hide"


def test_the_page_without_registers_says_who_loads_them(app: APIFlask, admin: SignedInUser) -> None:
    assert "No register is loaded" in visitor(app, admin).open("/admin/call-registers").text


def test_a_load_reports_what_was_read(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "tps.txt"
    file.write_text(LIST + "none\n" + LIST, encoding="ascii")
    load = ("load", "uk-tps", str(file), "--date", yesterday())

    refused = run(*load)
    body = json.loads(run(*load, "--accept-rejected", "--json").stdout)
    text = run(*load, "--accept-rejected").stdout

    assert (refused.exit_code, "tps.txt:3" in refused.stderr) == (1, True)
    counts = {name: body[name] for name in ("lines", "numbers", "before", "rejected", "rejected_lines")}
    assert counts == {
        "lines": 5,
        "numbers": 2,
        "before": 0,
        "rejected": 1,
        "rejected_lines": ["tps.txt:3"],
    }
    assert body["prefixes"] == ["+44"]
    assert f"TPS of {yesterday()}: 2 numbers (2 before).\n5 lines read, 1 without a number" in text
    assert "none" not in refused.stderr + text


def test_the_area_codes_are_counted_and_changes_applied(run: Any, tmp_path: Path) -> None:
    file, changes = tmp_path / "dnc.txt", tmp_path / "changes.txt"
    file.write_text("202,5551212\n212,5551212\n", encoding="ascii")
    changes.write_text("202,5551213,A\n", encoding="ascii")

    loaded = run("load", "us-dnc", str(file), "--date", yesterday(2)).stdout
    changed = run("change", "us-dnc", str(changes), "--date", yesterday()).stdout
    missing = run("change", "ca-dncl", str(changes), "--date", yesterday())
    outcome = run("check", "202 555 1213", "--country", "US").stdout
    other = run("check", "+1 305 555 1213").stdout

    assert "area codes: 2; numbers of others are not checked." in loaded
    assert "3 numbers (2 before)" in changed
    assert (missing.exit_code, "no such register" in missing.stderr) == (1, True)
    assert outcome == f"National Do Not Call Registry of {yesterday()}: registered\n"
    assert other == "No register is about this number.\n"


def test_a_register_of_ones_own_needs_a_name_a_country_and_a_format(run: Any, tps: Path) -> None:
    options = ("--date", yesterday())
    bare = run("load", "my-list", str(tps), *options)
    named = ("--name", "Robinson", "--country", "GB", "--format", "numbers", "--effect", "hide")
    loaded = run("load", "my-list", str(tps), *options, *named, "--max-age-days", "9")
    wrong = run("load", "My List", str(tps), *options, *named)
    future = run("load", "my-list", str(tps), "--date", yesterday(-2), *named)

    assert [one.exit_code for one in (bare, loaded, wrong, future)] == [2, 0, 2, 2]
    assert ("in the future" in future.stderr, "lower-case" in wrong.stderr) == (True, True)
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["register", "my-list", "uk-tps"]
    assert lines[1].endswith("hide")


@pytest.mark.usefixtures("tps")
def test_commands_set_check_and_remove(run: Any, user: SignedInUser) -> None:
    of_all = run("set", "uk-tps", "hide_for_members").stdout
    of_one = json.loads(run("set", "uk-tps", "hide", "--workspace", user.workspace_id, "--json").stdout)
    unknown = run("set", "us-dnc", "hide")
    number = run("check", "07860338653", "--country", "GB").stdout
    none = run("check", "07860338654", "--country", "GB").stdout
    invalid = run("check", "1")
    effects = [listed(user)[0]["effect"], json.loads(run("list", "--json").stdout)["registers"][0]["effect"]]
    removed, again = run("remove", "uk-tps"), run("remove", "uk-tps")

    assert of_all == "uk-tps: hide from members.\n"
    assert of_one == {"register": "uk-tps", "workspace": user.workspace_id, "effect": "hide"}
    assert effects == ["hide", "hide_for_members"]
    assert (": registered" in number, ": not registered" in none) == (True, True)
    assert [one.exit_code for one in (unknown, invalid, removed, again)] == [1, 1, 0, 1]
    assert run("list").stdout.startswith("No register is loaded.")


def test_an_outdated_register_is_said_everywhere(
    app: APIFlask, admin: SignedInUser, run: Any, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "tps.txt"
    file.write_text(LIST, encoding="ascii")
    run("load", "uk-tps", str(file), "--date", yesterday(28))

    [finding] = checks.findings(settings)
    with admin.database.reading() as session:
        numbers, left = gauges(session, clock.now())
    page = visitor(app, admin).open("/admin/call-registers").text

    assert (finding.level, "older than 28 days" in finding.state) == (Level.WARNING, True)
    assert "flask call-registers load uk-tps" in finding.remedy
    assert (numbers.samples[0].value, left.samples[0].value < 0) == (2, True)
    assert left.samples[0].labels == {"register": "uk-tps"}
    assert (listed(admin)[0]["outdated"], "Outdated" in page, "(outdated)" in run("list").stdout) == (
        True,
        True,
        True,
    )
    assert "(outdated)" in run("check", "07860338653", "--country", "GB").stdout


@pytest.mark.usefixtures("tps")
def test_a_current_register_is_fine(settings: Settings) -> None:
    [finding] = checks.findings(settings)

    assert (finding.level, "usable until" in finding.state) == (Level.OK, True)


def test_a_database_without_tables_is_somebody_elses_finding(settings: Settings, tmp_path: Path) -> None:
    changed = replace(settings, database_url=f"sqlite:///{tmp_path / 'empty.db'}")

    assert list(checks.findings(changed)) == []


def test_effects_are_ordered_by_strictness() -> None:
    assert [effect.hides(as_admin=False) for effect in Effect] == [False, True, True]
    assert [effect.hides(as_admin=True) for effect in Effect] == [False, False, True]
