"""On the first start with a database: a workspace with credits, an account to sign in with, samples."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tools.redis_server import ServiceError
from tools.state import DEMO_EMAIL, ROOT, State, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

CREDITS = "250"
SAMPLES = {"contacts": ROOT / "demo" / "people.csv", "companies": ROOT / "demo" / "companies.csv"}


def ensure(state: State, env: Mapping[str, str]) -> None:
    """Do the steps that this database has not had yet; each is remembered, so that none is done twice."""
    database = fingerprint(env["DATABASE_URL"])
    everything = state.read("seeded.json")
    done: dict[str, Any] = everything.setdefault(database, {})

    def remember(name: str, value: object) -> None:
        done[name] = value
        state.write("seeded.json", everything)

    if "workspace" not in done:
        remember("workspace", _flask(env, "workspaces", "create", "Demo")["id"])
    workspace = str(done["workspace"])
    if "account" not in done:
        options = ["--workspace", workspace, "--name", "Demo Admin", "--role", "admin", "--api-access"]
        password = state.secrets()["DEMO_PASSWORD"]
        answer = _flask(env, "accounts", "create", DEMO_EMAIL, *options, "--password-stdin", stdin=password)
        remember("account", answer["id"])
    if "credits" not in done:
        remember("credits", _flask(env, "credits", "grant", workspace, CREDITS, "--reason", "demo"))
    for noun, sample in SAMPLES.items():
        if noun not in done and sample.exists():
            remember(noun, _flask(env, noun, "import", str(sample)))


def _flask(env: Mapping[str, str], *words: str, stdin: str = "") -> dict[str, Any]:
    """Run one `flask` command with --json, and return its answer."""
    command = [sys.executable, "-m", "flask", *words, "--json"]
    done = subprocess.run(  # noqa: S603 - words from this file
        command, cwd=ROOT, env=dict(env), input=stdin, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = "\n".join("  | " + line for line in (done.stderr + done.stdout).splitlines()[-15:])
        raise ServiceError(f"flask {' '.join(words[:2])} ended with {done.returncode}:\n{said}")
    try:
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise ServiceError(
            f"flask {' '.join(words[:2])} --json did not answer JSON: {done.stdout!r}"
        ) from None
    return answer
