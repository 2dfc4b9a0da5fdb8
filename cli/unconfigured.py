"""The commands of an application whose settings are wrong: `doctor` works, the others name the faults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import click
from apiflask import APIFlask
from flask.cli import AppGroup

from app.settings import SettingsError
from cli.doctor import doctor


class Unconfigured(AppGroup):
    """Every command but `doctor` ends with what is wrong with the settings."""

    def __init__(self, fault: SettingsError, commands: Iterable[click.Command]) -> None:
        super().__init__()
        self._fault = fault
        for each in commands:
            self.add_command(each if each is doctor else self._failing(each.name))

    def _failing(self, name: str | None) -> click.Command:
        return click.Command(
            name,
            callback=self._fail,
            help="Not usable: the settings are wrong.",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )

    def _fail(self) -> NoReturn:
        message = f"{self._fault}\nTo see everything that is missing or wrong: flask doctor"
        raise click.ClickException(message)


def unconfigured(fault: SettingsError, commands: Iterable[click.Command]) -> APIFlask:
    """Make an application that has commands only, of which `doctor` alone works."""
    app = APIFlask("app", enable_openapi=False, static_folder=None)  # type: ignore[arg-type]  # as in the factory

    def refuse() -> NoReturn:
        raise fault

    app.before_request(refuse)
    app.cli = Unconfigured(fault, commands)
    return app
