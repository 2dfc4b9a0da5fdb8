"""Every provider there is, by name; the settings say which are asked for what, in which order."""

from __future__ import annotations

from app.settings import Settings
from workers.providers.base import Field, Provider
from workers.providers.pattern import Pattern
from workers.providers.sandbox import Sandbox

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (Pattern(), Sandbox())}


def in_order(settings: Settings, field: Field) -> tuple[Provider, ...]:
    """Give the providers to ask for the field, first to last."""
    order = {
        Field.EMAIL: settings.providers_email,
        Field.PHONE: settings.providers_phone,
        Field.PERSON: settings.providers_person,
        Field.COMPANY: settings.providers_company,
    }
    return tuple(PROVIDERS[name] for name in order[field] if field in PROVIDERS[name].fields)
