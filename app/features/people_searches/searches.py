"""Submits searches, for the API and the pages."""

from __future__ import annotations

from flask import Response

from app.domain.kinds import Kind
from app.engine.enrichments import estimate_sentences
from app.engine.jobs.jobs import PURPOSE
from app.engine.jobs.submission import JobRequest
from app.features.people_searches import search_requests, shown_people
from app.features.people_searches.schemas import SearchBody
from app.web import estimates, purposes
from app.web.bodies.body import json_response
from app.web.jobs.job_requests import submit_and_wait
from app.web.services import services
from app.web.sign_in.auth import caller


def submit(body: SearchBody) -> Response:
    """Submit the search for the caller, and wait as the caller prefers; or return the estimate.

    Raises:
        PurposeRequired: a purpose is required, and none is stated; nothing was submitted.
        ValidationFailed: the purpose is not one that can be stated.

    """
    refusal = purposes.check(body.purpose)
    price = services().settings.prices[Kind.PEOPLE_SEARCH]
    people, held = _quote(body, price)
    if body.dry_run:
        stored = _count(body)
        counts = {"credits_min": 0, "credits_max": held, "people_max": people, "stored": stored}
        summary = estimate_sentences.of_search(stored, people, held)
        return json_response({"estimate": estimates.described(counts, summary)})
    searched = body.search.as_dict() | {"max_credits": body.max_credits}
    stated = {} if body.purpose is None else {PURPOSE: body.purpose}
    reference = {} if body.client_reference is None else {"client_reference": body.client_reference}
    request = JobRequest(
        kind=Kind.PEOPLE_SEARCH,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request=searched | stated | reference,
        dedup_key=searched | stated,
        price=held,
        refusal=refusal if people else None,
        webhook_url=body.webhook_url,
    )
    return submit_and_wait(request, client_reference=body.client_reference)


def _quote(body: SearchBody, price: int) -> tuple[int, int]:
    """Return how many people are found at most, and the credits that they cost."""
    limit = body.search.limit
    if body.max_credits is not None:
        limit = search_requests.affordable(limit, price, body.max_credits)
    return limit, limit * price


def _count(body: SearchBody) -> int:
    """Return the number of stored people whom the search would show."""
    app, search = services(), body.search
    criteria, limit, workspace_id = search.criteria, search.limit, caller().workspace_id
    with app.database.reading() as session:
        return len(
            shown_people.stored(session, workspace_id, criteria, limit=limit, prices=app.settings.prices)
        )
