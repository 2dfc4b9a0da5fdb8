"""`python -m chaos.seed <folder> <workspaces> <contacts>`: who asks in a scenario, and about whom.

It runs the `flask` commands an operator would, all in one process, and prints what it made as JSON.
"""

from __future__ import annotations

import csv
import json
import secrets
import sys
from pathlib import Path
from typing import Any

from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app.core.contacts import Contact
from app.factory import create_app
from app.infra.db import Database

CREDITS = "1000000"
PASSWORD = "correct horse battery staple"  # noqa: S105 - of accounts that live as long as the run


def main(folder: str, workspaces: str, contacts: str) -> int:
    """Make the workspaces, an account in each, and the contacts; print their ids and addresses."""
    app = create_app()
    runner = app.test_cli_runner()
    members = [_create_tenant(runner, secrets.token_hex(4)) for _ in range(int(workspaces))]
    domain = f"{secrets.token_hex(4)}.example"
    database: Database = app.extensions["database"]
    people = _import_people(runner, Path(folder), domain, int(contacts), database) if int(contacts) else []
    sys.stdout.write(json.dumps({"members": members, "contacts": people, "password": PASSWORD}) + "\n")
    return 0


def _create_tenant(runner: FlaskCliRunner, tag: str) -> dict[str, str]:
    workspace = str(_run_flask(runner, "workspaces", "create", f"Chaos {tag}")["id"])
    email = f"{tag}@chaos.example"
    words = ["accounts", "create", email, "--workspace", workspace, "--name", "Chaos", "--password-stdin"]
    _run_flask(runner, *words, stdin=PASSWORD)
    _run_flask(runner, "credits", "grant", workspace, CREDITS, "--reason", "chaos")
    return {"workspace": workspace, "email": email}


def _import_people(
    runner: FlaskCliRunner, folder: Path, domain: str, count: int, database: Database
) -> list[str]:
    """Import people with a valid address each; give the ids that this made."""
    with database.reading() as session:
        before = set(session.scalars(select(Contact.id)))
    file = folder / f"{domain}.csv"
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["full_name", "email", "company_domain"])
        for number in range(count):
            name = f"{_unique_name(number)} {_unique_name(number)}son"
            rows.writerow([name, f"p{number}@{domain}", domain])
    _run_flask(runner, "contacts", "import", str(file))
    with database.reading() as session:
        return sorted(set(session.scalars(select(Contact.id))) - before)


def _unique_name(number: int) -> str:
    """Write a number as a name, so that no two people look alike to the import."""
    digits = [(number // 26**place) % 26 for place in range(4)]
    return "".join(chr(ord("a") + digit) for digit in digits).title()


def _run_flask(runner: FlaskCliRunner, *words: str, stdin: str = "") -> dict[str, Any]:
    result = runner.invoke(args=[*words, "--json"], input=stdin)
    if result.exit_code:
        sys.exit(f"flask {' '.join(words[:2])} ended with {result.exit_code}: {result.output}")
    answer: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
