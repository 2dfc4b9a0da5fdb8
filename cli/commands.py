"""The commands of `flask`, each imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click
from flask.cli import AppGroup

DOCTOR = "doctor"
GROUPS = (
    "accounts",
    "audit",
    "backup",
    "companies",
    "contacts",
    "credits",
    "database",
    "jobs",
    "keys",
    "limits",
    "people",
    "providers",
    "suppressions",
    "webhooks",
    "workers",
    "workspaces",
)
"""The names of the command groups; `cli.<name>` has each as `group`."""


class Commands(AppGroup):
    """Every command; importing all of them takes 0.4 s, because some need the providers or the migrations."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names of the commands."""
        return sorted((*GROUPS, DOCTOR))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """Return the command of this name, or None if there is none."""
        if cmd_name not in (*GROUPS, DOCTOR):
            return None
        module = import_module(f"cli.{cmd_name}")
        command: click.Command = module.doctor if cmd_name == DOCTOR else module.group
        return command
