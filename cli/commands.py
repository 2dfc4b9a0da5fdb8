"""The commands of `flask`, each imported when it is called."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import click
from flask.cli import AppGroup

from app import feature_registry

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
    "people",
    "providers",
    "suppressions",
    "workers",
    "workspaces",
)
"""The names of the command groups that are no feature's; `cli.<name>` has each as `group`."""


def group_names() -> list[str]:
    """Return the names of all command groups."""
    features = (name for name in feature_registry.FEATURES if feature_registry.module_of(name, "commands"))
    return sorted((*GROUPS, *features))


class Commands(AppGroup):
    """Every command; importing all of them takes 0.4 s, because some need the providers or the migrations."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names of the commands."""
        return sorted((*group_names(), DOCTOR))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """Return the command of this name, or None if there is none."""
        if cmd_name == DOCTOR or cmd_name in GROUPS:
            module: ModuleType | None = import_module(f"cli.{cmd_name}")
        elif cmd_name in feature_registry.FEATURES:
            module = feature_registry.module_of(cmd_name, "commands")
        else:
            return None
        command: click.Command | None = getattr(module, "doctor" if cmd_name == DOCTOR else "group", None)
        return command
