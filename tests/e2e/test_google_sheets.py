"""The Apps Script of docs/google-sheets.gs, run by Node with Google's three services replaced."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import Stack

from tools.state import ROOT

SCRIPT = ROOT / "docs" / "google-sheets.gs"
SHIM = Path(__file__).parent / "sheets_shim.cjs"
NODE, CURL = shutil.which("node"), shutil.which("curl")
HEADER = ["Name", "Website", "LinkedIn"]
FOUND = ["", "", "https://www.linkedin.com/in/sandbox-found"]
NOBODY = ["", "", "https://www.linkedin.com/in/sandbox-not-found"]
SLOW = ["", "", "https://www.linkedin.com/in/sandbox-slow"]
RESULTS = ["E-mail", "Status", "Credits"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None or CURL is None, reason="no node and curl on this machine"),
]


def filled(stack: Stack, key: str, rows: list[list[Any]]) -> list[list[Any]]:
    """Return the rows after the script was run on them."""
    done = subprocess.run(
        [str(NODE), str(SHIM), str(SCRIPT)],
        input=json.dumps(rows),
        env={**os.environ, "BASE": stack.base_url, "KEY": key},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def a_key(stack: Stack, *, grant: int) -> str:
    _workspace, token = stack.create_workspace(grant=grant)
    body = {"name": "Sheet", "scopes": ["reveal"], "spending_cap": 2}
    return str(stack.call("POST", "/api/keys", body, Authorization=token).body["key"])


def test_the_rows_get_addresses_with_status_and_credits(stack: Stack) -> None:
    key = a_key(stack, grant=5)

    rows = filled(stack, key, [HEADER, FOUND, ["", "", ""], NOBODY, SLOW])

    assert rows == [
        HEADER + RESULTS,
        [*FOUND, "found@sandbox.example", "valid", 1],
        ["", "", ""],
        [*NOBODY, "", "not_found", 0],
        [*SLOW, "slow@sandbox.example", "valid", 1],
    ]


def test_a_second_run_continues_at_the_first_row_without_a_status(stack: Stack) -> None:
    key = a_key(stack, grant=5)
    done = [*NOBODY, "", "not_found", 0]

    rows = filled(stack, key, [HEADER + RESULTS, done, [*FOUND, "", "", ""]])

    assert rows[1] == done
    assert rows[2] == [*FOUND, "found@sandbox.example", "valid", 1]


def test_a_refusal_that_the_next_row_would_get_too_stops_it_with_its_sentence(stack: Stack) -> None:
    key = a_key(stack, grant=0)

    rows = filled(stack, key, [HEADER, FOUND, SLOW])

    assert rows[1][3] == ""
    assert "credit" in rows[1][4]
    assert rows[2] == SLOW
