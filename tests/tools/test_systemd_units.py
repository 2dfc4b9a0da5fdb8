from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from app.domain.kinds import Queue
from tools.services.supervisor import RELEASE, procfile_commands
from tools.state import ROOT

UNITS = ROOT / "deploy" / "systemd"
NAMES = sorted(path.name for path in UNITS.iterdir() if path.is_file())
SERVICES = [name for name in NAMES if name.endswith(".service")]
INSTALLED = "/opt/contact-lookup"
MAX_EXPOSURE = 2.0
PROCESSES = {
    "web": "contact-lookup-web.service",
    "beat": "contact-lookup-beat.service",
    "flower": "contact-lookup-flower.service",
    **{f"worker_{queue}": f"contact-lookup-worker-{queue}@.service" for queue in Queue},
}


def lines(name: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", (UNITS / name).read_text(), re.MULTILINE)


def environment(name: str) -> dict[str, str]:
    return dict(word.split("=", 1) for line in lines(name, "Environment") for word in line.split())


def as_systemd_runs_it(name: str) -> list[str]:
    """Return the arguments of the unit with its defaults, as instance 1 of a template."""
    (command,) = lines(name, "ExecStart")
    filled = re.sub(r"\$\{(\w+)\}", lambda found: environment(name)[found[1]], command)
    program, *arguments = shlex.split(filled.replace("%%", "%").replace("%i", "1"))
    return [program.removeprefix(f"{INSTALLED}/.venv/bin/"), *arguments]


def as_honcho_runs_it(process: str) -> list[str]:
    """Return the arguments of the process with its defaults, without what the shell does before."""
    command = procfile_commands()[process].rpartition("exec ")[2]
    outer = re.sub(
        r"\$\{WEB_BIND:-[^}]*\}\}", "127.0.0.1:8000", command
    )  # without WEB_BIND and PORT: all addresses
    return shlex.split(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", outer))


def analyze(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("systemd-analyze is missing: apt-get install systemd")
        pytest.skip("systemd-analyze is missing on this machine")
    return subprocess.run(
        [program, *arguments], env=os.environ | (env or {}), check=False, capture_output=True, text=True
    )


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with programs that exist, since the check of a unit looks for them."""
    folder, programs = tmp_path / "units", tmp_path / "installed" / ".venv" / "bin"
    shutil.copytree(UNITS, folder)
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_text(file.read_text().replace(INSTALLED, str(tmp_path / "installed")))
    programs.mkdir(parents=True)
    for program in ("gunicorn", "celery", "flask"):
        (programs / program).write_text("#!/bin/sh\n")
        (programs / program).chmod(0o755)
    return folder


def test_every_process_of_the_procfile_has_its_unit() -> None:
    assert set(PROCESSES) == set(procfile_commands()) - {RELEASE}
    assert set(SERVICES) == {*PROCESSES.values(), "contact-lookup-backup.service"}


@pytest.mark.parametrize("process", PROCESSES)
def test_a_unit_runs_the_command_of_the_procfile(process: str) -> None:
    instance = as_systemd_runs_it(PROCESSES[process])

    # Several workers of a machine differ in the number of their instance.
    assert [argument.replace("-1@%h", "@%h") for argument in instance] == as_honcho_runs_it(process)


@pytest.mark.parametrize("name", PROCESSES.values())
def test_a_unit_is_restarted_always_and_belongs_to_the_target(name: str) -> None:
    settings = {key: lines(name, key) for key in ("Restart", "StartLimitIntervalSec", "PartOf", "WantedBy")}

    assert settings == {
        "Restart": ["always"],
        "StartLimitIntervalSec": ["0"],  # never given up, however long the database is away
        "PartOf": ["contact-lookup.target"],
        "WantedBy": ["contact-lookup.target"],
    }


@pytest.mark.parametrize("name", NAMES)
def test_systemd_finds_no_fault_in_a_unit(units: Path, name: str) -> None:
    checked = analyze("verify", str(units / name.replace("@.", "@1.")))

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_has_few_privileges(name: str) -> None:
    checked = analyze(
        "security", "--offline=yes", "--no-pager", str(UNITS / name.replace("@.", "@1.")), env={"LC_ALL": "C"}
    )

    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", checked.stdout)
    assert exposure, checked.stderr
    assert float(exposure[1]) <= MAX_EXPOSURE


def test_flower_does_not_start_under_systemd_without_a_login() -> None:
    (check,) = lines("contact-lookup-flower.service", "ExecStartPre")
    command = shlex.split(check.replace("$$", "$"))

    codes = [
        subprocess.run(command, env=env, check=False, capture_output=True).returncode
        for env in ({}, {"FLOWER_BASIC_AUTH": "ops:a-good-password"})
    ]

    assert codes[0] != 0
    assert codes[1] == 0


def test_the_installation_page_starts_these_units() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    enabled = re.findall(r"^systemctl enable --now ([\s\S]+?)(?<!\\)$", page, re.MULTILINE)
    named = {
        word.replace("@1", "@") + ("" if "." in word else ".service")
        for text in enabled
        for word in text.split()
        if word != "\\"
    }

    units = {"contact-lookup-web.socket", "contact-lookup.target", "contact-lookup-backup.timer"}
    assert named == units | set(PROCESSES.values())
