"""The registry of all providers by name; the settings select and order them per field."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from app.settings import Settings, SettingsError
from workers.providers.apollo import Apollo
from workers.providers.base import Provider, ProviderField
from workers.providers.configured import provider
from workers.providers.dropcontact import Dropcontact
from workers.providers.fullenrich import FullEnrich
from workers.providers.hunter import Hunter
from workers.providers.leadmagic import LeadMagic
from workers.providers.mx import Mx
from workers.providers.pattern import Pattern
from workers.providers.pdl import PeopleDataLabs
from workers.providers.prospeo import Prospeo
from workers.providers.reacher import Reacher
from workers.providers.rocketreach import RocketReach
from workers.providers.sandbox import Sandbox
from workers.providers.website.provider import Website

PROVIDERS: tuple[type[Provider], ...] = (
    Website,
    Pattern,
    Sandbox,
    Hunter,
    Prospeo,
    LeadMagic,
    PeopleDataLabs,
    Apollo,
    Dropcontact,
    RocketReach,
    FullEnrich,
    Mx,
    Reacher,
)
"""One line per provider; the settings refer to the class's `name`."""


@lru_cache(maxsize=16)
def load(settings: Settings) -> dict[str, Provider]:
    """Create every provider from its settings, by name, including the providers of `PROVIDERS_FILE`.

    Raises:
        SettingsError: the settings name an unknown provider or one without the field, or the file is invalid.

    """
    configured_providers: tuple[type[Provider], ...] = ()
    if settings.providers_file:
        reserved = [provider.name for provider in PROVIDERS]
        configured_providers = provider.read(settings.providers_file, os.environ, reserved)
    known = {
        provider.name: provider(settings.access(provider.name))
        for provider in (*PROVIDERS, *configured_providers)
    }
    for variable, field, name in _named(settings):
        if name not in known:
            message = (
                f"{variable} names {name!r}, which is not a provider. Available: {', '.join(sorted(known))}."
            )
            raise SettingsError(message)
        if field not in known[name].fields:
            supporting = ", ".join(sorted(entry.name for entry in known.values() if field in entry.fields))
            message = (
                f"{variable} names {name!r}, which does not support this field. Those that do: {supporting}."
            )
            raise SettingsError(message)
    return known


def _named(settings: Settings) -> Iterator[tuple[str, ProviderField, str]]:
    """Yield each provider named in a configured order, with the variable and field of the order."""
    regions = {
        (name, name.rpartition("_")[2])
        for name, _value in settings.provider_variables
        if name.startswith("PROVIDERS_")
    }
    for field in ProviderField:
        default_variable = f"PROVIDERS_{field.value.upper()}"
        yield from ((default_variable, field, name) for name in settings.providers(field.value))
        for variable, region in regions:
            if variable == f"{default_variable}_{region}":
                yield from ((variable, field, name) for name in settings.providers(field.value, region))
