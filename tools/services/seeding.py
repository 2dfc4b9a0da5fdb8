"""Create the demo workspace in a database that does not have it."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

from tools.console import echo, step
from tools.services.supervisor import run_to_completion
from tools.state import DEMO_EMAIL, State, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

ACCOUNT_TAKEN_OVER = f"""  The database already had the account {DEMO_EMAIL}, so the demo took it over:
  it has a new password, and its sessions and API keys have ended."""


def seed(state: State, env: Mapping[str, str]) -> None:
    """Run `tools.demo.seed`, unless this database has had all of its steps.

    Raises:
        ServiceError: it failed.

    """
    if _record(state, env).get("complete"):
        return
    with step("create the demo workspace while the processes start"):
        command = f"exec {shlex.quote(sys.executable)} -m tools.demo.seed"
        run_to_completion(command, state, {**env, "DEV_DATA_DIR": str(state.directory)}, "seed")
    if _record(state, env).get("taken_over"):
        echo(ACCOUNT_TAKEN_OVER)


def _record(state: State, env: Mapping[str, str]) -> dict[str, Any]:
    """Return which seeding steps this database has had."""
    record: dict[str, Any] = state.read("seeded.json").get(fingerprint(env["DATABASE_URL"]), {})
    return record
