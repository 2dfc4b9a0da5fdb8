"""`dev.py extension`: with and without a browser, with its own service or a running one."""

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
from typing import Self

import pytest

from tools import extension
from tools.services import stack
from tools.state import ROOT, Lock, State

pytestmark = pytest.mark.slow

KNOWN = {"base_url": "http://127.0.0.1:1", "email": "demo@contact-lookup.example", "password": "p"}


@pytest.fixture
def start(bare: dict[str, str]) -> Iterator[Callable[[], str]]:
    """Return a function that runs the command without a screen and returns its output once it is ready."""
    processes: list[subprocess.Popen[str]] = []
    env = {name: value for name, value in bare.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"

    def run() -> str:
        command = [sys.executable, "-m", "tools.extension"]
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        processes.append(subprocess.Popen(command, cwd=ROOT, env=env, **pipe))
        output = ""
        while "Press Ctrl-C to stop" not in output:
            line = processes[-1].stdout.readline()
            assert line, output
            output += line
        return output

    yield run
    for process in reversed(processes):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert [process.returncode for process in processes] == [0] * len(processes)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Stub a running service, and Chromium by a script that writes its arguments to the returned path."""
    monkeypatch.setenv("DEV_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(stack, "find_running", lambda _state: KNOWN)

    def install(last_line: str) -> Path:
        script, arguments = tmp_path / "chromium", tmp_path / "arguments"
        script.write_text(f'#!/bin/sh\necho "$@" > {arguments}\n{last_line}\n')
        script.chmod(0o755)
        monkeypatch.setenv("CHROMIUM", str(script))
        return arguments

    return install


@pytest.fixture
def running_service(state: State) -> Iterator[None]:
    """Mark a service as running from the data directory, as `dev.py up` does."""
    lock = Lock(state.path("up.lock"))
    assert lock.acquire()
    state.write("up.json", KNOWN)
    yield
    lock.release()


class FakeLocalStack:
    """Stands for the service that the command starts itself, and records the calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.access = KNOWN

    def __enter__(self) -> Self:
        self.calls.append("start")
        return self

    def __exit__(self, *_error: object) -> None:
        self.calls.append("stop")

    def tick(self) -> None:
        self.calls.append("tick")


def test_without_a_running_service_it_starts_one_and_stops_it_when_the_browser_is_closed(
    browser: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser("exit 0")
    service = FakeLocalStack()
    monkeypatch.setattr(stack, "find_running", lambda _state: None)
    monkeypatch.setattr(stack, "LocalStack", lambda _state: service)

    code = extension.main([])

    assert code == 0
    assert (service.calls[0], service.calls[-1]) == ("start", "stop")
    assert KNOWN["base_url"] in capsys.readouterr().err


def test_without_a_screen_it_prints_how_to_load_the_extension_and_serves_the_websites(
    start: Callable[[], str], running_service: None
) -> None:
    output = start()
    second_output = start()

    address, website = (_after(label, output) for label in ("Server", "Website"))
    host, _, port = website.removeprefix("http://").rstrip("/").partition(":")
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"})
    with urllib.request.urlopen(request, timeout=5) as response:
        page = response.read().decode()
    assert "chrome://extensions" in output
    assert str(ROOT / "extension") in output
    assert f"127.0.0.1 {host}" in output
    assert "Northlight Optics" in page
    assert _after("Person", output) in page
    assert address == _after("Server", second_output) == KNOWN["base_url"]
    assert _after("Website", second_output) != website


def test_with_a_screen_it_opens_chromium_with_the_extension_and_ends_with_it(
    browser: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments_file = browser("exit 0")

    code = extension.main([])

    arguments = arguments_file.read_text()
    assert code == 0
    loaded = Path(_after("--load-extension=", arguments, gap=""))
    profile = Path(_after("--user-data-dir=", arguments, gap=""))
    assert loaded.name == "extension"
    assert loaded.parent == profile.parent
    assert "MAP northlight-optics.example 127.0.0.1:" in arguments
    assert arguments.split()[-1] == "http://northlight-optics.example/"
    assert not profile.parent.exists()
    assert "The browser was closed" in capsys.readouterr().err


def test_the_output_of_a_chromium_that_fails_is_shown(
    browser: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    browser("echo 'cannot open display' >&2; exit 3")

    code = extension.main([])

    assert code == 1
    assert re.search(r"exited with code 3:\n  \| cannot open display", capsys.readouterr().err)


def test_a_missing_chromium_is_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DEV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CHROMIUM", "/no/such/chromium")

    assert extension.main([]) == 1

    assert "/no/such/chromium, which is not a program" in capsys.readouterr().err


def test_the_package_has_no_hidden_files_and_is_written_to_the_given_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, target = tmp_path / "source", tmp_path / "made.zip"
    (source / "store").mkdir(parents=True)
    for name in ("manifest.json", ".DS_Store", "README.md", "store/listing.md"):
        (source / name).write_text("{}")
    monkeypatch.setattr(extension, "SOURCE", source)

    code = extension.main(["--zip", str(target)])
    failed = extension.main(["--zip", str(tmp_path / "missing" / "made.zip")])

    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == ["manifest.json"]
    assert (code, failed) == (0, 1)
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


def _after(label: str, text: str, *, gap: str = r"\s+") -> str:
    match = re.search(rf"{label}{gap}(\S+)", text)
    assert match, text
    return match[1]
