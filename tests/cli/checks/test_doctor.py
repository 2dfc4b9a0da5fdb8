"""`flask doctor` on real servers: its findings, and that one run reports all of them."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis as redis_client
from click.testing import CliRunner, Result
from e2e_stack import run_flask
from local_servers import free_port, start_redis
from pytest_httpserver import HTTPServer

from app import settings as app_settings
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from cli.checks import clocks
from cli.checks.findings import Level
from cli.doctor import doctor
from tools.services import postgres
from tools.state import ROOT

PASSWORD = "canary-" + secrets.token_urlsafe(12)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Mapping[str, str]:
    """An environment with valid settings and no servers, independent of the machine's own environment."""
    monkeypatch.chdir(tmp_path)
    for name in (*app_settings.REQUIRED, "METRICS_TOKEN", "WEB_CONCURRENCY", "PORT"):
        monkeypatch.delenv(name, raising=False)
    environment = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/app.sqlite3",
        "REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1:1/0",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "SUPPRESSION_KEY": secrets.token_urlsafe(48),
        "FLOWER_BASIC_AUTH": f"admin:{PASSWORD}",
        "WEB_BIND": f"127.0.0.1:{free_port()}",
        "FLOWER_PORT": str(free_port()),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a temporary PostgreSQL server."""
    with postgres.running() as url:
        yield url.replace("+psycopg", "")


@pytest.fixture
def base(server: str, monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> Iterator[str]:
    """The URL of an empty database on the server, set as DATABASE_URL."""
    name = f"doctor_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" ENCODING UTF8 TEMPLATE template0')
    url = server.rpartition("/")[0] + f"/{name}"
    monkeypatch.setenv("DATABASE_URL", url)
    yield url
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def redis(tmp_path: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a separate Redis-protocol server with a password, set as REDIS_URL."""
    port = free_port()
    process = start_redis(port, tmp_path)
    url = f"redis://:{PASSWORD}@127.0.0.1:{port}/0"
    with redis_client.Redis(port=port) as client:
        client.config_set("requirepass", PASSWORD)
        client.config_set("maxmemory-policy", "noeviction")
    monkeypatch.setenv("REDIS_URL", url)
    with redis_client.Redis.from_url(url) as client:
        yield client
    process.terminate()
    process.wait()


def examine() -> Result:
    return CliRunner().invoke(doctor, ["--json"])


def findings(result: Result | None = None) -> dict[str, dict[str, str]]:
    body = json.loads((result or examine()).stdout)
    return {finding["what"]: finding for finding in body["findings"] if finding["level"] != "ok"} | {
        "ok": body["ok"]
    }


