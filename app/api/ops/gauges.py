"""Gauges: metrics read at each scrape; the metrics of an unavailable part are omitted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.api.ops.probes import ProbeTimeout, Unreachable
from app.api.ops.readiness import DatabaseStatus, Readiness, clocks
from app.domain.kinds import Queue
from app.engine.audit.audits import Audit
from app.engine.jobs.claims import Refusal

T = TypeVar("T")


class Gauges(Collector):
    """Collects the state of the deployment, which is the same in every process."""

    def __init__(self, probes: Readiness) -> None:
        self._probes = probes

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the database and of the queues; omit a part that does not answer."""
        parts = _Parts()
        database = parts.check("database", self._probes.database)
        redis = parts.check("redis", self._probes.queue)
        if database is not None:
            yield from _of_database(database)
        if redis is not None:
            yield _of_queues(redis.lengths)
            if redis.data_since is not None:
                yield GaugeMetricFamily(
                    "ext_redis_data_since_seconds",
                    "Unix time since when Redis has kept its data.",
                    value=redis.data_since,
                )
            parts.is_up["redis"] = redis.is_writable
        yield from parts.metrics()


@dataclass(slots=True)
class _Parts:
    """Which parts answer, and how long their checks took."""

    is_up: dict[str, bool] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def check(self, part: str, probe: Callable[[], T]) -> T | None:
        """Return the result of the probe; None if the part does not answer."""
        started, result = time.monotonic(), None
        with suppress(ProbeTimeout, Unreachable):
            result = probe()
        self.seconds[part] = time.monotonic() - started
        self.is_up[part] = result is not None
        return result

    def metrics(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("ext_up", "1 if the part answers and accepts writes.", labels=["part"])
        seconds = GaugeMetricFamily(
            "ext_probe_seconds", "Seconds that the check of the part took.", labels=["part"]
        )
        for part, is_up in self.is_up.items():
            up.add_metric([part], is_up)
            seconds.add_metric([part], self.seconds[part])
        yield from (up, seconds)


def _of_database(status: DatabaseStatus) -> Iterator[Metric]:
    wait = GaugeMetricFamily(
        "ext_oldest_job_seconds", "Seconds that the oldest job has waited for a worker.", labels=["queue"]
    )
    living = GaugeMetricFamily("ext_workers", "Workers that consume the queue.", labels=["queue"])
    jobs = GaugeMetricFamily("ext_jobs", "Unfinished jobs.", labels=["kind", "status"])
    for queue, health in status.queues.items():
        wait.add_metric([queue.value], health.wait.total_seconds())
        living.add_metric([queue.value], health.consuming)
    for count in status.counts:
        jobs.add_metric([count.kind, count.status.value], count.jobs)
    yield from (wait, living, jobs, _of_clocks(status), _of_refusals(status))
    if status.audit is not None:
        yield from _of_audit(status.audit, status.now)


def _of_clocks(status: DatabaseStatus) -> GaugeMetricFamily:
    offset = GaugeMetricFamily(
        "ext_clock_offset_seconds",
        "Seconds by which the clock of a process is ahead of the database's.",
        labels=["process"],
    )
    for process, seconds in clocks(status).items():
        offset.add_metric([process], seconds)
    return offset


def _of_refusals(status: DatabaseStatus) -> CounterMetricFamily:
    refused = CounterMetricFamily(
        "ext_messages_refused",
        "Messages about jobs that a worker could not claim, by reason.",
        labels=["process", "reason"],
    )
    for worker in status.workers:
        for reason in Refusal:
            refused.add_metric([worker.name, reason.value], worker.refused.get(reason.value, 0))
    return refused


def _of_audit(audit: Audit, now: datetime) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "ext_audit_age_seconds",
        "Seconds since the last audit of the ledger.",
        value=(now - audit.at).total_seconds(),
    )
    faults = len(audit.faults or ())
    yield GaugeMetricFamily("ext_audit_faults", "Faults found by the last audit.", value=faults)


def _of_queues(lengths: dict[Queue, int]) -> GaugeMetricFamily:
    messages = GaugeMetricFamily("ext_queue_messages", "Messages waiting in the broker.", labels=["queue"])
    for queue, length in lengths.items():
        messages.add_metric([queue.value], length)
    return messages
