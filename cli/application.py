"""The application as the `flask` command loads it: the API's, with every command."""

from __future__ import annotations

from apiflask import APIFlask

from app import factory
from app.settings import Settings, SettingsError
from cli.commands import Commands
from cli.groups.unconfigured import unconfigured


def create_app(settings: Settings | None = None) -> APIFlask:
    """Return the application with its commands; with invalid settings only `doctor` works."""
    try:
        app = factory.create_app(settings)
    except SettingsError as fault:
        return unconfigured(fault)
    app.cli = Commands(app.name)
    return app
