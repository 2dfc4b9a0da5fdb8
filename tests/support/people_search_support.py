"""A workspace that searches people of a company, and the responses of fake providers to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from fake_providers import FakeProvider, Reply, company, person
from jobs_support import a_job
from users_support import SignedInUser
from worker_harness import WorkerHarness, make_services

from app.domain.findings import FoundContact
from app.domain.ids import new_id
from app.domain.kinds import Kind, TraceOutcome
from app.engine.jobs import jobs
from app.engine.jobs.stored_jobs import StoredJob
from app.features.people_searches import job_results, work
from workers.execution import job_runner
from workers.providers import registry
from workers.providers.base import ProviderResponse


def named(full_name: str, /, **values: Any) -> FoundContact:
    """Return a person of Acme; another name has another profile."""
    first, _, last = full_name.partition(" ")
    slug = full_name.lower().replace(" ", "-")
    defaults: dict[str, Any] = {
        "full_name": full_name,
        "first_name": first,
        "last_name": last,
        "linkedin_url": f"https://www.linkedin.com/in/{slug}",
    }
    return person(**(defaults | values))


def people(*found: FoundContact, **values: Any) -> ProviderResponse:
    """Return a response with these people."""
    outcome = TraceOutcome.HIT if found else TraceOutcome.MISS
    return ProviderResponse(outcome=outcome, people=found, cost=len(found), **values)


ADA, BOB, CAT = named("Ada Lovelace"), named("Bob Ray"), named("Cat Stone")
ELSEWHERE = named("Eve Moor", company=company(name="Other", domain="other.example"))


@dataclass
class Searches:
    """A workspace with 10 credits that searches people of acme.com, and the worker that runs the searches."""

    harness: WorkerHarness

    def set_providers(self, **replies: Reply) -> dict[str, FakeProvider]:
        fakes = self.harness.set_providers(**replies)
        self.harness.change_settings(providers_people=tuple(replies))
        return fakes

    def submit(self, *, held: int = 5, price: int = 1, limit: int = 5, **request: Any) -> str:
        """Insert a search that holds so many credits; return the job's id."""
        self.harness.change_settings(
            prices={**self.harness.services.settings.prices, Kind.PEOPLE_SEARCH: price}
        )
        asked = {"company_domain": "acme.com", "limit": limit, "page": 1} | request
        with self.harness.database.transaction() as session:
            return a_job(
                session,
                self.harness.workspace_id,
                new_id("job"),  # unique, so that jobs are not deduplicated
                kind=Kind.PEOPLE_SEARCH,
                request=asked,
                price=held,
            )

    def run(self, job_id: str) -> StoredJob:
        """Run the job now; return it."""
        self.harness._make_due(job_id)  # noqa: SLF001 -- a harness of the same tests
        job_runner.run(job_id, work.people_search, self.harness.services)
        return self.read(job_id)

    def read(self, job_id: str) -> StoredJob:
        with self.harness.database.reading() as session:
            return jobs.get(session, self.harness.workspace_id, job_id)

    def search(self, **request: Any) -> StoredJob:
        return self.run(self.submit(**request))

    def shown(self, job: StoredJob) -> dict[str, Any]:
        """Return the result as the workspace reads it now."""
        with self.harness.database.reading() as session:
            shown = job_results.show(session, job, self.harness.services.settings.prices)
        assert shown is not None
        return shown

    def names(self, job: StoredJob, part: str = "people") -> list[str]:
        return [row["full_name"] for row in self.shown(job)[part]]

    def other_workspace(self) -> Searches:
        return Searches(self.harness.other_workspace())

    def move_clock(self, **span: float) -> None:
        self.harness.clock.now += timedelta(**span)


def run_search(
    app: APIFlask, user: SignedInUser, job_id: str, *found: FoundContact, has_more: bool = False
) -> None:
    """Run a job of the app with a provider that finds these people."""
    settings = app.extensions["services"].settings
    services = make_services(settings, user.database)
    fake = FakeProvider(people(*found, has_more=has_more))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda _settings: {"one": fake})
        patch.setattr(type(settings), "providers", lambda *_arguments: ("one",))
        job_runner.run(job_id, work.people_search, services)
