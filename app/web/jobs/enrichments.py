"""Enrichments, which the API and the pages submit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response

from app.domain.errors import PurposeRequired
from app.domain.kinds import Kind
from app.engine.jobs.jobs import PURPOSE, USE_OWN_RECORDS
from app.engine.jobs.submission import JobRequest
from app.engine.lookups import enrichment_estimates
from app.engine.lookups.enrichment_estimates import Estimate
from app.infra.database import database_clock
from app.web import purposes
from app.web.bodies.body import json_response
from app.web.jobs.job_requests import submit_and_wait
from app.web.schemas.enrichment_schemas import EnrichmentRequest
from app.web.services import services
from app.web.sign_in.auth import caller


def submit(body: EnrichmentRequest) -> Response:
    """Submit the enrichment for the caller, and wait for it as the caller prefers; or return the estimate."""
    refusal = purposes.check(body.purpose)
    with services().database.reading() as session:
        estimate = enrichment_estimates.estimate(
            session,
            caller().workspace_id,
            body.items,
            body.fields,
            settings=services().settings,
            now=database_clock.value(session),
        )
    if body.dry_run:
        return json_response({"estimate": asdict(estimate)})
    free = (estimate.owned, estimate.suppressed, estimate.excluded, estimate.ineligible)
    is_free = sum(free) == len(body.items)
    if is_free or not body.reveals_values:
        refusal = None
    return submit_and_wait(_job_request(body, estimate, refusal))


def _job_request(body: EnrichmentRequest, estimate: Estimate, refusal: PurposeRequired | None) -> JobRequest:
    ceiling = estimate.credits_max if body.max_credits is None else body.max_credits
    options: dict[str, Any] = {
        "entity": body.entity,
        "fields": list(body.fields),
        "max_credits": body.max_credits,
    }
    if body.purpose is not None:
        options[PURPOSE] = body.purpose
    if not body.use_own_records:
        options[USE_OWN_RECORDS] = False
    return JobRequest(
        kind=Kind.ENRICHMENT_REQUEST,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request=options,
        dedup_key={**options, "items": body.items},
        price=min(estimate.credits_max, ceiling),
        allow_partial_hold=True,
        items=body.items,
        refusal=refusal,
        webhook_url=body.webhook_url,
    )
