"""A helper that changes the settings of an application under test."""

from __future__ import annotations

import dataclasses
from typing import Any

from apiflask import APIFlask

from app.infra.rate_limiter import Limiter


def change_settings(app: APIFlask, **changes: Any) -> None:
    """Replace the given settings of the running application."""
    services = app.extensions["services"]
    settings = dataclasses.replace(services.settings, **changes)
    limiter = Limiter(settings.redis_url, settings.web_concurrency)
    app.extensions["services"] = dataclasses.replace(services, settings=settings, limiter=limiter)
