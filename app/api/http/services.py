"""The services of the application, and the one place where a view looks them up."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app

from app.infra.db import Database
from app.infra.job_notifications import JobListener
from app.infra.queue import JobPublisher
from app.infra.rate_limiter import Limiter
from app.server.bulkhead import Bulkhead
from app.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class AppServices:
    """The settings and service objects that `create_app` builds the application from."""

    settings: Settings
    database: Database
    publisher: JobPublisher
    listener: JobListener
    bulkhead: Bulkhead
    limiter: Limiter

    @classmethod
    def build(cls, settings: Settings) -> AppServices:
        """Return the services for these settings; none of them connects yet."""
        return cls(
            settings=settings,
            database=Database(settings.database_url),
            publisher=JobPublisher(settings.redis_url),
            listener=JobListener(settings.redis_url),
            bulkhead=Bulkhead(),
            limiter=Limiter(settings.redis_url, settings.web_concurrency),
        )


def services() -> AppServices:
    """Return the services of the current application."""
    found: AppServices = current_app.extensions["services"]
    return found
