from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from apiflask import APIFlask
from click.testing import Result
from stored_support import a_company

from app.infra.crypto import oprf
from app.infra.crypto.oprf import OprfKey
from app.infra.database.db import Database
from cli.commands import group

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask, database: Database) -> Run:
    """Run a command on a database with one company that has a website and a page."""
    with database.transaction() as session:
        a_company(session, linkedin_url="https://www.linkedin.com/company/acme")
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(group("companies"), arguments)


def test_the_filter_is_built_and_shown(run: Run) -> None:
    before = run("filter").stdout
    built = json.loads(run("filter", "--build", "--json").stdout)
    shown = run("filter").stdout

    assert "no filter has been built: flask companies filter --build" in before
    assert [(item["bits"], item["entries"]) for item in built["filters"]] == [(8, 2), (16, 2)]
    assert "16 bits: 2 entries, " in shown
    assert f"key {built['key']}" in shown


def test_a_keyed_filter_is_shown_with_its_public_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    key = OprfKey.derive(bytes(32))
    monkeypatch.setattr(oprf, "from_settings", lambda _settings: key)

    built = json.loads(run("filter", "--build", "--json").stdout)

    assert built["oprf_key"] == base64.b64encode(key.public).decode()
    assert f"OPRF key {built['oprf_key']}" in run("filter").stdout
