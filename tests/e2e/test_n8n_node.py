"""The n8n community node: built and linted from /openapi.json, and walked through a running service."""

from __future__ import annotations

import copy
import json
import os
import tarfile
from pathlib import Path
from typing import Any, NoReturn

import pytest
from e2e_stack import PASSWORD, Stack, run_flask
from sqlalchemy import select, update

from app.engine.accounts.accounts import Account
from tools.clients import commands, document, n8n_node, typescript_client
from tools.clients.commands import ClientError
from tools.clients.typescript_client import InstallError
from tools.state import ROOT

pytestmark = pytest.mark.release
OPERATIONS = 9


def skip_or_fail(message: str) -> NoReturn:
    """Skip the test for what this machine lacks; in CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    raise AssertionError


def build(specification: dict[str, Any], folder: Path) -> Path:
    if not typescript_client.is_possible():
        skip_or_fail("Node and npm are not installed: apt-get install nodejs npm")
    try:
        return n8n_node.build(specification, folder)
    except InstallError as error:
        skip_or_fail(str(error))


@pytest.fixture(scope="module")
def specification(stack: Stack) -> dict[str, Any]:
    return document.for_generators(stack.openapi)


@pytest.fixture(scope="module")
def package(specification: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(specification, tmp_path_factory.mktemp("n8n"))


def test_the_package_has_the_node_and_nothing_of_its_tools(package: Path) -> None:
    [packed] = package.glob("*.tgz")

    with tarfile.open(packed) as archive:
        folders = {"/".join(name.split("/")[1:3]) for name in archive.getnames()}

    assert folders == {
        "LICENSE",
        "README.md",
        "package.json",
        *(f"dist/{name}" for name in ("credentials", "icons", "nodes", "shared")),
    }


def test_the_node_calls_the_nine_endpoints_and_checks_signatures(package: Path, stack: Stack) -> None:
    for kind, file in (("companies", "companies"), ("contacts", "people")):
        run_flask(stack.environment, kind, "import", str(ROOT / "demo" / f"{file}.csv"))
    workspace, token = stack.create_workspace(grant=10)
    with stack.database.transaction() as session:
        email = session.scalars(select(Account.email).where(Account.workspace_id == workspace)).one()
        session.execute(update(Account).where(Account.email == email).values(api_access=True))
    key = stack.call("POST", "/api/keys", {"name": "n8n", "spending_cap": 5}, Authorization=token).body["key"]
    environment = {"BASE": stack.base_url, "KEY": key, "EMAIL": email, "PASSWORD": PASSWORD}

    said = json.loads(commands.run("node", n8n_node.WALK, cwd=package, **environment))

    assert said.pop("trigger") == [
        {"status": 200, "events": ["job.finished"]},
        {"status": 200, "events": []},
        {"status": 401, "events": []},
    ]
    assert "identif" in said.pop("refused").lower()
    assert (said.pop("again"), said.pop("slow")) == (True, "succeeded")
    assert said == {
        "session": 9,
        "login": "Bearer",
        "lookup": "matched",
        "revealEmail": 1,
        "revealPhone": "found",
        "enrichmentRequest": 0,
        "linkedinSave": ["a", "b"],
        "companyByHash": "Northlight Optics",
        "leadsByWebsiteHash": 2,
    }
    assert len(said) == OPERATIONS


def test_a_node_that_does_not_fit_the_api_is_refused_by_the_compiler(
    specification: dict[str, Any], tmp_path: Path
) -> None:
    changed = copy.deepcopy(specification)
    changed["paths"]["/api/ext/profile-save"] = changed["paths"].pop("/api/ext/linkedin-save")

    with pytest.raises(ClientError, match="linkedin-save"):
        build(changed, tmp_path)
