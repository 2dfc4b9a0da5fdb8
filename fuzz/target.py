"""The service that is fuzzed: every process of Procfile.small, with its own data directory and data."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from app.settings import Settings
from tools import http_client
from tools.console import step
from tools.demo import steps
from tools.demo.client import DemoClient, DemoError
from tools.services import environment, postgres
from tools.services.processes import ServiceError
from tools.services.stack import LocalStack
from tools.state import ROOT, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EMAIL = "ada@acme.example"  # as in the document's example of a sign-in, which therefore succeeds
OTHER_EMAIL = "grace@acme.example"  # the account whose password the requests change
PASSWORD = "correct horse battery staple"  # noqa: S105 - see above
CREDITS = "1000000"
UNLIMITED = "10000000/minute"
UNSET = ("DATABASE_URL", "REDIS_URL", "HUNTER_API_KEY", "PROVIDERS_FILE", "WEBHOOK_NETWORKS")


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """A running service, and a contact whose e-mail address has been revealed."""

    url: str
    state: State
    env: dict[str, str]
    contact: str = ""
    contact_email: str = ""

    def flask(self, *arguments: str, stdin: str = "") -> tuple[int, Any]:
        """Run an operator's command with --json; return its exit code, and its result or else its output."""
        completed = subprocess.run(  # noqa: S603 - arguments from this package
            [sys.executable, "-m", "flask", *arguments, "--json"],
            cwd=ROOT,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            return completed.returncode, json.loads(completed.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            return completed.returncode, (completed.stdout + completed.stderr).strip()


@contextmanager
def running(folder: Path, *, on_postgres: bool) -> Iterator[FuzzTarget]:
    """Yield a service that runs as long as the block; its files are in `folder`.

    Raises:
        ServiceError: something did not start, or the data could not be created.

    """
    with ExitStack() as stop:
        _set_environment(stop.enter_context(postgres.running()) if on_postgres else None)
        state = State.open(folder)
        stack = stop.enter_context(LocalStack(state))
        env = environment.for_children(state, os.environ, redis_url=stack.env["REDIS_URL"])
        target = FuzzTarget(stack.base_url, state, env)
        with step("call every endpoint once, so that there is data of every kind"):
            contact, email = _populate(target, stack.access or {})
        yield replace(target, contact=contact, contact_email=email)


def _set_environment(database_url: str | None) -> None:
    """Set what all processes inherit: rate limits that are never reached, and no provider but the sandbox."""
    for name in UNSET:
        os.environ.pop(name, None)
    os.environ |= {
        setting.name.upper(): UNLIMITED for setting in fields(Settings) if setting.name.startswith("limit_")
    }
    os.environ |= {f"PROVIDERS_{name}": "sandbox" for name in ("EMAIL", "PHONE", "PERSON", "COMPANY")}
    os.environ |= {"PROVIDERS_VERIFICATION": "", "LOG_LEVEL": "info", "NO_PROXY": "127.0.0.1"}
    if database_url:
        os.environ["DATABASE_URL"] = database_url


def _populate(target: FuzzTarget, access: dict[str, str]) -> tuple[str, str]:
    """Create data of every kind and two accounts; return the id and e-mail address of a revealed contact."""
    try:
        steps.run(DemoClient(Console(quiet=True), target.url), access["email"], access["password"])
    except DemoError as error:
        raise ServiceError(f"The demo failed before any fuzzing:\n{error}") from error
    workspace = str(target.state.read("seeded.json").popitem()[1]["workspace"]["id"])
    options = shlex.split(f"--workspace {workspace} --name Ada --role admin --api-access --password-stdin")
    for arguments in (
        ("credits", "grant", workspace, CREDITS, "--reason", "fuzz"),
        ("accounts", "create", EMAIL, *options),
        ("accounts", "create", OTHER_EMAIL, *options),
        ("companies", "filter", "--build"),
    ):
        code, output = target.flask(*arguments, stdin=PASSWORD)
        if code:
            raise ServiceError(f"flask {shlex.join(arguments[:2])} exited with code {code}: {output}")
    return _reveal_sandbox_contact(target)


def _reveal_sandbox_contact(target: FuzzTarget) -> tuple[str, str]:
    headers = {"Content-Type": "application/json"}
    login = {"email": EMAIL, "password": PASSWORD}
    session = http_client.send("POST", f"{target.url}/api/ext/login", login, headers)
    headers["Authorization"] = f"Bearer {session.value_at('access_token')}"
    body = {
        "subject": {"linkedin_url": f"{steps.SANDBOX_PROFILE}slow"}
    }  # the demo reported a bounce of "found"
    revealed = http_client.send("POST", f"{target.url}/api/ext/reveal/email", body, headers)
    return str(revealed.value_at("result.contact_id")), str(revealed.value_at("result.emails.0.email"))