def flask(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `flask` as an operator does, with the virtual environment active and no other settings."""
    bin_folder = Path(sys.executable).parent
    environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(folder), **variables}
    return subprocess.run(
        [str(bin_folder / "flask"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout without a `.env`."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("app", "workers", "cli", ".flaskenv"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def test_every_fault_of_the_settings_is_listed_at_once(
    monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]
) -> None:
    for name in app_settings.REQUIRED:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WEB_CONCURRENCY", "two")
    monkeypatch.setenv("PROVIDERS_ORDER", "backwards")
    monkeypatch.setenv("WEBHOOK_NETWORKS", "10.0.0.1/8")

    result = examine()

    reported = findings(result)
    errors = {name for name, finding in reported.items() if name != "ok" and finding["level"] == "error"}
    assert errors == {*app_settings.REQUIRED, "WEB_CONCURRENCY", "PROVIDERS_ORDER", "WEBHOOK_NETWORKS"}
    assert all(reported[name]["remedy"] for name in errors)
    assert (result.exit_code, reported["ok"]) == (1, False)


def test_a_correct_installation_has_only_notes(base: str, redis: Any) -> None:
    redis.config_set("appendonly", "yes")
    run_flask(os.environ, "database", "upgrade")

    result = examine()

    reported = findings(result)
    assert {name for name in reported if name != "ok" and not name.startswith("disk of")} == {
        "METRICS_TOKEN",
        "PUBLIC_URL",
        "SMTP_URL",
        "TRUSTED_PROXIES",
        "workers",
    }
    assert (result.exit_code, reported["ok"]) == (0, True)


def test_a_public_server_without_its_address_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, environment: Mapping[str, str]
) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "1")
    unset = findings()["PUBLIC_URL"]
    monkeypatch.setenv("PUBLIC_URL", "https://contacts.acme.example/app")
    wrong = findings()["PUBLIC_URL"]
    monkeypatch.setenv("PUBLIC_URL", "https://contacts.acme.example")

    assert (unset["level"], wrong["level"]) == ("warning", "error")
    assert "PUBLIC_URL" not in findings()


def test_the_findings_are_printed_as_an_aligned_table(environment: Mapping[str, str]) -> None:
    result = CliRunner().invoke(doctor)

    lines = result.stdout.splitlines()
    rows = [line for line in lines[1:] if line.startswith(("ok", "note", "warning", "error"))]
    column = lines[0].index("state")
    assert len(rows) > 8
    assert all(row[column - 2 : column] == "  " and row[column] != " " for row in rows)
    assert lines[-1].startswith("2 to correct")


def test_no_secret_is_printed(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = "".join(CliRunner().invoke(doctor, arguments).output for arguments in ([], ["--json"]))
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, f"postgresql://user:{PASSWORD}/x@[host:{PASSWORD}")
        shown += examine().output

    assert PASSWORD not in shown
    assert environment["SECRET_KEY"] not in shown
    assert environment["SUPPRESSION_KEY"] not in shown


def test_a_login_of_flower_without_a_password_is_not_a_missing_one(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "admin")

    assert findings()["FLOWER_BASIC_AUTH"]["state"] == "has not the form name:password"


@pytest.mark.parametrize("login", ["", "admin", "admin:", "admin:admin", "admin:aaaaaaaaaaaaaaaaaaaa"])
def test_flower_needs_a_login_with_a_strong_password(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, login: str
) -> None:
    monkeypatch.setenv("FLOWER_BASIC_AUTH", login)

    assert findings()["FLOWER_BASIC_AUTH"]["level"] == "error"


def test_the_passwords_of_the_example_are_errors(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = dict(
        line.split("=", 1) for line in (ROOT / ".env.example").read_text().splitlines() if line[:1].isupper()
    )
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.setenv(name, example[name])

    reported = findings()

    assert {reported[name]["state"] for name in ("DATABASE_URL", "REDIS_URL")} == {
        "has the example's password"
    }


def test_an_unreachable_database_is_distinguished_from_a_wrong_password(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = []
    for url in (
        f"postgresql://postgres:{PASSWORD}@127.0.0.1:{free_port()}/postgres",
        f"postgresql://postgres:{PASSWORD}@{base.partition('@')[2]}",
        base.rpartition("/")[0] + "/no_such_database",
    ):
        monkeypatch.setenv("DATABASE_URL", url)
        reported.append(findings()["database"]["state"])

    assert reported == ["cannot be reached", "refuses the user or password", "has no such database or user"]


def test_a_database_without_tables_is_reported_with_the_command_to_run(base: str) -> None:
    reported = findings()["tables"]

    assert (reported["level"], reported["state"]) == ("error", "there are none yet")
    assert reported["remedy"] == "run: flask database upgrade"


@pytest.mark.parametrize(
    ("revision", "state"), [("0056", "from before version 0.1.0"), ("9999", "newer than this version")]
)
def test_tables_of_another_version_are_reported_with_their_revision(
    base: str, revision: str, state: str
) -> None:
    with psycopg.connect(base) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num text)")
        connection.execute("INSERT INTO alembic_version VALUES (%s)", [revision])

    reported = findings()["tables"]

    assert reported["level"] == "error"
    assert state in reported["state"]


def test_a_database_that_is_not_utf8_is_refused_before_its_migration_fails(
    server: str, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"ascii_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING SQL_ASCII LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    monkeypatch.setenv("DATABASE_URL", server.rpartition("/")[0] + f"/{name}")

    reported = findings()["database"]

    assert reported["level"] == "error"
    assert "has the encoding SQL_ASCII" in reported["state"]
    assert "UTF8" in reported["remedy"]


def test_a_user_without_the_right_to_create_tables_is_reported(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"user_{secrets.token_hex(4)}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE USER {name} PASSWORD '{PASSWORD}'")
    monkeypatch.setenv("DATABASE_URL", f"postgresql://{name}:{PASSWORD}@{base.partition('@')[2]}")

    reported = findings()["database user"]

    assert (reported["level"], reported["state"]) == ("warning", "may not create tables")


def test_a_user_who_may_not_create_the_database_of_a_verification_is_a_note(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"user_{secrets.token_hex(4)}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE USER {name} PASSWORD '{PASSWORD}'")
        connection.execute(f"ALTER SCHEMA public OWNER TO {name}")
        monkeypatch.setenv("DATABASE_URL", f"postgresql://{name}:{PASSWORD}@{base.partition('@')[2]}")
        reported = findings()
        connection.execute(f"ALTER USER {name} CREATEDB")
        allowed = findings()

    assert reported["database user"]["level"] == "note"
    assert "flask backup verify" in reported["database user"]["state"]
    assert "database user" not in allowed


def test_a_missing_sqlite_file_is_not_created(environment: Mapping[str, str], tmp_path: Path) -> None:
    reported = findings()

    assert reported["database"]["remedy"] == "run: flask database upgrade"
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_redis_password_is_distinguished_from_an_unreachable_redis(
    redis: Any, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = []
    for url in (
        os.environ["REDIS_URL"].replace(f":{PASSWORD}@", ""),
        os.environ["REDIS_URL"].replace(PASSWORD, "wrong"),
        environment["REDIS_URL"],
    ):
        monkeypatch.setenv("REDIS_URL", url)
        reported.append(findings()["Redis"]["state"])

    refused = "refuses the password, or needs one"
    assert reported == [refused, refused, "cannot be reached"]


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_redis_that_may_evict_is_an_error(redis: Any, policy: str) -> None:
    redis.config_set("maxmemory-policy", policy)

    reported = findings()["Redis eviction"]

    assert (reported["level"], reported["remedy"]) == ("error", "set maxmemory-policy noeviction")


def test_a_redis_without_memory_is_an_error(redis: Any) -> None:
    redis.config_set("maxmemory", "1")

    assert findings()["Redis"]["state"] == "is out of memory and refuses writes"


def test_a_replica_of_redis_is_an_error(redis: Any) -> None:
    redis.replicaof("127.0.0.1", free_port())

    assert findings()["Redis"]["state"] == "is a read-only replica"


def test_a_redis_without_persistence_is_a_note(redis: Any) -> None:
    reported = findings()["Redis data"]

    assert (reported["level"], reported["state"]) == ("note", "none: a restart loses the queue")


def test_a_redis_without_a_password_is_a_warning(redis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    redis.config_set("requirepass", "")
    monkeypatch.setenv("REDIS_URL", os.environ["REDIS_URL"].replace(f":{PASSWORD}@", ""))

    assert findings()["Redis"]["level"] == "warning"


@pytest.mark.parametrize(
    ("ahead", "level", "state"),
    [
        (0.9, Level.OK, "agrees"),
        (-0.9, Level.OK, "agrees"),
        (1.2, Level.WARNING, "1.2 s behind"),
        (-3600.0, Level.WARNING, "3600.0 s ahead of"),
    ],
)
def test_a_clock_difference_of_a_second_is_tolerated(ahead: float, level: Level, state: str) -> None:
    reported = clocks.clock_finding("Redis", ahead)

    assert reported.level is level
    assert state in reported.state


def test_a_clock_that_is_ahead_is_reported(base: str, redis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(hours=1))

    reported = findings()

    assert {reported[f"clock of {server}"]["level"] for server in ("the database", "Redis")} == {"warning"}


@pytest.mark.parametrize(
    ("subject", "setting"), [("port of the API", "WEB_BIND"), ("port of Flower", "FLOWER_PORT")]
)
def test_a_port_in_use_by_another_program_is_an_error(
    environment: Mapping[str, str],
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    subject: str,
    setting: str,
) -> None:
    bind = f"127.0.0.1:{httpserver.port}"
    monkeypatch.setenv(setting, bind if setting == "WEB_BIND" else str(httpserver.port))

    reported = findings()[subject]

    assert (reported["level"], reported["state"]) == ("error", f"{bind} is in use by another program")
    assert setting in reported["remedy"]


@pytest.mark.parametrize(
    ("secret", "found"),
    [
        ("SECRET_KEY", ("ok", "this service")),
        ("SUPPRESSION_KEY", ("error", "another installation of this service")),
        (None, ("error", "another installation of this service")),
    ],
)
def test_the_api_of_another_installation_is_not_this_service(
    environment: Mapping[str, str],
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    secret: str | None,
    found: tuple[str, str],
) -> None:
    monkeypatch.setenv("WEB_BIND", f"127.0.0.1:{httpserver.port}")
    installation = DigestKeys(environment[secret or "SECRET_KEY"].encode(), b"").installation
    if secret is None:
        monkeypatch.delenv("SECRET_KEY")
    headers = {"API-Version": "2026-07-01", "Installation": installation}
    httpserver.expect_request("/healthz").respond_with_json({"status": "ok"}, headers=headers)

    body = json.loads(examine().stdout)["findings"]
    (reported,) = (finding for finding in body if finding["what"] == "port of the API")

    assert (reported["level"], reported["state"].partition("in use by ")[2]) == found


class FlowerHandler(BaseHTTPRequestHandler):
    """Answers as Flower does."""

    server_version = "TornadoServer/6.5"
    login = ""
    realm = "flower"

    def do_GET(self) -> None:
        """Accept the login only."""
        basic = "Basic " + b64encode(self.login.encode()).decode()
        accepted = self.headers["Authorization"] == basic
        self.send_response(200 if accepted else 401)
        if not accepted:
            self.send_header("WWW-Authenticate", f'Basic realm="{self.realm}"')
        self.end_headers()


@pytest.mark.parametrize(
    ("other", "realm", "found"),
    [
        ("", "flower", "this service"),
        ("another", "flower", "another installation of this service"),
        ("", "notebooks", "another program"),
    ],
)
def test_only_a_flower_that_accepts_the_login_is_this_service(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, other: str, realm: str, found: str
) -> None:
    monkeypatch.setattr(FlowerHandler, "realm", realm)
    monkeypatch.setattr(FlowerHandler, "login", f"{environment['FLOWER_BASIC_AUTH']}{other}")
    with ThreadingHTTPServer(("127.0.0.1", 0), FlowerHandler) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("FLOWER_PORT", str(server.server_port))
        body = json.loads(examine().stdout)["findings"]
        server.shutdown()

    (reported,) = (finding for finding in body if finding["what"] == "port of Flower")
    assert reported["state"].endswith(f"is in use by {found}")
    assert reported["level"] == ("ok" if found == "this service" else "error")


def test_the_sandbox_among_the_providers_is_a_warning(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDERS_PHONE", "default,sandbox")

    reported = findings()["providers"]

    assert reported["level"] == "warning"
    assert "remove sandbox" in reported["remedy"]


@pytest.mark.usefixtures("environment")
def test_a_port_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_BIND", "127.0.0.1:80000")

    reported = findings()["port of the API"]

    assert (reported["level"], reported["state"]) == ("error", "127.0.0.1:80000 has no valid port")


@pytest.mark.usefixtures("environment")
def test_an_address_of_another_machine_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_BIND", "192.0.2.1:8000")

    reported = findings()["port of the API"]

    assert reported["level"] == "error"
    assert reported["state"].startswith("192.0.2.1:8000 cannot be used: ")


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("PROVIDERS_EMAIL", "hunter,nobody", "names 'nobody'"),
        ("PROVIDERS_FILE", "/no/such/file.toml", "cannot be read"),
        ("HUNTER_RATE", "often", "HUNTER_RATE is 'often'"),
    ],
)
def test_provider_settings_are_checked(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, name: str, value: str, state: str
) -> None:
    monkeypatch.setenv(name, value)

    reported = findings()["providers"]

    assert reported["level"] == "error"
    assert state in reported["state"]


def test_a_provider_that_is_named_without_its_key_is_a_warning(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDERS_EMAIL", "pattern,hunter,prospeo")
    monkeypatch.setenv("PROSPEO_API_KEY", "a-key")
    without = findings()["provider keys"]
    monkeypatch.setenv("HUNTER_API_KEY", "a-key")

    assert (without["level"], without["state"]) == ("warning", "not set, so never called: hunter")
    assert "flask providers check" in without["remedy"]
    assert "provider keys" not in findings()


def test_websites_that_are_read_without_a_contact_are_a_warning(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDERS_EMAIL", "website")
    without = findings()
    monkeypatch.setenv("WEBSITE_CONTACT", "ops@example.com")

    assert without["websites"]["level"] == "warning"
    assert "WEBSITE_CONTACT is empty" in without["websites"]["state"]
    assert "websites" not in findings()


@pytest.mark.release
def test_flask_reads_the_env_file(checkout: Path, environment: Mapping[str, str]) -> None:
    (checkout / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))

    upgrade = flask("database", "upgrade", folder=checkout)
    result = flask("accounts", "list", folder=checkout)
    providers = flask("providers", "report", "--json", folder=checkout)

    assert (upgrade.stdout, upgrade.returncode) == ("The database is up to date.\n", 0), upgrade.stderr
    assert result.returncode == 0, result.stderr
    assert providers.returncode == 0, providers.stderr


@pytest.mark.release
def test_with_invalid_settings_only_doctor_works_and_other_commands_name_the_faults(checkout: Path) -> None:
    weak = 32 * "a"
    (checkout / ".env").write_text(f"SECRET_KEY={weak}\nSUPPRESSION_KEY={weak}\n")

    result = flask("accounts", "list", folder=checkout)
    examined = flask("doctor", folder=checkout)

    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "SECRET_KEY can be guessed" in result.stderr
    assert "flask doctor" in result.stderr
    assert examined.returncode == 1
    assert examined.stdout.count("can be guessed") == 2
