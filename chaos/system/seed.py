"""`python -m chaos.system.seed <folder> <workspaces> <contacts>`: create the data of a scenario.

It runs the `flask` commands that an operator would, in one process, and prints the ids as JSON.
"""

from __future__ import annotations

import csv
import json
import secrets
import sys
from pathlib import Path

from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app.engine.contacts.contacts import Contact
from app.infra.database.db import Database
from cli.application import create_app
from tools.demo.seed import run_flask

CREDITS = "1000000"
PASSWORD = "correct horse battery staple"  # noqa: S105 - of accounts that exist only during the run


def main(folder: str, workspaces: str, contacts: str) -> int:
    """Create workspaces with an account each, and contacts; print their ids and addresses."""
    app = create_app()
    runner = app.test_cli_runner()
    tenants = [_create_tenant(runner, secrets.token_hex(4)) for _ in range(int(workspaces))]
    domain = f"{secrets.token_hex(4)}.example"
    database: Database = app.extensions["services"].database
    ids = _import_people(runner, Path(folder), domain, int(contacts), database) if int(contacts) else []
    sys.stdout.write(json.dumps({"tenants": tenants, "contacts": ids, "password": PASSWORD}) + "\n")
    return 0


def _create_tenant(runner: FlaskCliRunner, tag: str) -> dict[str, str]:
    workspace = str(run_flask(runner, ["workspaces", "create", f"Chaos {tag}"])["id"])
    email = f"{tag}@chaos.example"
    options = ["--workspace", workspace, "--name", "Chaos", "--password-stdin"]
    run_flask(runner, ["accounts", "create", email, *options], stdin=PASSWORD)
    run_flask(runner, ["credits", "grant", workspace, CREDITS, "--reason", "chaos"])
    return {"workspace": workspace, "email": email}


def _import_people(
    runner: FlaskCliRunner, folder: Path, domain: str, count: int, database: Database
) -> list[str]:
    """Import people with a valid address each; return the ids of the new contacts."""
    with database.reading() as session:
        before = set(session.scalars(select(Contact.id)))
    file = folder / f"{domain}.csv"
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["full_name", "email", "company_domain"])
        for number in range(count):
            name = f"{_unique_name(number)} {_unique_name(number)}son"
            rows.writerow([name, f"p{number}@{domain}", domain])
    run_flask(runner, ["contacts", "import", str(file)])
    with database.reading() as session:
        return sorted(set(session.scalars(select(Contact.id))) - before)


def _unique_name(number: int) -> str:
    """Return a name for each number, so that the import takes no two people for the same."""
    digits = [(number // 26**place) % 26 for place in range(4)]
    return "".join(chr(ord("a") + digit) for digit in digits).title()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
