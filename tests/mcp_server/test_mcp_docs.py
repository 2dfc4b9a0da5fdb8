"""What docs/programs.md says about the MCP server, held against it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import async_support
import pytest

from mcp_server import __main__, settings
from mcp_server.server import build
from mcp_server.settings import Settings
from tools.state import ROOT

PAGE = (ROOT / "docs" / "programs.md").read_text()


@pytest.fixture
def clients() -> list[dict[str, Any]]:
    """The servers in the page's examples of a client's settings: over stdio, and over HTTP."""
    blocks = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    examples = [json.loads(block) for block in blocks if "mcpServers" in block]
    return [example["mcpServers"]["contact-lookup"] for example in examples]


def test_the_table_of_tools_has_every_tool() -> None:
    tools = async_support.run(build(Settings("http://127.0.0.1:1", "key_test")).list_tools)

    cells = re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE)

    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == {tool.name for tool in tools}


def test_the_examples_of_clients_name_the_command_and_its_settings(clients: list[dict[str, Any]]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stdio, http = clients

    assert Path(stdio["command"]).name in project["scripts"]
    assert Settings.read(stdio["env"], with_key=True).key == stdio["env"][settings.KEY]
    assert http["url"].endswith("/mcp")


def test_the_options_in_the_page_are_those_of_the_command() -> None:
    commands = re.findall(r"contact-lookup-mcp (--http .+)$", PAGE, re.MULTILINE)

    parsed = [__main__._parser().parse_args(command.split()) for command in commands]  # noqa: SLF001 -- serves nothing

    assert len(parsed) == 2
    assert all(options.public_url == ["https://lookup.example.com"] for options in parsed)


def test_an_address_that_others_reach_needs_its_public_url(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(settings.URL, "http://127.0.0.1:1")

    code = __main__.main(["--http", "--host", "0.0.0.0"])  # noqa: S104 -- refused

    assert code == 2
    assert "--public-url" in capsys.readouterr().err
