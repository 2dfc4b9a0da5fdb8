"""A running service for end-to-end tests: real API and worker processes on loopback."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from jsonschema_rs import Draft202012Validator
from local_servers import empty_broker, free_port, start_redis
from polling import wait_until

from app import settings as app_settings
from app.domain.findings import EmailStatus, FoundContact, FoundEmail, Source, SourceKind
from app.domain.kinds import Queue
from app.engine.accounts import accounts, sessions, workspaces
from app.engine.accounts.accounts import Role
from app.engine.accounts.sessions import SessionLifetime
from app.engine.contacts import contacts
from app.engine.ledger import credits
from app.infra import clock
from app.infra.crypto import passwords
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from cli.application import create_app

ROOT = Path(__file__).parents[3]
PROCESSES = 2
PASSWORD = "correct horse battery staple"
PASSWORD_HASH = passwords.hash_password(PASSWORD)
WORKERS = "workers.main"
ALL_QUEUES = ",".join(Queue)
SESSION_LIFETIME = SessionLifetime(idle=timedelta(days=1), absolute=timedelta(days=1))


@dataclass
class ApiResponse:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str:
        return str(self.body["code"])


@dataclass
class Stack:
    """A running service: its API for callers, and its processes and database."""

    base_url: str
    database: Database
    redis_port: int
    redis_folder: Path
    redis: subprocess.Popen[bytes]
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    web: subprocess.Popen[bytes] | None = None
    openapi: dict[str, Any] = field(default_factory=dict)
    application: str = WORKERS

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=40) as reply:
                response = _read_response(reply)
        except urllib.error.HTTPError as error:
            with error:
                response = _read_response(error)
        self._check(method, path, response)
        return response

    def _check(self, method: str, path: str, response: ApiResponse) -> None:
        """Check a response against the service's own OpenAPI document."""
        if not self.openapi:
            return
        rule = re.sub(r"^/api/keys/.+", "/api/keys/{key_id}", path.partition("?")[0])
        rule = re.sub(r"^/api/limits/keys/.+", "/api/limits/keys/{key_id}", rule)
        rule = re.sub(r"^/api/sessions/.+", "/api/sessions/{session_id}", rule)
        rule = re.sub(r"^/api/crm/pushes/.+", "/api/crm/pushes/{push_id}", rule)
        operation = self.openapi["paths"].get(rule, {}).get(method.lower())
        if operation is None:
            return
        content = operation["responses"][str(response.status)].get("content", {})
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.body:
            schema = {**content[kind]["schema"], "components": self.openapi["components"]}
            Draft202012Validator(schema).validate(response.body)

    def create_workspace(self, *, grant: int = 100) -> tuple[str, str]:
        """Create a workspace with credits and an account; return its id and the token of a new session.

        The session is created in the database, because a login checks the password, which is slow on purpose.
        """
        with self.database.transaction() as session:
            now = clock.now()
            workspace = workspaces.create(session, name="Example", now=now)
            email = f"{workspace.id.replace('_', '-')}@customer.example"
            account = accounts.create(
                session,
                workspace.id,
                email=email,
                name="Ada Example",
                role=Role.ADMIN,
                api_access=True,
                password_hash=PASSWORD_HASH,
                now=now,
            )
            if grant:
                credits.grant(session, workspace.id, grant, reason="test", now=now)
            _, token = sessions.start(
                session, account.id, network=b"", lifetime=SESSION_LIFETIME, now=database_clock.value(session)
            )
        return workspace.id, f"Bearer {token}"

    def grant(self, workspace_id: str, amount: int) -> None:
        with self.database.transaction() as session:
            credits.grant(session, workspace_id, amount, reason="test", now=clock.now())

    def create_contacts(self, count: int) -> list[str]:
        """Store contacts with a valid address each; return their ids."""
        now = clock.now()
        source = Source("test", SourceKind.IMPORT, now)
        tag = secrets.token_hex(4)
        ids = []
        with self.database.transaction() as session:
            for number in range(count):
                email = FoundEmail(
                    email=f"p{number}@{tag}.example", type="work", status=EmailStatus.VALID, source=source
                )
                contact = FoundContact(source=source, full_name=f"Person {tag} {number}", emails=(email,))
                ids.append(contacts.upsert(session, contact, now=now).id)
        return ids

    def start_worker(self, queues: str = ALL_QUEUES) -> subprocess.Popen[bytes]:
        name = f"worker{len(self.workers)}"
        worker = spawn(
            *("celery", "-q", "-A", self.application, "worker", "-Q", queues, "-P", "threads", "-c", "10"),
            *("--without-gossip", "--without-mingle", "-n", f"{name}@%h"),
            log=self.redis_folder / f"{name}.log",
            environment=self.environment,
        )
        self.workers.append(worker)
        return worker

    @contextmanager
    def suspended_workers(self, only: slice = slice(None)) -> Iterator[None]:
        """Suspend these workers until the block ends, while none of them holds SQLite's lock for writing."""
        while True:
            with suspended(self.workers[only]):
                if _can_be_written(self.database):
                    yield
                    return

    def stop_redis(self) -> None:
        self.redis.kill()
        self.redis.wait()

    def start_redis(self) -> None:
        self.redis = start_redis(self.redis_port, self.redis_folder)


