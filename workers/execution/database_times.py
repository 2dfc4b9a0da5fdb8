"""Times in a provider's answer, moved from this process's clock to the database's."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from workers.providers.base import ProviderResponse


def in_database_time(reply: ProviderResponse, *, since: datetime, ahead: timedelta) -> ProviderResponse:
    """Return the reply with the times that this process's clock gave put back by what it is ahead.

    Those are the times from `since`, when the provider was asked; earlier ones are the vendor's own and stay.
    """
    return cast("ProviderResponse", _moved(reply, since, ahead))


def _moved(value: Any, since: datetime, ahead: timedelta) -> Any:  # noqa: ANN401 -- any field of a reply
    if isinstance(value, datetime):
        return value - ahead if value >= since else value
    if isinstance(value, tuple):
        return tuple(_moved(one, since, ahead) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        moved = {one.name: _moved(getattr(value, one.name), since, ahead) for one in fields(value)}
        return replace(value, **moved)
    return value
