"""Gauges: figures that are looked at when Prometheus asks; what cannot be looked at now is left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.api.ops.probes import ProbeTimeout, Unreachable
from app.api.ops.readiness import DatabaseStatus, Readiness, clocks
from app.core.audit.audits import Audit
from app.core.jobs.leases import Refusal
from app.domain.kinds import Queue


class Gauges(Collector):
    """The state of the deployment, the same whichever process is asked."""

    def __init__(self, parts: Readiness) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        """Look at the database and at Redis; leave out the figures of what gives no answer."""
        with suppress(ProbeTimeout, Unreachable):
            yield from _of_database(self._parts.database())
        with suppress(ProbeTimeout, Unreachable):
            yield _of_queues(self._parts.queue().lengths)


def _of_database(found: DatabaseStatus) -> Iterator[Metric]:
    wait = GaugeMetricFamily(
        "ext_oldest_job_seconds", "Seconds the oldest job has waited for a worker.", labels=["queue"]
    )
    living = GaugeMetricFamily("ext_workers", "Workers that consume the queue.", labels=["queue"])
    jobs = GaugeMetricFamily("ext_jobs", "Jobs that are not over.", labels=["kind", "status"])
    for queue, standing in found.standings.items():
        wait.add_metric([queue.value], standing.wait.total_seconds())
        living.add_metric([queue.value], standing.consuming)
    for count in found.counts:
        jobs.add_metric([count.kind.value, count.status.value], count.jobs)
    yield from (wait, living, jobs, _of_clocks(found), _of_refusals(found))
    if found.audit is not None:
        yield from _of_audit(found.audit, found.now)


def _of_clocks(found: DatabaseStatus) -> GaugeMetricFamily:
    offset = GaugeMetricFamily(
        "ext_clock_offset_seconds",
        "Seconds by which the clock of a process is ahead of the database's.",
        labels=["process"],
    )
    for process, seconds in clocks(found).items():
        offset.add_metric([process], seconds)
    return offset


def _of_refusals(found: DatabaseStatus) -> CounterMetricFamily:
    refused = CounterMetricFamily(
        "ext_messages_refused",
        "Messages about jobs that a worker could not claim, by why.",
        labels=["process", "reason"],
    )
    for worker in found.workers:
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
    yield GaugeMetricFamily("ext_audit_faults", "Faults that the last audit found.", value=faults)


def _of_queues(lengths: dict[Queue, int]) -> GaugeMetricFamily:
    messages = GaugeMetricFamily("ext_queue_messages", "Messages that wait in Redis.", labels=["queue"])
    for queue, length in lengths.items():
        messages.add_metric([queue.value], length)
    return messages
