"""Searches for people: asks the providers until enough are found, and charges for those not stored before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from app.domain.findings import FoundContact
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.domain.normal.places.countries import country_of
from app.domain.people_criteria import PeopleCriteria
from app.domain.records.subjects import Subject
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_checks
from app.engine.exclusions.exclusion_checks import Excluded, Wanted
from app.engine.jobs import jobs
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.features.people_searches import search_requests, shown_people
from app.features.people_searches.search_requests import MAX_PAGE, PeopleSearch
from app.infra.database.session import Session
from workers.execution.feature import WorkPart
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices
from workers.providers.base import PeopleQuery, ProviderField, ProviderRequest, ProviderResponse
from workers.resolve import configured_waterfall, found_people
from workers.resolve.waterfall import WaterfallResult

WORK = WorkPart()


@job(Kind.PEOPLE_SEARCH)
def people_search(claim: Claim, services: WorkerServices) -> PeopleFound:
    """Resolve `people_search`: ask for as many people as the hold pays for.

    Raises:
        RetryLater: the providers failed, or another job is asking them the same.

    """
    search, prices = PeopleSearch.parse(claim.request), services.settings.prices
    limit = search_requests.affordable(search.limit, prices[claim.kind], claim.budget)
    with services.database.reading() as session:
        company = search_requests.company_of(session, search.criteria)
        if company is not None:  # never the caller's data about a stored company
            criteria = replace(search.criteria, company_domain=company.domain, company_name=company.name)
            search = replace(search, criteria=criteria)
        is_barred = _barred(session, claim, search.criteria) is not None
    found = PeopleFound(claim, search, prices, limit)
    if is_barred or not limit:
        return found
    collected = _Collected(search.criteria, limit)
    result = configured_waterfall.run(claim, services, _request(claim, search, limit), collected.add)
    return replace(found, people=tuple(collected.people), result=result)


@dataclass(slots=True)
class _Collected:
    """The people of the company whom the providers have found so far."""

    criteria: PeopleCriteria
    limit: int
    people: list[FoundContact] = field(default_factory=list)

    def add(self, reply: ProviderResponse) -> bool:
        """Add those of a response; return whether they are enough."""
        self.people += found_people.fitting(reply.people, self.criteria)
        return found_people.count(self.people) >= self.limit


def _request(claim: Claim, search: PeopleSearch, limit: int) -> ProviderRequest:
    criteria = search.criteria
    name = None if criteria.company_domain else criteria.company_name
    return ProviderRequest(
        field=ProviderField.PEOPLE,
        subject=Subject(company_domain=criteria.company_domain, company_name=name),
        country=country_of(criteria.company_domain),
        attempt=claim.attempts,
        query=PeopleQuery(criteria=criteria, limit=limit, page=search.page),
    )


def _barred(session: Session, claim: Claim, criteria: PeopleCriteria) -> Outcome | Excluded | None:
    """Return whether the company is suppressed, or why the workspace excludes it."""
    if criteria.company_domain is None:
        return None
    domain = Identifier("domain", criteria.company_domain)
    suppressed, (excluded,) = exclusion_checks.check(
        session, [domain], [Wanted(claim.workspace_id, [domain])]
    )
    return Outcome.SUPPRESSED if suppressed else excluded.get(domain)


@dataclass(frozen=True, slots=True)
class PeopleFound:
    """The people whom the providers found for a search; `limit` is how many its hold pays for."""

    claim: Claim
    search: PeopleSearch
    prices: Mapping[str, int]
    limit: int
    people: tuple[FoundContact, ...] = ()
    result: WaterfallResult = field(default_factory=WaterfallResult)

    def settle(self, session: Session, now: datetime) -> JobResult:
        """Store the people, and charge for those who were not stored before.

        The lock decides between two searches that find the same person: for the second, the person is stored.
        """
        lock_resolution(session)
        barred = _barred(session, self.claim, self.search.criteria)
        trace = self.result.trace
        if isinstance(barred, Excluded):
            return JobResult(
                outcome=Outcome.EXCLUDED, result={jobs.EXCLUDED: barred.to_public()}, trace=trace
            )
        if barred is not None:
            return JobResult(outcome=barred, trace=trace)
        stored = found_people.store(session, self.people, now=now)
        price, contacts = self.prices[self.claim.kind], found_people.new_contacts(stored.contacts)
        people: list[dict[str, Any]] = [
            {"contact_id": contact_id, "credits": price if contacts[contact_id] else 0}
            for contact_id in self._listed(session, list(contacts))
        ]
        return JobResult(
            outcome=Outcome.FOUND if people else Outcome.NOT_FOUND,
            result={"people": people, "next_page": self._next_page()},
            charge=sum(person["credits"] for person in people),
            trace=trace,
        )

    def _listed(self, session: Session, contact_ids: list[str]) -> list[str]:
        """Return as many as the hold pays for of those whom the workspace does not exclude.

        The others are stored, too: an exclusion says nothing about what other workspaces may find.
        """
        people = shown_people.by_ids(session, self.claim.workspace_id, contact_ids, prices=self.prices)
        return [person["contact_id"] for person in people if person["excluded"] is None][: self.limit]

    def _next_page(self) -> int | None:
        """Return the next page if a provider has one, or was asked for this one by an earlier search."""
        outcomes: set[Any] = {line["outcome"] for line in self.result.trace}
        has_more = self.result.has_more or TraceOutcome.KNOWN_MISS.value in outcomes
        return self.search.page + 1 if has_more and self.search.page < MAX_PAGE else None
