"""Texts that are stored and shown within a line are refused with a line break, in every command."""

from __future__ import annotations

import pytest
from apiflask import APIFlask

TWO_LINES = "Acme\nGlobex"


@pytest.mark.parametrize(
    "command",
    [
        ("workspaces", "create", TWO_LINES),
        ("accounts", "create", "ada@acme.example", "--workspace", "Acme", "--name", TWO_LINES),
        ("credits", "grant", "Acme", "5", "--reason", TWO_LINES),
        ("suppressions", "add", "--email", "ada@acme.example", "--reason", TWO_LINES),
        ("suppressions", "import", "-", "--list", TWO_LINES),
        ("suppressions", "import", "-", "--reason", TWO_LINES),
        ("contacts", "import", "-", "--source", TWO_LINES),
    ],
    ids=lambda command: " ".join(command[:2]) + " " + command[-2],
)
def test_a_line_break_is_refused(app: APIFlask, command: tuple[str, ...]) -> None:
    result = app.test_cli_runner().invoke(args=list(command))

    assert result.exit_code == 2
    assert "Leave out line breaks and control characters." in result.stderr
