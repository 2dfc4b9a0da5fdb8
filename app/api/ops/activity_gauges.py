"""Gauges of the service's activity; the label values are the names of queues, states and providers only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.api.ops.activity import Activity, DatabaseActivity, ProviderActivity
from app.api.ops.probes import ProbeTimeout, Unreachable


class ActivityGauges(Collector):
    """Collects the activity of the deployment; omits what comes from a part that does not answer."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the database and of Redis."""
        started = GaugeMetricFamily(
            "ext_start_time_seconds", "Unix time at which the server started.", labels=["part"]
        )
        with suppress(ProbeTimeout, Unreachable):
            database = self._activity.database()
            if database.started_at is not None:
                started.add_metric(["database"], database.started_at.timestamp())
            yield from _of_database(database)
        with suppress(ProbeTimeout, Unreachable):
            yield GaugeMetricFamily(
                "ext_notices_overdue",
                "People whose first notice was due a day ago, 1000 at most; 0 if NOTICE_DAYS is 0.",
                value=self._activity.overdue_notices(),
            )
        with suppress(ProbeTimeout, Unreachable):
            redis = self._activity.redis()
            if redis.started_at is not None:
                started.add_metric(["redis"], redis.started_at)
            yield GaugeMetricFamily(
                "ext_beat_age_seconds",
                "Seconds since Celery beat last ran; infinite after an hour.",
                value=redis.beat_age_seconds,
            )
        yield started


def _of_database(database: DatabaseActivity) -> Iterator[Metric]:
    lost = GaugeMetricFamily(
        "ext_workers_lost",
        "Workers that ended in the last ten minutes without shutting down.",
        labels=["queue"],
    )
    for queue, workers in database.lost_workers.items():
        lost.add_metric([queue.value], workers)
    finished = GaugeMetricFamily(
        "ext_jobs_finished", "Jobs that finished in the last minute, by status.", labels=["status"]
    )
    for status, jobs in database.jobs.finished.items():
        finished.add_metric([status.value], jobs)
    crashed = GaugeMetricFamily(
        "ext_jobs_crashed",
        "Jobs that lost a worker and are unfinished, or finished in the last minute.",
        value=database.jobs.crashed,
    )
    credits = GaugeMetricFamily("ext_credits", "Credits of all workspaces, by state.", labels=["state"])
    for state, amount in database.credits.items():
        credits.add_metric([state], amount)
    yield from (lost, finished, crashed, credits)
    yield from database.features
    yield from _of_providers(database.providers)
    given_up = GaugeMetricFamily(
        "ext_given_up",
        "Uploads, imports and mailbox codes given up in the last hour, and suspended CRM connections.",
        labels=["kind"],
    )
    for kind, count in database.given_up.items():
        given_up.add_metric([kind], count)
    yield given_up


def _of_providers(providers: Mapping[str, ProviderActivity]) -> Iterator[Metric]:
    healthy = GaugeMetricFamily(
        "ext_provider_healthy",
        "0 if the provider failed repeatedly, rejected the key or had no credits left; otherwise 1.",
        labels=["provider"],
    )
    calls = GaugeMetricFamily(
        "ext_provider_calls",
        "Calls sent to the provider in the last minute, by outcome.",
        labels=["provider", "outcome"],
    )
    seconds = GaugeMetricFamily(
        "ext_provider_seconds",
        "Mean seconds until the provider responded, in the last 30 seconds.",
        labels=["provider"],
    )
    credits = GaugeMetricFamily(
        "ext_provider_credits",
        "Credits of the provider spent since midnight UTC, and the most that open calls may cost.",
        labels=["provider"],
    )
    budget = GaugeMetricFamily(
        "ext_provider_budget_credits", "The provider's daily budget in its credits.", labels=["provider"]
    )
    for name, provider in providers.items():
        healthy.add_metric([name], provider.is_healthy)
        credits.add_metric([name], provider.credits)
        for outcome, count in provider.recent.by_outcome.items():
            calls.add_metric([name, outcome], count)
        if provider.recent.seconds is not None:
            seconds.add_metric([name], provider.recent.seconds)
        if provider.budget is not None:
            budget.add_metric([name], provider.budget)
    yield from (healthy, calls, seconds, credits, budget)
