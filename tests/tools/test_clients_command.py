"""`dev.py clients` on a machine without Node, and with a tool that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.clients import __main__, commands, document, python_client, typescript_client
from tools.clients.commands import ClientError


@pytest.fixture(autouse=True)
def _without_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Node, on which the Python client is built at once; the project is not changed."""
    wheel = tmp_path / "client.whl"
    wheel.touch()
    monkeypatch.setenv("DEV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(document, "PATH", tmp_path / "openapi.json")
    monkeypatch.setattr(document, "text", lambda _document: "{}")
    monkeypatch.setattr(document, "served", dict)
    monkeypatch.setattr(python_client, "build", lambda _document, _folder: wheel)
    monkeypatch.setattr(typescript_client, "is_possible", lambda: False)


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_without_node_the_python_client_is_built_and_ci_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str, code: int
) -> None:
    monkeypatch.setenv("CI", ci)

    result = __main__.main()

    output = capsys.readouterr()
    assert result == code
    assert output.out.endswith("data/clients/client.whl\n")
    assert "it needs Node 20" in output.err


def test_a_tool_that_fails_is_named_with_its_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_document: object, folder: Path) -> Path:
        commands.run("sh", "-c", "echo no such field; exit 3", cwd=folder)
        return folder

    monkeypatch.setattr(python_client, "build", fail)

    assert __main__.main() == 1
    assert "exited with code 3:\nno such field" in capsys.readouterr().err


def test_a_tool_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="no-such-program is not installed"):
        commands.run("no-such-program", cwd=tmp_path)
