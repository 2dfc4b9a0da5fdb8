"""Repeats of requests: an earlier request is submitted again as a new one, at the usual price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.domain.kinds import KINDS, Kind, Outcome
from app.domain.records.subjects import Subject
from app.engine.enrichments.skips import SkipRule
from app.engine.jobs.jobs import OWN_RECORDS, USE_OWN_RECORDS, WITHDRAWN, JobItem
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.lookups.field_requests import ContactField
from app.web.jobs import enrichments, reveals
from app.web.schemas.enrichment_schemas import EnrichmentRequest
from app.web.schemas.reveal_schemas import RevealRequest

_OPTIONS = ("types", "min_status", "max_age_days")


def is_repeatable(job: StoredJob, items: Sequence[JobItem]) -> bool:
    """Return whether the job found nothing or not all, and its request is still stored.

    A reveal of what the workspace had itself is repeatable, too: the values can be bought all the same.
    """
    if is_of_own_records(job):
        return "subject" in job.request
    if job.finished_at is None or job.outcome in {Outcome.FOUND, Outcome.SUPPRESSED}:
        return False
    if job.kind == Kind.ENRICHMENT_REQUEST:
        return bool(items) and all(item.request for item in items)
    return bool(KINDS[job.kind].reveals) and "subject" in job.request


def is_of_own_records(job: StoredJob) -> bool:
    """Return whether the job is a reveal that returned what the workspace had itself."""
    return bool(KINDS[job.kind].reveals) and any("source" in line for line in job.trace)


def repeat(job: StoredJob, items: Sequence[JobItem], purpose: str | None) -> dict[str, Any]:
    """Submit the request of a repeatable job again, for the caller and this purpose; return the response.

    Raises:
        PurposeRequired: a purpose is required for everyone, and none is stated; nothing was submitted.
        ValidationFailed: the purpose is not one that can be stated.

    """
    if job.kind == Kind.ENRICHMENT_REQUEST:
        response = enrichments.submit(
            EnrichmentRequest(
                entity=job.request["entity"],
                items=tuple(map(_asked, items)),
                fields=tuple(job.request["fields"]),
                max_credits=job.request["max_credits"],
                dry_run=False,
                webhook_url=None,
                purpose=purpose,
                use_own_records=job.request.get(USE_OWN_RECORDS, True),
                skip=SkipRule.parse(job.request),
            )
        )
    else:
        options = {name: job.request[name] for name in _OPTIONS}
        if is_of_own_records(job) or USE_OWN_RECORDS in job.request:
            options[USE_OWN_RECORDS] = False
        subject, reference = Subject(**job.request["subject"]), job.request.get("client_reference")
        body = RevealRequest(subject, options, reference, purpose)
        field = ContactField(KINDS[job.kind].reveals)
        response = reveals.submit(field, body)
    answer: dict[str, Any] = response.get_json()
    return answer


def _asked(item: JobItem) -> dict[str, Any]:
    """Return the item as it was requested: without what the earlier job noted of its result."""
    return {name: value for name, value in item.request.items() if name not in {WITHDRAWN, OWN_RECORDS}}
