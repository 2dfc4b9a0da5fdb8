"""The stack that is fuzzed: all processes of the Procfile, in a directory of its own, and filled."""

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
from tools.services import environment, postgres, stack
from tools.services.processes import ServiceError
from tools.state import ROOT, State

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EMAIL = "ada@acme.example"  # those of the document's example, so that it signs in
OTHER_EMAIL = "grace@acme.example"  # whose password is changed all the time
PASSWORD = "correct horse battery staple"  # noqa: S105 - see above
CREDITS = "1000000"
UNLIMITED = "10000000/minute"
UNSET_VARIABLES = ("DATABASE_URL", "REDIS_URL", "HUNTER_API_KEY", "PROVIDERS_FILE", "WEBHOOK_NETWORKS")


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """A running service: where it is, where it logs, and the environment of its `flask` commands."""

    url: str
    state: State
    env: dict[str, str]
    contact: str = ""
    contact_email: str = ""

    def log(self, name: str) -> str:
        """Give what a process wrote."""
        return (self.state.logs / f"{name}.log").read_text(errors="replace")

    def flask(self, *words: str, stdin: str = "") -> tuple[int, Any]:
        """Run an operator's command with --json; give its exit code and its answer, or what it said."""
        done = subprocess.run(  # noqa: S603 - words of this package
            [sys.executable, "-m", "flask", *words, "--json"],
            cwd=ROOT,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            return done.returncode, json.loads(done.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            return done.returncode, (done.stdout + done.stderr).strip()


@contextmanager
def running(folder: Path, *, on_postgres: bool) -> Iterator[FuzzTarget]:
    """Run the service while the block runs; nothing of it is left behind but what it wrote into the folder.

    Raises:
        ServiceError: something does not start, or cannot be filled.

    """
    with ExitStack() as stop:
        _set_environment(stop.enter_context(postgres.running()) if on_postgres else None)
        state = State.open(folder)
        started = stop.enter_context(stack.LocalStack(state))
        known = state.read("up.json")
        env = environment.for_children(state, os.environ, redis_url=str(known["redis_url"]))
        target = FuzzTarget(str(known["base_url"]), state, env)
        with step("walk through all endpoints, so that there is something of everything"):
            contact, email = _populate(target, started.access or {})
        yield replace(target, contact=contact, contact_email=email)


def _set_environment(database_url: str | None) -> None:
    """Set what all processes inherit: no limit is reached, and nobody outside this machine is asked."""
    for name in UNSET_VARIABLES:
        os.environ.pop(name, None)
    os.environ |= {
        setting.name.upper(): UNLIMITED for setting in fields(Settings) if setting.name.startswith("limit_")
    }
    os.environ |= {f"PROVIDERS_{name}": "sandbox" for name in ("EMAIL", "PHONE", "PERSON", "COMPANY")}
    os.environ |= {"PROVIDERS_VERIFICATION": "", "LOG_LEVEL": "info", "NO_PROXY": "127.0.0.1"}
    if database_url:
        os.environ["DATABASE_URL"] = database_url


def _populate(target: FuzzTarget, known: dict[str, str]) -> tuple[str, str]:
    """Leave something of everything behind, and accounts; give the id and address of somebody revealed."""
    try:
        steps.run(DemoClient(Console(quiet=True), target.url), known["email"], known["password"])
    except DemoError as problem:
        raise ServiceError(f"The walk failed, before any fuzzing:\n{problem}") from problem
    workspace = str(target.state.read("seeded.json").popitem()[1]["workspace"]["id"])
    options = (
        "--workspace",
        workspace,
        "--name",
        "Ada",
        "--role",
        "admin",
        "--api-access",
        "--password-stdin",
    )
    for words in (
        ("credits", "grant", workspace, CREDITS, "--reason", "fuzz"),
        ("accounts", "create", EMAIL, *options),
        ("accounts", "create", OTHER_EMAIL, *options),
    ):
        code, said = target.flask(*words, stdin=PASSWORD)
        if code:
            raise ServiceError(f"flask {shlex.join(words[:2])} ended with {code}: {said}")
    return _reveal_sandbox_contact(target)


def _reveal_sandbox_contact(target: FuzzTarget) -> tuple[str, str]:
    headers = {"Content-Type": "application/json"}
    signed_in = http_client.send(
        "POST", f"{target.url}/api/ext/login", {"email": EMAIL, "password": PASSWORD}, headers
    )
    headers["Authorization"] = f"Bearer {signed_in.value_at('access_token')}"
    body = {"subject": {"linkedin_url": f"{steps.SANDBOX_PROFILE}found"}}
    found = http_client.send("POST", f"{target.url}/api/ext/reveal/email", body, headers)
    return str(found.value_at("result.contact_id")), str(found.value_at("result.emails.0.email"))
