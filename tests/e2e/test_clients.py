"""The typed clients and the Bruno collection: built, checked, and walked through a running service."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from zipfile import ZipFile

import pytest
from e2e_stack import PASSWORD, Stack, run_flask
from sqlalchemy import select

from app.engine.accounts.accounts import Account
from tools.clients import document, python_client, typescript_client
from tools.clients.commands import ClientError
from tools.clients.typescript_client import InstallError
from tools.state import ROOT

ENDPOINTS = 9
BRUNO = ROOT / "clients" / "bruno"

pytestmark = pytest.mark.release


def skip_or_fail(message: str) -> NoReturn:
    """Skip the test for what this machine lacks; in CI it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    raise AssertionError


@pytest.fixture(scope="module")
def specification(stack: Stack) -> dict[str, Any]:
    """The document for generators, of the running service."""
    return document.for_generators(stack.openapi)


@pytest.fixture(scope="module")
def wheel(specification: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_client.build(specification, tmp_path_factory.mktemp("python"))


def build_typescript(specification: dict[str, Any], folder: Path) -> Path:
    """Build the TypeScript client; skip the test if this machine lacks Node or its packages."""
    if not typescript_client.is_possible():
        skip_or_fail("Node and npm are not installed: apt-get install nodejs npm")
    try:
        return typescript_client.build(specification, folder)
    except InstallError as error:
        skip_or_fail(str(error))


@pytest.fixture(scope="module")
def package(specification: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_typescript(specification, tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="module")
def _demo_data(stack: Stack) -> None:
    for kind in ("companies", "contacts"):
        file = "people" if kind == "contacts" else kind
        run_flask(stack.environment, kind, "import", str(ROOT / "demo" / f"{file}.csv"))


@pytest.fixture
def caller(stack: Stack, _demo_data: None) -> dict[str, str]:
    """The environment of a walk: the address of the service, and a new account in its own workspace."""
    workspace, _token = stack.create_workspace(grant=10)
    with stack.database.reading() as session:
        email = session.scalars(select(Account.email).where(Account.workspace_id == workspace)).one()
    return {**os.environ, "BASE": stack.base_url, "EMAIL": email, "PASSWORD": PASSWORD}


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_python_client_walks_the_nine_endpoints(wheel: Path, caller: dict[str, str]) -> None:
    walk = wheel.parent.parent / "walk.py"

    output = run(sys.executable, str(walk), cwd=wheel.parent, env=caller | {"PYTHONPATH": str(wheel)})

    assert len(output.splitlines()) == ENDPOINTS


def test_the_wheel_is_typed_and_has_only_the_package(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()

    assert "contact_lookup_client/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {
        "contact_lookup_client",
        "contact_lookup_client-0.1.0.dist-info",
    }


def test_the_python_client_warns_of_a_deprecated_operation(
    specification: dict[str, Any], tmp_path: Path
) -> None:
    changed = copy.deepcopy(specification)
    sentence = "Deprecated since 2027-01-01. Use `GET /api/ext/session` instead."
    changed["paths"]["/api/usage"]["get"] |= {"deprecated": True, "description": sentence}

    wheel = python_client.build(changed, tmp_path)

    with ZipFile(wheel) as archive:
        code = archive.read("contact_lookup_client/api/limits_and_usage/get_usage.py").decode()
    assert f"warn_deprecated('get_usage: {sentence}')" in code.replace('"', "'")


def test_the_typescript_client_walks_the_nine_endpoints(package: Path, caller: dict[str, str]) -> None:
    output = run("node", str(typescript_client.WALK), cwd=package.parent, env=caller)

    assert len(output.splitlines()) == ENDPOINTS


@pytest.mark.parametrize("build", [python_client.build, build_typescript])
def test_a_walk_that_does_not_fit_the_api_is_refused_by_the_type_checker(
    specification: dict[str, Any],
    tmp_path: Path,
    build: Callable[[dict[str, Any], Path], Path],
) -> None:
    schemas = dict(specification["components"]["schemas"])
    schemas["Company"] = {
        **schemas["Company"],
        "properties": {
            name: schema for name, schema in schemas["Company"]["properties"].items() if name != "domain"
        },
    }
    schemas["KnownCompany"] = schemas["Company"]
    changed = specification | {"components": specification["components"] | {"schemas": schemas}}

    with pytest.raises(ClientError, match="domain"):
        build(changed, tmp_path)


def test_the_bruno_collection_passes(stack: Stack, caller: dict[str, str]) -> None:
    local = BRUNO / "node_modules" / ".bin" / "bru"
    program = str(local) if local.exists() else shutil.which("bru")
    if program is None:
        skip_or_fail("Bruno is not installed: npm ci --prefix clients/bruno --ignore-scripts")
    variables = {"base": stack.base_url, "email": caller["EMAIL"], "password": caller["PASSWORD"]}
    options = [word for name, value in variables.items() for word in ("--env-var", f"{name}={value}")]

    # In its other sandbox, Bruno fails if the first answer arrives before it has loaded its interpreter.
    output = run(program, "run", "--sandbox", "developer", "--env", "demo", *options, cwd=BRUNO, env=caller)

    assert "✗" not in output
    assert output.count("(200 OK)") + output.count("(201 CREATED)") == len([*BRUNO.glob("*.bru")]) - 3
