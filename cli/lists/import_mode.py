"""Other ways in which `flask contacts import` and `flask companies import` handle a file, chosen by flags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import click

from app import feature_registry
from app.domain.lists.headers.column_mapping import Entity


class Run(Protocol):
    """Handles the file, with the values of the options by name."""

    def __call__(self, entity: Entity, file: str, options: dict[str, Any], *, as_json: bool) -> None:
        """Handle the file."""


@dataclass(frozen=True, slots=True)
class ImportMode:
    """A mode that the flag of this name chooses."""

    name: str
    help: str
    run: Run

    @property
    def option(self) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """The option of the flag."""
        return click.option(f"--{self.name}", is_flag=True, help=self.help)


def import_modes() -> list[ImportMode]:
    """Return the modes of all features."""
    return [mode for module in feature_registry.parts("import_modes") for mode in module.IMPORT_MODES]
