"""`python -m … <folder> <workspaces> <people>`: create the product's data with its own commands.

It prints a session token for each workspace as JSON.
"""

from __future__ import annotations

import csv
import json
import secrets
import sys
from pathlib import Path

from flask.testing import FlaskClient, FlaskCliRunner

from benchmarks.comparison.people import person
from cli.application import create_app
from tools.demo.seed import run_flask

CREDITS = "1000000"


def main(folder: str, workspaces: str, people: str) -> int:
    """Create workspaces with an account each, sign in, and import the people."""
    app = create_app()
    runner = app.test_cli_runner()
    accounts = [_create_account(runner, number) for number in range(int(workspaces))]
    tokens = [_sign_in(app.test_client(), account) for account in accounts]
    file = Path(folder) / "people.csv"
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        columns = ["full_name", "title", "email", "email_status", "company_name", "company_domain"]
        rows.writerow([*columns, "linkedin_url"])
        for one in map(person, range(int(people))):
            rows.writerow(
                [one.name, one.title, one.address, "verified", one.company, one.domain, one.profile]
            )
    run_flask(runner, ["contacts", "import", str(file)])
    sys.stdout.write(json.dumps(tokens) + "\n")
    return 0


def _create_account(runner: FlaskCliRunner, number: int) -> dict[str, str]:
    workspace = str(run_flask(runner, ["workspaces", "create", f"Workspace {number}"])["id"])
    account = {"email": f"caller{number}@bench.example", "password": secrets.token_urlsafe(16)}
    options = ["--workspace", workspace, "--name", "Caller", "--password-stdin"]
    run_flask(runner, ["accounts", "create", account["email"], *options], stdin=account["password"])
    run_flask(runner, ["credits", "grant", workspace, CREDITS, "--reason", "benchmark"])
    return account


def _sign_in(client: FlaskClient, account: dict[str, str]) -> str:
    response = client.post("/api/ext/login", json=account)
    return str(response.get_json()["access_token"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
