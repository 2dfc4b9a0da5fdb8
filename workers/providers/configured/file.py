"""Reads the TOML file of configured providers (see `docs/providers.example.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from marshmallow import ValidationError

from app.settings import SettingsError
from workers.providers.configured.schemas import ProviderSchema, ProviderSpec

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_TABLE_ERRORS = "_schema"


def provider_specs(path: str) -> tuple[ProviderSpec, ...]:
    """Read the file; return the specification of each of its tables."""
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"PROVIDERS_FILE is {path!r}; it cannot be read: {error}") from error
    return tuple(_spec(path, name, table) for name, table in tables.items())


def _spec(path: str, name: str, table: object) -> ProviderSpec:
    if not (_NAME.fullmatch(name) and isinstance(table, dict)):
        raise SettingsError(
            f"{path}: {name!r} must be a table with a name of lowercase letters, digits and _, such as [crm]."
        )
    try:
        return ProviderSpec(name=name, **ProviderSchema().load(table))
    except ValidationError as error:
        problems = "; ".join(_problems(_tree(error), name))
        raise SettingsError(f"{path}: {problems}") from error


def _tree(error: ValidationError) -> dict[Any, Any]:
    return error.messages if isinstance(error.messages, dict) else {_TABLE_ERRORS: error.messages}


def _problems(messages: Mapping[Any, Any], table: str) -> Iterator[str]:
    """Flatten marshmallow's tree of messages into lines of place and message."""
    for key, value in messages.items():
        if isinstance(value, Mapping):
            yield from _problems(value, f"{table}.{key}")
        else:
            place = f"[{table}]" if key == _TABLE_ERRORS else f"[{table}] {key}"
            yield f"{place}: {' '.join(map(str, value))}"
