from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import procfile
from tools.state import ROOT

IMAGES = {"postgres", "valkey"}
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY", "SUPPRESSION_KEY", "FLOWER_BASIC_AUTH")
PROCESSES = procfile.read(ROOT / "Procfile")


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return content


def instructions(word: str) -> list[str]:
    joined = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split(None, 1)[1] for line in joined.splitlines() if line.startswith(f"{word} ")]


def in_procfile(name: str) -> list[str]:
    """The words of a process without what only honcho needs: staying there after a release."""
    return [word for word in shlex.split(PROCESSES[name].split("&& { [ -z")[0]) if word != "exec"]


def in_compose(name: str) -> list[str]:
    shell, option, command = compose()["services"][name]["command"]
    assert (shell, option) == ("sh", "-c")
    return [word for word in shlex.split(command.replace("$$", "$")) if word != "exec"]


def test_compose_has_the_processes_of_the_procfile_and_the_two_stores() -> None:
    assert set(compose()["services"]) == set(PROCESSES) | IMAGES


@pytest.mark.parametrize("name", PROCESSES)
def test_compose_and_procfile_run_the_same_command(name: str) -> None:
    assert in_compose(name) == in_procfile(name)


def test_every_queue_has_its_worker() -> None:
    queues = {name: re.findall(r"-Q (\w+) ", command) for name, command in PROCESSES.items()}

    workers = {name: found for name, found in queues.items() if name.startswith("worker_")}

    assert workers == {f"worker_{queue}": [queue] for queue in ("interactive", "enrichment", "upkeep")}


@pytest.mark.parametrize("name", compose()["services"])
def test_every_service_is_watched_and_comes_back(name: str) -> None:
    service = compose()["services"][name]

    watched = bool(service["healthcheck"].get("test"))

    assert (watched, service["restart"]) == ((True, "always") if name != "release" else (False, "no"))


def test_only_the_api_and_flower_are_published_and_only_on_loopback_unless_said_otherwise() -> None:
    published = {name: service.get("ports", []) for name, service in compose()["services"].items()}

    assert {name: found for name, found in published.items() if found} == {
        "web": ["${WEB_PUBLISH:-127.0.0.1:8000}:8000"],
        "flower": ["127.0.0.1:5555:5555"],
    }


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()

    for name in SECRETS:
        uses = re.findall(rf"(?<!\$)\$\{{?{name}([^}}]*)", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)


def test_the_processes_wait_for_the_migration_and_the_stores() -> None:
    waits = {name: compose()["services"][name]["depends_on"] for name in PROCESSES if name != "release"}

    for conditions in waits.values():
        assert conditions["release"] == {"condition": "service_completed_successfully"}
        assert conditions["postgres"] == conditions["valkey"] == {"condition": "service_healthy"}


def test_the_queue_evicts_nothing_and_survives_a_restart() -> None:
    command = compose()["services"]["valkey"]["command"][-1]

    assert "--maxmemory-policy noeviction" in command
    assert "--appendonly yes" in command
    assert "requirepass" in command


def test_flower_does_not_start_without_a_login() -> None:
    env = {"PATH": os.environ["PATH"]}

    done = subprocess.run(
        ["/bin/sh", "-c", PROCESSES["flower"]], env=env, check=False, capture_output=True, text=True, cwd=ROOT
    )

    assert done.returncode != 0
    assert "Flower never starts without a login" in done.stderr


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != procfile.RELEASE])
def test_the_systemd_unit_of_the_documentation_runs_each_process_of_the_procfile(
    name: str, tmp_path: Path
) -> None:
    unit = (ROOT / "docs" / "install.md").read_text()
    (found,) = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    command = shlex.split(found.replace("%i", name).replace("$$", "$"))
    for program in ("gunicorn", "celery"):
        (tmp_path / program).write_text('#!/bin/sh\necho "$(basename "$0") $*"\n')
        (tmp_path / program).chmod(0o755)
    (tmp_path / "Procfile").write_text((ROOT / "Procfile").read_text())
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "FLOWER_BASIC_AUTH": "admin:a-good-password"}

    done = subprocess.run(command, env=env, cwd=tmp_path, check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] in PROCESSES[name]
    assert "$" not in done.stdout


def test_the_image_runs_as_nobody_special_and_tells_its_health() -> None:
    assert instructions("USER") == ["service"]
    assert any("--uid 10001" in line for line in instructions("RUN"))
    assert len(instructions("HEALTHCHECK")) == 1
    assert any("--require-hashes" in line for line in instructions("RUN"))


def test_all_that_the_image_copies_is_there_and_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = [line.split() for line in instructions("COPY") if not line.startswith("--from")]

    sources = {source for words in copies for source in words[:-1]}

    assert sources
    assert sources == allowed
    assert all((ROOT / source).exists() for source in sources)


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_has_hashes_and_names_no_machine(name: str) -> None:
    text = (ROOT / name).read_text()

    packages = re.findall(r"^[a-z][^\s=]*==", text, re.MULTILINE)

    assert len(packages) > 50
    assert len(re.findall(r"==[^\n]* \\\n    --hash=sha256:", text)) == len(packages)
    assert "://" not in text
    assert " /" not in text


def test_the_development_lock_holds_all_of_the_other() -> None:
    pins = [
        set(re.findall(r"^([a-z][^\s=]*==[^\s]+)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-dev.lock")
    ]

    assert pins[0] < pins[1]


def test_compose_itself_accepts_the_file() -> None:
    docker = shutil.which("docker")
    found = docker and subprocess.run([docker, "compose", "version"], check=False, capture_output=True)
    if not docker or not found or found.returncode:
        pytest.skip("no docker client with compose on this machine")
    env = {**os.environ, **dict.fromkeys(SECRETS, "x" * 40)}

    command = [docker, "compose", "--project-directory", str(ROOT), "config", "--format", "json"]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["services"]) == set(PROCESSES) | IMAGES
