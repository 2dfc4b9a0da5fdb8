"""The commands of `flask`, each imported when it is called."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import click
from flask.cli import AppGroup

from app import feature_registry

DOCTOR = "doctor"
GROUPS = (
    "accounts",
    "audit",
    "companies",
    "contacts",
    "credits",
    "database",
    "jobs",
    "keys",
    "people",
    "workers",
    "workspaces",
)
"""The names of the command groups that are no feature's; `cli.<name>` has each as `group`."""


def group_names() -> list[str]:
    """Return the names of all command groups."""
    having = (name for name in feature_registry.FEATURES if feature_registry.module_of(name, "commands"))
    features = (name.replace("_", "-") for name in having)
    return sorted((*GROUPS, *features))


class Commands(AppGroup):
    """Every command; importing all of them takes 0.4 s, because some need the providers or the migrations."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names of the commands."""
        return sorted((*group_names(), DOCTOR))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """Return the command of this name, or None if there is none."""
        if cmd_name == DOCTOR:
            doctor: click.Command = import_module("cli.doctor").doctor
            return doctor
        return group(cmd_name) if cmd_name in group_names() else None


@cache
def group(name: str) -> click.Group:
    """Return the group of this name, with the commands that features add to it."""
    module = f"cli.{name}" if name in GROUPS else f"app.features.{name.replace('-', '_')}.commands"
    found: click.Group = import_module(module).group
    for feature in feature_registry.parts("subcommands"):
        for command in feature.SUBCOMMANDS.get(name, ()):
            found.add_command(command)
    return found
