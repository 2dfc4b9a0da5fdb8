"""The commands when the settings are invalid: `doctor` works, the others report the faults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import click
from apiflask import APIFlask
from flask.cli import AppGroup

from app.settings import SettingsError
from cli.doctor import doctor


class Unconfigured(AppGroup):
    """A group in which every command but `doctor` fails with the faults of the settings."""

    def __init__(self, fault: SettingsError, commands: Iterable[click.Command]) -> None:
        super().__init__()
        self._fault = fault
        for command in commands:
            self.add_command(command if command is doctor else self._failing(command.name))

    def _failing(self, name: str | None) -> click.Command:
        return click.Command(
            name,
            callback=self._fail,
            help="Unavailable: the settings are invalid.",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )

    def _fail(self) -> NoReturn:
        message = f"{self._fault}\nTo list everything that is missing or invalid: flask doctor"
        raise click.ClickException(message)


def unconfigured(fault: SettingsError, commands: Iterable[click.Command]) -> APIFlask:
    """Return an application that serves no requests and in which only the command `doctor` works."""
    app = APIFlask("app", enable_openapi=False, static_folder=None)  # type: ignore[arg-type]  # as in the factory

    def refuse() -> NoReturn:
        raise fault

    app.before_request(refuse)
    app.cli = Unconfigured(fault, commands)
    return app