def spawn(*command: str, log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a Python module in its own process group."""
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=environment,
            stderr=file,
            stdout=file,
            start_new_session=True,
        )


def _read_response(response: Any) -> ApiResponse:
    raw = response.read()
    kind = response.headers.get("Content-Type", "")
    body = json.loads(raw) if "json" in kind else raw
    return ApiResponse(response.status, dict(response.headers), body)


def run_flask(environment: Mapping[str, str], *arguments: str) -> str:
    """Run `flask` with these arguments and return its output.

    The command runs in this process, because importing the application takes longer than any command.
    """
    with mock.patch.dict(os.environ, environment):
        settings, errors = app_settings.read()
    assert not errors
    app = create_app(settings)
    try:
        result = app.test_cli_runner().invoke(args=arguments)
    finally:
        app.extensions["services"].listener.close()
        app.extensions["services"].database.close()
    assert result.exit_code == 0, result.output
    return result.stdout


def is_ready(stack: Stack) -> bool:
    try:
        return stack.call("GET", "/readyz").status == 200
    except OSError:
        return False


def kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    except ProcessLookupError:
        process.wait()


def _can_be_written(database: Database) -> bool:
    if not database.is_sqlite:
        return True
    with closing(sqlite3.connect(database.engine.url.database or "", timeout=1)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


@contextmanager
def suspended(processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Suspend these processes and their children until the block ends."""
    try:
        for process in processes:
            os.killpg(process.pid, signal.SIGSTOP)
            if hasattr(os, "waitid"):  # not on macOS before Python 3.13
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        yield
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGCONT)


@contextmanager
def running(
    folder: Path,
    url: str,
    *,
    workers: Sequence[str] = (ALL_QUEUES,),
    application: str = WORKERS,
    **settings: str,
) -> Iterator[Stack]:
    """Run the API on its production server, workers and Redis over the database, which is migrated first.

    `workers` are the queues of each worker process; by default one consumes all of them. `application` is
    the module that they run.
    The API has two processes, and only the sandbox and pattern providers are queried, unless the settings
    say otherwise.
    """
    with empty_broker("e2e") as broker_url:
        yield from _running(folder, url, workers, application, {"BROKER_URL": broker_url, **settings})


def _running(
    folder: Path, url: str, workers: Sequence[str], application: str, settings: dict[str, str]
) -> Iterator[Stack]:
    redis_port, web_port = free_port(), free_port()
    environment = os.environ | {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        "LOG_LEVEL": "info",
        "WEB_CONCURRENCY": str(PROCESSES),
        "REPUBLISH_SECONDS": "2",
        "LIMIT_SPEND": "100000/minute",
        "LIMIT_LOGIN_ADDRESS": "100000/minute",
        "LIMIT_LOGIN_ACCOUNT": "100000/minute",
        **{f"PROVIDERS_{field}": "default,sandbox" for field in ("EMAIL", "PHONE", "PERSON", "COMPANY")},
        "PROVIDERS_VERIFICATION": "",
        "SPOOL_FOLDER": str(folder / "spool"),
        **settings,
    }
    run_flask(environment, "database", "upgrade")
    with ExitStack() as stop:
        redis = start_redis(redis_port, folder)
        web = spawn(
            *(
                "gunicorn",
                "-c",
                "gunicorn.conf.py",
                "-b",
                f"127.0.0.1:{web_port}",
                "app.factory:create_app()",
            ),
            log=folder / "web.log",
            environment=environment,
        )
        stop.callback(kill, web)
        keys = DigestKeys(environment["SECRET_KEY"].encode(), environment["SUPPRESSION_KEY"].encode())
        stack = Stack(
            f"http://127.0.0.1:{web_port}",
            Database(url, keys=keys),
            redis_port,
            folder,
            redis,
            dict(environment),
            application=application,
        )
        stack.web = web
        stop.callback(stack.stop_redis)
        stop.callback(lambda: [kill(worker) for worker in stack.workers])
        for queues in workers:
            stack.start_worker(queues)
        wait_until(lambda: is_ready(stack), 60)
        stack.openapi = stack.call("GET", "/openapi.json").body
        yield stack
        stack.database.close()
