"""Commands that belong to the workers: named here, loaded when one of them is called.

The app imports no workers; an operator who has only the API's part installed is told so.
"""

from __future__ import annotations

from importlib import import_module

import click

from app.settings import Settings


class Elsewhere(click.Group):
    """A group of commands whose module is imported only when it is used."""

    def __init__(self, name: str, module: str, *, help: str) -> None:  # noqa: A002 -- click's word
        super().__init__(name, help=help)
        self._module = module

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands."""
        return self._group().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command by its name."""
        return self._group().get_command(ctx, cmd_name)

    def _group(self) -> click.Group:
        group: click.Group = import_module(self._module).group
        return group


providers = Elsewhere(
    "providers",
    "workers.commands",
    help="Look at the providers: do their keys work, and what are they worth.",
)


def loaded_providers(settings: Settings) -> tuple[str, ...] | None:
    """Return who is asked for e-mails, first to last; None where the workers are not installed.

    Raises:
        SettingsError: the settings name a provider that does not exist, or their file makes no sense.

    """
    try:
        registry = import_module("workers.providers.registry")
    except ModuleNotFoundError:
        return None
    registry.load(settings)
    return settings.providers("email")
