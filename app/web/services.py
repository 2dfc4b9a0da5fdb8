"""The services of the application, and the one place where a view looks them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from flask import current_app

from app.engine import database
from app.engine.accounts.authentication import Authenticator
from app.engine.accounts.sessions import SessionLifetime
from app.engine.jobs.job_snapshots import JobReader
from app.engine.jobs.submitter import JobSubmitter
from app.engine.lookups import lookup_parts
from app.engine.lookups.lookups import Lookups
from app.engine.own_records import own_records
from app.engine.own_records.own_records import Find
from app.infra.broker.job_notifications import JobListener
from app.infra.broker.queue import JobPublisher
from app.infra.broker.rate_limiter import Limiter
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.server.bulkhead import Bulkhead
from app.server.byte_shares import ByteShares
from app.server.spool import Spool
from app.settings import Settings

BODY_MEMORY_BYTES = 32 << 20
"""The bytes of request bodies that a process holds in memory; one has at most 256 KiB."""


@dataclass(frozen=True, slots=True, eq=False)
class AppServices:
    """The settings and service objects that `create_app` builds the application from.

    `own_records` find what a workspace has of people in its own systems, by the names of the sources.
    """

    settings: Settings
    digest_keys: DigestKeys
    session_lifetime: SessionLifetime
    authenticator: Authenticator
    database: Database
    lookups: Lookups
    own_records: Mapping[str, Find]
    job_reader: JobReader
    submitter: JobSubmitter
    publisher: JobPublisher
    listener: JobListener
    bulkhead: Bulkhead
    body_memory: ByteShares
    spool: Spool
    limiter: Limiter

    @classmethod
    def build(cls, settings: Settings) -> AppServices:
        """Return the services for these settings; none of them connects yet."""
        keys = DigestKeys.from_settings(settings)
        opened = database.create(settings, keys)
        lifetime = SessionLifetime(
            idle=timedelta(days=settings.session_idle_days),
            absolute=timedelta(days=settings.session_absolute_days),
        )
        bulkhead, publisher = Bulkhead(), JobPublisher(settings.redis_url, settings.broker_url)
        return cls(
            settings=settings,
            digest_keys=keys,
            session_lifetime=lifetime,
            authenticator=Authenticator(opened, lifetime, now=database_clock.now()),
            database=opened,
            lookups=Lookups(opened, settings.prices, bulkhead.db_slot, lookup_parts.load_all(settings)),
            own_records=own_records.load_all(settings),
            job_reader=JobReader(opened),
            submitter=JobSubmitter(opened, publisher, settings, partial(bulkhead.db_slot, to_write=True)),
            publisher=publisher,
            listener=JobListener(settings.redis_url),
            bulkhead=bulkhead,
            body_memory=ByteShares(BODY_MEMORY_BYTES),
            spool=Spool(Path(settings.spool_folder), settings.spool_process_mb << 20),
            limiter=Limiter(settings.redis_url, settings.web_concurrency),
        )


def services() -> AppServices:
    """Return the services of the current application."""
    app_services: AppServices = current_app.extensions["services"]
    return app_services
