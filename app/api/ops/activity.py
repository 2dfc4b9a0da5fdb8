"""The activity of the service: what `/metrics` reports beyond the readiness of its parts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client.core import Metric
from sqlalchemy import func, select

from app.api.ops.probes import Probe
from app.domain.kinds import Queue
from app.engine.accounts import workspaces
from app.engine.privacy import first_notices
from app.engine.providers import provider_throttles, recent_calls
from app.engine.providers.recent_calls import RecentCalls
from app.engine.queues import recent_jobs, worker_heartbeats
from app.engine.queues.recent_jobs import RecentJobs
from app.engine.work import items
from app.infra.broker import beat_heartbeat, redis_client
from app.infra.database import database_clock
from app.infra.database.db import UtcDateTime
from app.infra.database.session import Session
from app.settings import Settings
from app.web.feature import web_parts
from app.web.services import AppServices

RECOUNT_SECONDS = 300.0
PROBE_SECONDS = 3.0
"""The time limit of each probe; Prometheus waits ten seconds for an answer unless told otherwise."""


@dataclass(frozen=True, slots=True)
class ProviderActivity:
    """The state of a provider: its recent calls, and its credits today; `budget` is None if none is set."""

    is_healthy: bool
    recent: RecentCalls
    credits: float
    budget: float | None


@dataclass(frozen=True, slots=True)
class DatabaseActivity:
    """The activity that the database reports; `started_at` is when its server started, None on SQLite."""

    started_at: datetime | None
    lost_workers: dict[Queue, int]
    jobs: RecentJobs
    features: list[Metric]
    credits: dict[str, int]
    providers: dict[str, ProviderActivity]
    given_up: dict[str, int]


@dataclass(frozen=True, slots=True)
class RedisActivity:
    """The activity that Redis reports; `started_at` is a Unix time, None if it is not reported."""

    started_at: int | None
    beat_age_seconds: float


class Activity:
    """The probes of this process."""

    def __init__(self, services: AppServices) -> None:
        self._services = services
        self.database = Probe(self._read_database, seconds=PROBE_SECONDS)
        self.overdue_notices = Probe(self._count_overdue_notices, seconds=PROBE_SECONDS)
        self.redis = Probe(self._read_redis, seconds=PROBE_SECONDS)
        self._counted: tuple[int, float] | None = None
        self._notice_period = timedelta(days=services.settings.notice_days)
        self._redis = redis_client.connect(services.settings.redis_url)

    def _read_database(self) -> DatabaseActivity:
        with self._services.database.reading() as session:
            now = database_clock.value(session)
            return DatabaseActivity(
                _started_at(session),
                worker_heartbeats.count_lost(session, now=now),
                recent_jobs.read(session, now=now),
                [gauge for part in web_parts() for gauge in part.gauges(session, now)],
                workspaces.credit_totals(session),
                _providers(session, self._services.settings, now),
                items.failed_counts(session, now=now),
            )

    def _count_overdue_notices(self) -> int:
        """Return the count of this process, a few minutes old: it can take seconds."""
        if self._counted is None or time.monotonic() - self._counted[1] > RECOUNT_SECONDS:
            with self._services.database.reading() as session:
                now = database_clock.value(session)
                count = first_notices.count_overdue(session, period=self._notice_period, now=now)
            self._counted = count, time.monotonic()
        return self._counted[0]

    def _read_redis(self) -> RedisActivity:
        server = self._redis.info("server")
        return RedisActivity(_redis_started_at(server), beat_heartbeat.age_seconds(self._redis))


def _started_at(session: Session) -> datetime | None:
    if session.get_bind().dialect.name == "sqlite":
        return None
    started = func.pg_postmaster_start_time(type_=UtcDateTime())  # only on PostgreSQL
    return session.execute(select(started)).scalar_one()  # only on PostgreSQL


def _redis_started_at(server: Mapping[str, int]) -> int | None:
    """Return the Unix time at which Redis started: both figures are from the same moment."""
    if "server_time_usec" not in server:
        return None
    return server["server_time_usec"] // 1_000_000 - server["uptime_in_seconds"]


def _providers(session: Session, settings: Settings, now: datetime) -> dict[str, ProviderActivity]:
    """Return the activity of each provider that is configured, or was called in the last minute."""
    health = provider_throttles.health(session)
    recent = recent_calls.by_provider(session, now=now)
    credits = recent_calls.credits_today(session)
    return {
        name: ProviderActivity(
            is_healthy=health.get(name, True),
            recent=recent.get(name, RecentCalls()),
            credits=credits.get(name, 0.0),
            budget=settings.access(name).daily_budget,
        )
        for name in sorted(settings.provider_names | recent.keys())
    }
