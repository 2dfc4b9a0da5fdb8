"""Every provider there is, by name; the settings say which are asked for what, in which order."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from app.settings import Access, Settings
from workers.providers.base import Field, Provider
from workers.providers.pattern import Pattern
from workers.providers.sandbox import Sandbox

PROVIDERS: tuple[Callable[[Access], Provider], ...] = (Pattern, Sandbox)
"""One line each; the class's `name` is what the settings call it."""


@lru_cache(maxsize=16)
def load(settings: Settings) -> dict[str, Provider]:
    """Put every provider together, with what the settings say of it, by name."""
    return {provider.name: provider(settings.access(provider.name)) for provider in PROVIDERS}  # type: ignore[attr-defined]


def in_order(settings: Settings, field: Field, region: str | None = None) -> tuple[Provider, ...]:
    """Give the providers to ask for the field, first to last; `region` is an ISO country or None."""
    known = load(settings)
    names = settings.providers(field.value, region)
    return tuple(known[name] for name in names if name in known and field in known[name].fields)
