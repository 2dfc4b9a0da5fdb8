"""The commands when the settings are invalid: `doctor` works, the others report the faults."""

from __future__ import annotations

from typing import NoReturn

import click
from apiflask import APIFlask

from app.settings import SettingsError
from cli.commands import Commands, group_names


class Unconfigured(Commands):
    """The commands, of which every one but `doctor` fails with the faults of the settings."""

    def __init__(self, fault: SettingsError) -> None:
        super().__init__()
        self._fault = fault

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command that fails, unless it is `doctor`."""
        return self._failing(cmd_name) if cmd_name in group_names() else super().get_command(ctx, cmd_name)

    def _failing(self, name: str) -> click.Command:
        return click.Command(
            name,
            callback=self._fail,
            help="Unavailable: the settings are invalid.",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )

    def _fail(self) -> NoReturn:
        message = f"{self._fault}\nTo list everything that is missing or invalid: flask doctor"
        raise click.ClickException(message)


def unconfigured(fault: SettingsError) -> APIFlask:
    """Return an application that serves no requests and in which only the command `doctor` works."""
    app = APIFlask("app", enable_openapi=False, static_folder=None)  # type: ignore[arg-type]  # as in the factory

    def refuse() -> NoReturn:
        raise fault

    app.before_request(refuse)
    app.cli = Unconfigured(fault)
    return app
