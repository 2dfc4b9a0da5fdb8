"""Conversion of the timestamps in a provider's response from this process's clock to the database's."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from workers.providers.base import ProviderResponse


def in_database_time(reply: ProviderResponse, *, since: datetime, ahead: timedelta) -> ProviderResponse:
    """Return the reply with each timestamp from `since` on moved back by `ahead`.

    `since` is when the provider was called, `ahead` the lead of this process's clock over the database's.
    Earlier timestamps come from the vendor and are left unchanged.
    """
    return cast("ProviderResponse", _shifted(reply, since, ahead))


def _shifted(value: object, since: datetime, ahead: timedelta) -> object:
    if isinstance(value, datetime):
        return value - ahead if value >= since else value
    if isinstance(value, tuple):
        return tuple(_shifted(element, since, ahead) for element in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{item.name: _shifted(getattr(value, item.name), since, ahead) for item in fields(value)}
        )
    return value
