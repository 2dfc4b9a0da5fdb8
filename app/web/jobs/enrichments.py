"""Enrichments, which the API and the pages submit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response

from app.domain.errors import PurposeRequired
from app.domain.kinds import Kind
from app.engine.enrichments import enrichment_estimates, estimate_sentences
from app.engine.enrichments.enrichment_estimates import Estimate
from app.engine.jobs.jobs import PURPOSE, USE_OWN_RECORDS
from app.engine.jobs.submission import JobRequest
from app.infra.database import database_clock
from app.web import estimates, permissions, purposes
from app.web.bodies.body import json_response
from app.web.jobs.job_requests import submit_and_wait
from app.web.schemas.enrichment_schemas import EnrichmentRequest
from app.web.services import services
from app.web.sign_in.auth import caller


def submit(body: EnrichmentRequest) -> Response:
    """Submit the enrichment for the caller, and wait for it as the caller prefers; or return the estimate."""
    permissions.require_phones(body.fields)
    refusal = purposes.check(body.purpose)
    settings = services().settings
    finds = services().own_records if body.dry_run or body.skip.sources else {}
    with services().database.reading() as session:
        estimate = enrichment_estimates.estimate(
            session,
            caller().workspace_id,
            body.items,
            body.fields,
            settings=settings,
            now=database_clock.value(session),
            rule=body.skip,
            finds=finds,
        )
    if body.dry_run:
        return json_response({"estimate": _described(estimate, body)})
    if not (estimate.to_buy and body.reveals_values):
        refusal = None
    return submit_and_wait(_job_request(body, estimate, refusal))


def _described(estimate: Estimate, body: EnrichmentRequest) -> dict[str, Any]:
    counts = asdict(estimate)
    summary = estimate_sentences.of_list(
        len(body.items), counts, estimate.own_records, body.fields, entity=body.entity
    )
    return estimates.described(counts, summary)


def _job_request(body: EnrichmentRequest, estimate: Estimate, refusal: PurposeRequired | None) -> JobRequest:
    ceiling = estimate.credits_max if body.max_credits is None else body.max_credits
    options: dict[str, Any] = {
        "entity": body.entity,
        "fields": list(body.fields),
        "max_credits": body.max_credits,
        **body.skip.to_request(),
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
