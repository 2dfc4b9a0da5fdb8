"""Every provider there is, by name; the settings say which are asked for what, in which order."""

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

PROVIDERS: tuple[type[Provider], ...] = (
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
"""One line each; the class's `name` is what the settings call it."""


@lru_cache(maxsize=16)
def load(settings: Settings) -> dict[str, Provider]:
    """Put every provider together with what the settings say of it, by name; those of one's own file, too.

    Raises:
        SettingsError: the settings name one that does not exist, or the file makes no sense.

    """
    own: tuple[type[Provider], ...] = ()
    if settings.providers_file:
        taken = [provider.name for provider in PROVIDERS]
        own = provider.read(settings.providers_file, os.environ, taken)
    known = {provider.name: provider(settings.access(provider.name)) for provider in (*PROVIDERS, *own)}
    for variable, field, name in _named(settings):
        if name not in known:
            message = (
                f"{variable} names {name!r}, which is no provider. There are: {', '.join(sorted(known))}."
            )
            raise SettingsError(message)
        if field not in known[name].fields:
            able = ", ".join(sorted(one.name for one in known.values() if field in one.fields))
            message = f"{variable} names {name!r}, which cannot be asked for that. Those that can: {able}."
            raise SettingsError(message)
    return known


def in_order(settings: Settings, field: ProviderField, region: str | None = None) -> tuple[Provider, ...]:
    """Give the providers to ask for the field, first to last; `region` is an ISO country or None."""
    known = load(settings)
    names = settings.providers(field.value, region)
    return tuple(known[name] for name in names)


def _named(settings: Settings) -> Iterator[tuple[str, ProviderField, str]]:
    """Give every provider that an order names, with the variable and the field of the order."""
    regions = {
        (name, name.rpartition("_")[2])
        for name, _value in settings.provider_variables
        if name.startswith("PROVIDERS_")
    }
    for field in ProviderField:
        usual = f"PROVIDERS_{field.value.upper()}"
        yield from ((usual, field, name) for name in settings.providers(field.value))
        for variable, region in regions:
            if variable == f"{usual}_{region}":
                yield from ((variable, field, name) for name in settings.providers(field.value, region))
