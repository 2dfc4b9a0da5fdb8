"""The result of a search: the stored people of the company at once, and those whom the providers found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.kinds import Kind
from app.engine.jobs.shown_results import ResultPart
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.lookups import representations
from app.features.people_searches import search_requests, shown_people
from app.features.people_searches.search_requests import PeopleSearch
from app.infra.database.session import Session


def show(session: Session, job: StoredJob, prices: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the result of a job as of now; None once its request and result were deleted."""
    search = PeopleSearch.parse(job.request)
    if search.criteria.company_domain is None and search.criteria.company_name is None:
        return None
    answer = job.result or {}
    bought = {person["contact_id"]: person["credits"] for person in answer.get("people", ())}
    company = search_requests.company_of(session, search.criteria)
    people = shown_people.by_ids(session, job.workspace_id, list(bought), prices=prices)
    limit = search.limit + len(bought)
    stored = shown_people.stored(session, job.workspace_id, search.criteria, limit=limit, prices=prices)
    others = [person for person in stored if person["contact_id"] not in bought]
    return {
        "company": company and representations.company_card(company),
        "stored": others[: search.limit],
        "people": [person | {"credits_charged": bought[person["contact_id"]]} for person in people],
        "next_page": answer.get("next_page"),
    }


RESULTS = ResultPart(kind=Kind.PEOPLE_SEARCH, show=show)
