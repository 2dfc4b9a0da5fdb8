"""Every table of the engine and of the features."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

from app import engine, feature_registry
from app.domain.ids import Prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of a feature, which are declared by the import.

    `created` are those whose rows a request with an Idempotency-Key creates, with the prefix of their ids.
    """

    created: tuple[tuple[str, Prefix], ...] = ()


def of_features() -> list[Tables]:
    """Return the tables of all features."""
    return [module.TABLES for module in feature_registry.parts("tables")]


def register() -> None:
    """Import the modules that define tables, so that `Base.metadata` has all of them."""
    for module in pkgutil.walk_packages(engine.__path__, f"{engine.__name__}."):
        importlib.import_module(module.name)
    of_features()
