"""Enriches a list of people or companies; completes and charges each item as soon as it is resolved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.domain.errors import Problem, ProviderFailed
from app.domain.kinds import Kind, Outcome
from app.engine.jobs import jobs, leases, scheduling
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.leases import JobResult
from app.infra.database import database_clock
from app.infra.database.session import Session
from workers.execution import retries, shutdown_flag
from workers.execution.job_runner import job, persist
from workers.execution.retries import MoveToQueue, RetryLater
from workers.execution.worker_services import WorkerServices
from workers.resolve import item_enricher
from workers.resolve.item_enricher import ItemResolution

SLICE_SECONDS = 1.0
"""Time after which an enrichment yields its thread to the waiting jobs of other workspaces."""
_OF_ALL = (Outcome.SUPPRESSED, Outcome.EXCLUDED, Outcome.SKIPPED)
"""The outcomes that a list has only if every item has it."""


@job(Kind.ENRICHMENT_REQUEST)
def enrichment_request(claim: Claim, services: WorkerServices) -> CompletedItems:
    """Resolve `enrichment_request`: every item that an earlier attempt has not completed.

    Raises:
        RetryLater: items remain unresolved, or the process is shutting down.
        MoveToQueue: another workspace's job is waiting for the thread.

    """
    with services.database.reading() as session:
        items = [item for item in jobs.items(session, claim.job_id) if not _is_done(item)]
    trace: list[dict[str, Any]] = []
    failed: list[RetryLater] = []
    slice_ends = time.monotonic() + SLICE_SECONDS
    for number, item in enumerate(items):
        if shutdown_flag.has_begun():  # completed items are stored; another worker continues
            raise RetryLater(tuple(trace), after=0, snooze=True)
        # After a failure the job is retried with a delay instead: moving it would retry it at once.
        if number and not failed and time.monotonic() > slice_ends:
            if _must_yield(claim, services):
                raise MoveToQueue(claim.queue, tuple(trace))
            slice_ends = time.monotonic() + SLICE_SECONDS
        try:
            resolved = _resolve_item(claim, services, item)
            claim = persist(partial(_complete_item, claim, services, item, resolved))
        except RetryLater as retry:
            failed.append(retry)
            trace += _item_trace(item, retry.trace)
    if failed:
        raise _combine(failed, tuple(trace))
    return CompletedItems(claim.job_id)


@dataclass(frozen=True, slots=True)
class CompletedItems:
    """An enrichment whose items are all completed."""

    job_id: str

    def settle(self, session: Session, _now: datetime) -> JobResult:
        """Summarize the outcomes of the items."""
        return JobResult(outcome=_outcome(jobs.items(session, self.job_id)))


def _must_yield(claim: Claim, services: WorkerServices) -> bool:
    with services.database.reading() as session:
        return scheduling.must_yield(session, claim, now=database_clock.now())


def _resolve_item(claim: Claim, services: WorkerServices, item: JobItem) -> ItemResolution | dict[str, Any]:
    """Return the resolution of an item, or the error with which it is completed.

    Raises:
        RetryLater: providers failed and attempts remain, or a result is pending.

    """
    if "error" in item.request:
        error: dict[str, Any] = item.request["error"]
        return error
    try:
        return item_enricher.resolve_item(claim, services, item)
    except RetryLater as retry:
        if retry.snooze or claim.attempts < services.settings.max_attempts:
            raise
        return ProviderFailed().as_dict()
    except Problem as problem:
        return problem.as_dict()


def _combine(failed: Sequence[RetryLater], trace: tuple[dict[str, Any], ...]) -> RetryLater:
    """Combine the retries of all items into one, due when the first pending result may be ready.

    In an outage no attempt is spent on the items whose calls failed before the providers were found to fail.
    """
    waiting = [retry.after for retry in failed if retry.snooze and retry.after is not None]
    if waiting:
        is_outage = any(retry.outage for retry in failed)
        return RetryLater(trace, after=min(waiting), snooze=len(waiting) == len(failed), outage=is_outage)
    return RetryLater(trace, after=max((retry.after for retry in failed if retry.after), default=None))


def _complete_item(
    claim: Claim, services: WorkerServices, item: JobItem, resolved: ItemResolution | dict[str, Any]
) -> Claim:
    """Store and charge an item; return the claim with the total charged so far.

    It may be called again if the reply to the commit was lost: a completed item stays as it is.
    """
    done = JobItem(job_id=item.job_id, index=item.index, request=item.request, charged=0)
    trace: list[dict[str, Any]] = []
    with services.database.transaction() as session:
        stored = session.get_one(JobItem, (item.job_id, item.index))
        if _is_done(stored):
            return replace(claim, charged=claim.charged + stored.charged)
        if isinstance(resolved, ItemResolution):
            trace = resolved.trace
            with retries.after_deletion(trace):
                item_enricher.store_item(session, claim, done, resolved, now=database_clock.value(session))
        else:
            done.error = resolved
        lease_until = database_clock.now() + timedelta(seconds=services.settings.lease_seconds)
        lines = _item_trace(done, trace)
        leases.complete_item(session, claim, done, charge=done.charged, trace=lines, lease_until=lease_until)
    return replace(claim, charged=claim.charged + done.charged)


def _item_trace(item: JobItem, trace: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"item": item.index, **line} for line in trace]


def _is_done(item: JobItem) -> bool:
    return item.outcome is not None or item.error is not None


def _outcome(items: Sequence[JobItem]) -> Outcome:
    """Return found, partial or not found, over all items, or another outcome if every item has it."""
    outcomes = {item.outcome for item in items}
    if outcomes == {Outcome.FOUND.value}:
        return Outcome.FOUND
    if outcomes & {Outcome.FOUND.value, Outcome.PARTIAL.value}:
        return Outcome.PARTIAL
    return next((outcome for outcome in _OF_ALL if outcomes == {outcome.value}), Outcome.NOT_FOUND)
