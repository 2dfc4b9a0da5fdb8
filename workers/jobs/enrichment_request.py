"""Enrichments: item after item, each handed in, paid and shown as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.core.jobs import jobs, leases, scheduling
from app.core.jobs.jobs import JobItem
from app.core.jobs.leases import Claim, JobResult
from app.domain.errors import Problem, ProviderFailed
from app.domain.kinds import Kind, Outcome
from app.infra import database_clock
from workers.execution import shutdown_flag
from workers.execution.job_runner import HandOver, Resolution, RetryLater, WorkerServices, job
from workers.resolve import item_enricher
from workers.resolve.item_enricher import ItemResolution

SLICE_SECONDS = 1.0
"""For how long an enrichment holds its thread before it makes room for other workspaces' that wait."""


@job(Kind.ENRICHMENT_REQUEST)
def enrichment_request(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve `enrichment_request`: every item that an earlier try has not finished."""
    with services.database.reading() as session:
        items = [item for item in jobs.items(session, claim.job_id) if not _is_done(item)]
    trace: list[dict[str, Any]] = []
    failed: list[RetryLater] = []
    slice_ends = time.monotonic() + SLICE_SECONDS
    for number, item in enumerate(items):
        if shutdown_flag.has_begun():  # what is done is handed in; another worker goes on at once
            raise RetryLater(tuple(trace), after=0, snooze=True)
        if number and not failed and time.monotonic() > slice_ends:  # what failed would be asked again
            if _must_yield(claim, services):
                raise HandOver(claim.queue, tuple(trace))
            slice_ends = time.monotonic() + SLICE_SECONDS
        try:
            found, done = _find_out(claim, services, item)
        except RetryLater as later:
            failed.append(later)
            trace += _of_item(item, later.trace)
            continue
        claim = _complete_item(claim, services, done, found)
    if failed:
        raise _combine(failed, tuple(trace))
    return lambda session, _now: JobResult(outcome=_outcome(jobs.items(session, claim.job_id)))


def _must_yield(claim: Claim, services: WorkerServices) -> bool:
    with services.database.reading() as session:
        return scheduling.must_yield(session, claim, now=database_clock.now())


def _find_out(claim: Claim, services: WorkerServices, item: JobItem) -> tuple[ItemResolution | None, JobItem]:
    """Find out about an item; give that, or nothing, and the item to be filled in, maybe with its error.

    Raises:
        RetryLater: nobody could answer, and there are tries left; or somebody needs time.

    """
    done = JobItem(job_id=item.job_id, index=item.index, request=item.request, charged=0)
    if "error" in item.request:
        done.error = item.request["error"]
        return None, done
    try:
        return item_enricher.resolve_item(claim, services, item), done
    except RetryLater as later:
        if later.snooze or claim.attempts < services.settings.max_attempts:
            raise
        done.error = ProviderFailed().as_dict()
    except Problem as problem:
        done.error = problem.as_dict()
    return None, done


def _combine(failed: Sequence[RetryLater], trace: tuple[dict[str, Any], ...]) -> RetryLater:
    """Come again for all items at once: when the first that only waits may be ready, or all the others."""
    waiting = [one.after for one in failed if one.snooze and one.after is not None]
    if waiting:
        return RetryLater(trace, after=min(waiting), snooze=len(waiting) == len(failed))
    return RetryLater(trace, after=max((one.after for one in failed if one.after), default=None))


def _complete_item(
    claim: Claim, services: WorkerServices, done: JobItem, found: ItemResolution | None
) -> Claim:
    """Write what came of an item; give the claim with what the job has been charged by now."""
    with services.database.transaction() as session:
        if found is not None:
            item_enricher.store_item(session, claim, done, found, now=database_clock.value(session))
        lease_until = database_clock.now() + timedelta(seconds=services.settings.lease_seconds)
        lines = _of_item(done, found.trace if found else ())
        leases.complete_item(session, claim, done, charge=done.charged, trace=lines, lease_until=lease_until)
    return replace(claim, charged=claim.charged + done.charged)


def _of_item(item: JobItem, trace: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"item": item.index, **line} for line in trace]


def _is_done(item: JobItem) -> bool:
    return item.outcome is not None or item.error is not None


def _outcome(items: Sequence[JobItem]) -> Outcome:
    """Sum up: all found, some, or none; suppressed only if that is all there is."""
    outcomes = {item.outcome for item in items}
    if outcomes == {Outcome.FOUND.value}:
        return Outcome.FOUND
    if outcomes & {Outcome.FOUND.value, Outcome.PARTIAL.value}:
        return Outcome.PARTIAL
    return Outcome.SUPPRESSED if outcomes == {Outcome.SUPPRESSED.value} else Outcome.NOT_FOUND
