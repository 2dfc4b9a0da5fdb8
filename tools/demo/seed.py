"""`python -m tools.demo.seed`: a demo workspace with credits, an account and sample data, once per database.

It runs the `flask` commands that an operator would, in one process: importing the application takes seconds.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from flask.testing import FlaskCliRunner

from cli.application import create_app
from tools.console import echo
from tools.state import DEMO_EMAIL, ROOT, State, fingerprint

CREDITS = 250
SAMPLES = {"contacts": ROOT / "demo" / "people.csv", "companies": ROOT / "demo" / "companies.csv"}
STEPS = ("workspace", "account", "credits", *SAMPLES)


class SeedError(Exception):
    """A command failed; the message has its output."""


def main() -> int:
    """Run the steps that this database has not had yet, and record each, so that none runs twice.

    If the database already has the demo account, from a data directory that was deleted, it is taken over: it
    gets our password, and its workspace as many credits as a new one has.
    """
    state = State.open()
    records = state.read("seeded.json")
    done: dict[str, Any] = records.setdefault(fingerprint(os.environ["DATABASE_URL"]), {})
    runner, secrets = create_app().test_cli_runner(), state.secrets()
    try:
        if "account" not in done:
            _take_over_account(runner, done, secrets["DEMO_PASSWORD"])
        for name in STEPS:
            if name not in done and (name not in SAMPLES or SAMPLES[name].exists()):
                done[name] = run_flask(runner, _arguments(name, done), stdin=secrets["DEMO_PASSWORD"])
                done["complete"] = name == STEPS[-1]
                state.write("seeded.json", records)
    except SeedError as error:
        echo(str(error))
        return 1
    return 0


def _take_over_account(runner: FlaskCliRunner, done: dict[str, Any], password: str) -> None:
    """If the database has the demo's account, change its password and record it as done."""
    accounts = run_flask(runner, ["accounts", "list"])["accounts"]
    account = next((account for account in accounts if account["email"] == DEMO_EMAIL), None)
    if account is None:
        return
    run_flask(runner, ["accounts", "set-password", DEMO_EMAIL, "--password-stdin"], stdin=password)
    for command in ("enable", "grant-api-access"):
        run_flask(runner, ["accounts", command, DEMO_EMAIL])
    workspaces = run_flask(runner, ["workspaces", "list"])["workspaces"]
    workspace = next(workspace for workspace in workspaces if workspace["id"] == account["workspace_id"])
    done |= {"workspace": workspace, "account": account, "taken_over": True}
    if workspace["credits"]["balance"] >= CREDITS:
        done["credits"] = workspace["credits"]


def _arguments(name: str, done: dict[str, Any]) -> list[str]:
    """Return the `flask` command of a step."""
    workspace = str(done.get("workspace", {}).get("id"))
    match name:
        case "workspace":
            return ["workspaces", "create", "Demo"]
        case "account":
            options = ["--name", "Demo Admin", "--role", "admin", "--api-access", "--password-stdin"]
            return ["accounts", "create", DEMO_EMAIL, "--workspace", workspace, *options]
        case "credits":
            balance = done["workspace"].get("credits", {}).get("balance", 0)
            return ["credits", "grant", workspace, str(CREDITS - balance), "--reason", "demo"]
    return [name, "import", str(SAMPLES[name])]


def run_flask(runner: FlaskCliRunner, arguments: list[str], stdin: str = "") -> dict[str, Any]:
    """Run a `flask` command with --json; return its output.

    Raises:
        SeedError: it failed.

    """
    result = runner.invoke(args=[*arguments, "--json"], input=stdin)
    if result.exit_code:
        raise SeedError(
            f"flask {' '.join(arguments[:2])} exited with code {result.exit_code}: {result.output}"
        )
    output: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return output


if __name__ == "__main__":
    sys.exit(main())
