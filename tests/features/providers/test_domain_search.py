from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer
from stored_support import suppress

from app import provider_settings
from app import settings as app_settings
from app.engine.contacts import learned_patterns
from app.features.providers.commands import group
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import ProviderTimeout
from workers.providers.pdl import PeopleDataLabs
from workers.providers.rocketreach import RocketReach


def person(first: str, last: str) -> dict[str, Any]:
    return {
        "value": f"{first}.{last}@acme.com".lower(),
        "type": "personal",
        "confidence": 95,
        "first_name": first,
        "last_name": last,
        "verification": {"date": "2026-11-01", "status": "valid"},
        "sources": [],
    }


FOUND = {
    "data": {
        "domain": "acme.com",
        "organization": "Acme",
        "pattern": "{first}.{last}",
        "emails": [person("Grace", "Hopper"), person("Alan", "Turing"), person("Ada", "Lovelace")],
    },
    "meta": {"results": 3, "limit": 10, "offset": 0},
}


@pytest.fixture
def run(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str, **variables: str) -> Result:
        chosen = dataclasses.replace(
            settings,
            provider_variables=tuple(sorted(variables.items())),
            providers_people=provider_settings.default_order(variables, "people"),
        )
        monkeypatch.setattr(app_settings, "load", lambda: chosen)
        return CliRunner().invoke(group, ["people", *arguments])

    return run


def hunter_at(server: HTTPServer, body: Any = FOUND, status: int = 200) -> dict[str, str]:
    server.expect_request("/domain-search").respond_with_json(body, status=status)
    return {"HUNTER_API_KEY": "k", "HUNTER_BASE_URL": server.url_for("")}


def test_found_people_are_stored_and_teach_the_pattern_of_the_domain(
    run: Any, httpserver: HTTPServer, database: Database
) -> None:
    result = run("https://www.acme.com/team", "--json", **hunter_at(httpserver))

    assert json.loads(result.stdout) == {
        "provider": "hunter",
        "found": 3,
        "new": 3,
        "updated": 0,
        "unchanged": 0,
        "suppressed": 0,
        "pattern": "{first}.{last}",
        "cost": 1,
    }
    with database.reading() as session:
        assert [(stat.form, stat.count) for stat in learned_patterns.pattern_counts(session, "acme.com")] == [
            ("{first}.{last}", 3)
        ]


def test_a_suppressed_person_is_not_imported(run: Any, httpserver: HTTPServer, database: Database) -> None:
    with database.transaction() as session:
        suppress(session, "email", "ada.lovelace@acme.com")

    result = run("acme.com", **hunter_at(httpserver))

    assert result.stdout.splitlines() == [
        "3 people: 2 new, 0 updated, 0 unchanged, 1 suppressed. Cost: 1 credits of hunter.",
        "Their addresses follow {first}.{last}.",
    ]


@pytest.mark.parametrize(
    ("domain", "status", "message"),
    [("localhost", 200, "host name"), ("acme.com", 401, "unconfigured"), ("acme.com", 500, "error")],
)
def test_provider_errors_are_reported_and_nothing_is_stored(
    run: Any, httpserver: HTTPServer, domain: str, status: int, message: str
) -> None:
    result = run(domain, **hunter_at(httpserver, {"errors": []} if status > 200 else FOUND, status))

    assert result.exit_code == 1
    assert message in result.stderr


def test_an_invalid_reply_is_reported(run: Any, httpserver: HTTPServer) -> None:
    result = run("acme.com", **hunter_at(httpserver, {"data": "x"}))

    assert (result.exit_code, "hunter: error" in result.stderr) == (1, True)


def test_without_a_key_the_setting_is_named(run: Any) -> None:
    result = run("acme.com")

    assert (result.exit_code, "HUNTER_API_KEY" in result.stderr) == (1, True)


def test_the_next_provider_is_asked_if_one_cannot_search_or_times_out(
    run: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_slow(*_arguments: Any, **_options: Any) -> Any:
        raise ProviderTimeout

    monkeypatch.setattr(RocketReach, "call", too_slow)
    monkeypatch.setattr(PeopleDataLabs, "supports", lambda *_arguments: False)
    keys = {"ROCKETREACH_API_KEY": "k", "PDL_API_KEY": "k"}

    refused = run("acme.com", **keys)
    found = run("acme.com", "--json", **keys, **hunter_at(httpserver))

    assert "(rocketreach: timeout, pdl: ineligible)" in refused.stderr
    assert json.loads(found.stdout)["provider"] == "hunter"


def test_a_domain_of_which_nobody_is_known_is_no_error(run: Any, httpserver: HTTPServer) -> None:
    nobody = {"data": FOUND["data"] | {"emails": []}}

    result = run("acme.com", **hunter_at(httpserver, nobody))

    assert result.stdout.splitlines() == [
        "0 people: 0 new, 0 updated, 0 unchanged, 0 suppressed. Cost: 0 credits of hunter."
    ]
