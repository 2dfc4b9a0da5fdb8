"""`dev.py extension`: with a browser or without, over a service of its own or one that runs already."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools import extension
from tools.services import stack
from tools.state import ROOT

KNOWN = {"base_url": "http://127.0.0.1:1", "email": "demo@contact-lookup.example", "password": "p"}


@pytest.fixture
def start(bare: dict[str, str]) -> Iterator[Callable[[], str]]:
    """Run the command on a machine without a screen; give what it says once all is there."""
    processes: list[subprocess.Popen[str]] = []
    env = {name: value for name, value in bare.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"

    def run() -> str:
        command = [sys.executable, "-m", "tools.extension"]
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        processes.append(subprocess.Popen(command, cwd=ROOT, env=env, **pipe))
        said = ""
        while "Ctrl-C stops it" not in said:
            line = processes[-1].stdout.readline()
            assert line, said
            said += line
        return said

    yield run
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert [process.returncode for process in processes] == [0] * len(processes)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Let the service be there already, and Chromium be a script; give where it writes what it was told."""
    monkeypatch.setenv("DEV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(stack, "already_up", lambda _state: KNOWN)

    def made(end: str) -> Path:
        script, told = tmp_path / "chromium", tmp_path / "told"
        script.write_text(f'#!/bin/sh\necho "$@" > {told}\n{end}\n')
        script.chmod(0o755)
        monkeypatch.setenv("CHROMIUM", str(script))
        return told

    return made


@pytest.mark.slow
def test_without_a_screen_it_says_how_to_load_it_and_serves_the_websites(start: Callable[[], str]) -> None:
    said = start()
    joined = start()

    address, website = (_after(word, said) for word in ("Server", "Website"))
    host, _, port = website.removeprefix("http://").rstrip("/").partition(":")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        page = answer.read().decode()
    assert "chrome://extensions" in said
    assert str(ROOT / "extension") in said
    assert f"127.0.0.1 {host}" in said
    assert "Northlight Optics" in page
    assert _after("Person", said) in page
    assert _after("Server", joined) == address
    assert _after("Website", joined) != website


def test_with_a_screen_it_opens_chromium_with_the_extension_and_ends_with_it(
    browser: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    told = browser("exit 0")

    code = extension.main([])

    words = told.read_text()
    assert code == 0
    assert f"--load-extension={ROOT / 'extension'}" in words
    assert "MAP northlight-optics.example 127.0.0.1:" in words
    assert words.split()[-1] == "http://northlight-optics.example/"
    assert not Path(_after("--user-data-dir=", words, gap="")).exists()
    assert "The browser was closed" in capsys.readouterr().err


def test_a_chromium_that_does_not_start_is_quoted(
    browser: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    browser("echo 'cannot open display' >&2; exit 3")

    code = extension.main([])

    assert code == 1
    assert re.search(r"ended with code 3:\n  \| cannot open display", capsys.readouterr().err)


def test_a_chromium_that_is_not_there_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DEV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CHROMIUM", "/no/such/chromium")

    assert extension.main([]) == 1

    assert "/no/such/chromium, and no such program" in capsys.readouterr().err


def test_the_zip_has_no_hidden_files_and_goes_where_it_was_sent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, target = tmp_path / "source", tmp_path / "made.zip"
    (source / "store").mkdir(parents=True)
    for name in ("manifest.json", ".DS_Store", "README.md", "store/listing.md"):
        (source / name).write_text("{}")
    monkeypatch.setattr(extension, "SOURCE", source)

    code = extension.main(["--zip", str(target)])
    nowhere = extension.main(["--zip", str(tmp_path / "missing" / "made.zip")])

    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == ["manifest.json"]
    assert (code, nowhere) == (0, 1)
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def _after(word: str, said: str, *, gap: str = r"\s+") -> str:
    found = re.search(rf"{word}{gap}(\S+)", said)
    assert found, said
    return found[1]
