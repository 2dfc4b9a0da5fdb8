"""The application as the `flask` command loads it: the API's, with every command registered."""

from __future__ import annotations

import click
from apiflask import APIFlask

from app import factory
from app.settings import Settings, SettingsError
from cli import (
    accounts,
    audit,
    companies,
    contacts,
    credits,
    database,
    jobs,
    providers,
    suppressions,
    webhooks,
    workers,
    workspaces,
)
from cli.doctor import doctor
from cli.unconfigured import unconfigured

COMMANDS: tuple[click.Command, ...] = (
    accounts.group,
    audit.group,
    companies.group,
    contacts.group,
    credits.group,
    database.group,
    doctor,
    jobs.group,
    providers.group,
    suppressions.group,
    webhooks.group,
    workers.group,
    workspaces.group,
)


def create_app(settings: Settings | None = None) -> APIFlask:
    """Return the application with its commands; with invalid settings only `doctor` works."""
    try:
        app = factory.create_app(settings)
    except SettingsError as fault:
        return unconfigured(fault, COMMANDS)
    for command in COMMANDS:
        app.cli.add_command(command)
    return app
