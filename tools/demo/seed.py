"""`python -m tools.demo.seed`: a demo workspace with credits, an account and sample data, once per database.

It runs the `flask` commands an operator would, all in one process: the application takes seconds to import.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from flask.testing import FlaskCliRunner

from app.factory import create_app
from tools.console import echo
from tools.state import DEMO_EMAIL, ROOT, State, fingerprint

CREDITS = 250
SAMPLES = {"contacts": ROOT / "demo" / "people.csv", "companies": ROOT / "demo" / "companies.csv"}
STEPS = ("workspace", "account", "credits", *SAMPLES)


class SeedError(Exception):
    """A command failed; the message has what it said."""


def main() -> int:
    """Do what this database has not had yet; each step is remembered, so that none is done twice.

    A demo account that is in the database already, because it outlived our state, is taken over: it gets our
    password, and its workspace as many credits as a new one has.
    """
    state = State.open()
    everything = state.read("seeded.json")
    done: dict[str, Any] = everything.setdefault(fingerprint(os.environ["DATABASE_URL"]), {})
    runner, secrets = create_app().test_cli_runner(), state.secrets()
    try:
        if "account" not in done:
            _take_over_account(runner, done, secrets["DEMO_PASSWORD"])
        for name in STEPS:
            if name not in done and (name not in SAMPLES or SAMPLES[name].exists()):
                done[name] = _run_flask(runner, _arguments(name, done), stdin=secrets["DEMO_PASSWORD"])
                done["complete"] = name == STEPS[-1]
                state.write("seeded.json", everything)
    except SeedError as problem:
        echo(str(problem))
        return 1
    return 0


def _take_over_account(runner: FlaskCliRunner, done: dict[str, Any], password: str) -> None:
    """Look for the demo's account, and make it ours."""
    known = _run_flask(runner, ["accounts", "list"])["accounts"]
    account = next((one for one in known if one["email"] == DEMO_EMAIL), None)
    if account is None:
        return
    _run_flask(runner, ["accounts", "set-password", DEMO_EMAIL, "--password-stdin"], stdin=password)
    for command in ("enable", "grant-api-access"):
        _run_flask(runner, ["accounts", command, DEMO_EMAIL])
    everyone = _run_flask(runner, ["workspaces", "list"])["workspaces"]
    done["workspace"] = next(one for one in everyone if one["id"] == account["workspace_id"])
    done["account"] = account
    done["taken_over"] = True
    if done["workspace"]["credits"]["balance"] >= CREDITS:
        done["credits"] = done["workspace"]["credits"]


def _arguments(name: str, done: dict[str, Any]) -> list[str]:
    workspace = str(done.get("workspace", {}).get("id"))
    match name:
        case "workspace":
            return ["workspaces", "create", "Demo"]
        case "account":
            options = ["--name", "Demo Admin", "--role", "admin", "--api-access", "--password-stdin"]
            return ["accounts", "create", DEMO_EMAIL, "--workspace", workspace, *options]
        case "credits":
            left = done["workspace"].get("credits", {}).get("balance", 0)
            return ["credits", "grant", workspace, str(CREDITS - left), "--reason", "demo"]
    return [name, "import", str(SAMPLES[name])]


def _run_flask(runner: FlaskCliRunner, words: list[str], stdin: str = "") -> dict[str, Any]:
    """Run one `flask` command with --json, and return its answer."""
    result = runner.invoke(args=[*words, "--json"], input=stdin)
    if result.exit_code:
        raise SeedError(f"flask {' '.join(words[:2])} ended with {result.exit_code}: {result.output}")
    answer: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main())
