from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer

from app import settings as app_settings
from app.features.providers import commands as providers
from app.features.providers.commands import group
from app.settings import Settings, SettingsError
from workers.providers import registry
from workers.providers.base import ProviderTimeout
from workers.providers.hunter import Hunter
from workers.providers.web import Vendor

KEY = "key-that-nobody-may-see"
ACCOUNT = {"data": {"requests": {"searches": {"used": 500, "available": 10000}}}}
OWN = """
[crm]
url = "{url}"
headers = {{ Authorization = "Bearer ${{CRM_TOKEN}}" }}
check = "/health"

[crm.email]
path = "/contacts"
query = {{ name = "{{full_name}}" }}

[crm.email.read]
email = "email"
"""


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs the command with these provider settings only."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str, providers_file: str = "", **variables: str) -> Result:
        chosen = dataclasses.replace(
            settings, provider_variables=tuple(sorted(variables.items())), providers_file=providers_file
        )
        monkeypatch.setattr(app_settings, "load", lambda: chosen)
        return CliRunner().invoke(group, ["check", *arguments])

    return run


def lines(result: Result) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(result.stdout)["providers"]}


def hunter_at(server: HTTPServer, status: int = 200, body: Any = ACCOUNT) -> dict[str, str]:
    server.expect_request("/account", headers={"X-API-KEY": KEY}).respond_with_json(body, status=status)
    return {"HUNTER_API_KEY": KEY, "HUNTER_BASE_URL": server.url_for("")}


def test_a_working_key_is_reported_with_its_remaining_credits(run: Any, httpserver: HTTPServer) -> None:
    result = run("--json", **hunter_at(httpserver))

    assert result.exit_code == 0
    assert lines(result)["hunter"] == {
        "name": "hunter",
        "configured": True,
        "works": True,
        "outcome": "hit",
        "setting": "HUNTER_API_KEY",
        "left": {"searches": 9500},
    }


def test_the_result_is_printed_as_a_table(run: Any, httpserver: HTTPServer) -> None:
    result = run(**hunter_at(httpserver))

    (hunter,) = [row for row in result.stdout.splitlines() if "hunter" in row]
    (reacher,) = [row for row in result.stdout.splitlines() if "reacher" in row]
    assert hunter.strip("│ ").split("│")[1].strip() == "works"
    assert "9,500 searches" in hunter
    assert "unconfigured: set REACHER_BASE_URL" in reacher


def test_without_a_key_the_provider_is_not_called_and_the_setting_is_named(
    run: Any, httpserver: HTTPServer
) -> None:
    result = run("--json", HUNTER_BASE_URL=httpserver.url_for(""))

    assert (result.exit_code, httpserver.log) == (0, [])
    assert lines(result)["hunter"] == {
        "name": "hunter",
        "configured": False,
        "works": None,
        "outcome": "unconfigured",
        "setting": "HUNTER_API_KEY",
        "left": {},
    }


@pytest.mark.parametrize(
    ("status", "body", "outcome", "state"),
    [
        (401, {"errors": []}, "unconfigured", "key refused"),
        (402, {"errors": []}, "no_credits", "no credits left"),
        (403, {"errors": []}, "rate_limited", "rate limited"),
        (500, {"errors": []}, "error", "unreachable, or returned an error"),
        (200, ["what?"], "error", "unreachable, or returned an error"),
    ],
)
def test_a_key_that_does_not_work_is_a_failure(
    run: Any, httpserver: HTTPServer, status: int, body: Any, *, outcome: str, state: str
) -> None:
    variables = hunter_at(httpserver, status, body)

    json_output, text_output = run("--json", **variables), run(**variables)

    hunter = lines(json_output)["hunter"]
    assert (hunter["configured"], hunter["works"], hunter["outcome"]) == (True, False, outcome)
    assert state in text_output.stdout
    assert (json_output.exit_code, text_output.exit_code) == (1, 1)


def test_a_timeout_is_reported(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_self: Hunter, *, seconds: float) -> None:
        raise ProviderTimeout

    monkeypatch.setattr(Hunter, "check", late)

    result = run(HUNTER_API_KEY=KEY)

    assert result.exit_code == 1
    assert f"no response within {providers.CHECK_SECONDS:.0f} seconds" in result.stdout


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("status", [200, 401, 500])
def test_the_key_is_never_printed(
    run: Any, httpserver: HTTPServer, options: tuple[str, ...], status: int
) -> None:
    result = run(*options, **hunter_at(httpserver, status))

    assert KEY not in result.output
    assert KEY not in repr(result.exception)


def test_every_vendor_can_be_checked(run: Any) -> None:
    result = run("--json")

    vendors = {vendor.name for vendor in registry.PROVIDERS if issubclass(vendor, Vendor)}
    assert set(lines(result)) == vendors
    assert not any(row["configured"] for row in lines(result).values())


def test_a_configured_provider_is_checked_by_its_own_path(
    run: Any, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/health", headers={"Authorization": f"Bearer {KEY}"}).respond_with_json({})
    file = tmp_path / "providers.toml"
    file.write_text(OWN.format(url=httpserver.url_for("").rstrip("/")))
    monkeypatch.setenv("CRM_TOKEN", KEY)

    crm = lines(run("--json", providers_file=str(file)))["crm"]

    assert (crm["works"], crm["setting"]) == (True, "CRM_TOKEN")


def test_invalid_settings_are_reported_as_a_message(run: Any) -> None:
    result = run(HUNTER_RATE="often")

    assert result.exit_code == 1
    assert "HUNTER_RATE" in result.stderr
    assert not isinstance(result.exception, SettingsError)


def test_the_report_is_a_command_of_the_same_group() -> None:
    assert set(group.commands) == {"check", "people", "report"}
