"""POST /api/people-searches: find people of a company, the stored ones at once and others by providers."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import (
    InsufficientCredits,
    InsufficientIdentifiers,
    PurposeRequired,
    SpendingLimitReached,
)
from app.features.people_searches import searches
from app.features.people_searches.schemas import (
    DRY_RUN,
    PeopleSearchResponseSchema,
    PeopleSearchSchema,
    SearchBody,
)
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("people_searches", __name__, tag="People of companies")

EXAMPLE = {"company_domain": "sandbox.example", "limit": 5, "max_credits": 5}


@blueprint.post("/api/people-searches")
@Operation(
    errors=(InsufficientIdentifiers, InsufficientCredits, SpendingLimitReached, PurposeRequired),
    other_body=DRY_RUN,
)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(PeopleSearchSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(PeopleSearchResponseSchema)
def search(body: SearchBody) -> Response:
    """Find people of a company, by title, seniority, department and country.

    The stored ones are in the result at once and cost nothing. Then the providers are asked for others,
    masked as these: each person who was not stored before costs the price of `people_search`, and is free
    from then on. Addresses and numbers are revealed, and paid for, as those of any other contact. With
    `dry_run` the response is an estimate and nothing is queued.
    """
    return searches.submit(body)
