"""Every table of the engine and of the features."""

from __future__ import annotations

import importlib
import pkgutil

from app import engine, feature_registry


def register() -> None:
    """Import the modules that define tables, so that `Base.metadata` has all of them."""
    for module in pkgutil.walk_packages(engine.__path__, f"{engine.__name__}."):
        importlib.import_module(module.name)
    list(feature_registry.parts("tables"))  # each is imported when it is reached
