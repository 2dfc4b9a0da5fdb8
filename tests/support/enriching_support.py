"""Helpers for enrichment tests: scripted providers, jobs, and their responses to polling."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

import pytest
from jobs_support import a_job, a_workspace
from sqlalchemy import update

from app.api.http.job_responses import job_body
from app.api.http.waiting import JobSnapshot
from app.core.accounts.workspaces import Balance
from app.core.jobs import jobs
from app.core.jobs.jobs import Job
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail, Source, SourceKind
from app.domain.ids import new_id
from app.domain.kinds import Kind, TraceOutcome
from app.infra import clock
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices
from workers.jobs.enrichment_request import enrichment_request
from workers.providers import registry
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse, Terms

ADA = "https://www.linkedin.com/in/ada-lovelace"
BOB = "https://www.linkedin.com/in/bob-ray"
MISS = ProviderResponse(outcome=TraceOutcome.MISS)
ERROR = ProviderResponse(outcome=TraceOutcome.ERROR)
WAIT = Pending("ticket", 2.0)


@dataclass
class Scripted:
    """A fake provider that returns a scripted response and records its requests."""

    name: str
    says: Callable[[ProviderRequest], ProviderResponse | Pending]
    asked: list[ProviderRequest] = field(default_factory=list)
    guesses: bool = False
    terms: Terms = field(
        default_factory=lambda: Terms(prices={ProviderField.PERSON: 1.0, ProviderField.COMPANY: 1.0})
    )
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.PERSON, ProviderField.COMPANY, ProviderField.EMAIL}
    )

    def unavailability(self, _ask: ProviderRequest) -> TraceOutcome | None:
        return None

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        assert seconds > 0
        self.asked.append(ask)
        return self.says(ask)


@dataclass(frozen=True)
class Bench:
    """The services of a worker, and the workspace that submits jobs."""

    services: WorkerServices
    workspace_id: str
    monkeypatch: pytest.MonkeyPatch

    def providers(
        self, **says: Callable[[ProviderRequest], ProviderResponse | Pending] | ProviderResponse | Pending
    ) -> dict[str, Scripted]:
        """Install the scripted providers; `one` and `two` always exist and by default return a miss."""
        known = {
            name: Scripted(name, said if callable(said) else lambda _ask, said=said: said)
            for name, said in ({"one": MISS, "two": MISS} | says).items()
        }
        self.monkeypatch.setattr(registry, "load", lambda _settings: known)
        return known

    def ordered(self, *names: str) -> Bench:
        """Return a bench with these providers, in order, configured for people, companies and e-mails."""
        settings = dataclasses.replace(
            self.services.settings,
            providers_person=names,
            providers_company=names,
            providers_email=names,
            providers_verification=(),
        )
        return dataclasses.replace(self, services=dataclasses.replace(self.services, settings=settings))

    def submit(
        self, *items: Mapping[str, Any], fields: tuple[str, ...] = ("company", "profile"), price: int = 1
    ) -> str:
        """Insert an enrichment of the items; return the job's id."""
        request = {"entity": "person", "fields": list(fields), "max_credits": None}
        with self.services.database.transaction() as session:
            return a_job(
                session,
                self.workspace_id,
                new_id("job"),  # unique, so that jobs are not deduplicated
                kind=Kind.ENRICHMENT_REQUEST,
                request=request,
                price=price,
                items=tuple(dict(item) for item in items),
            )

    def run(self, job_id: str) -> dict[str, Any]:
        """Run the job now; return the polling response."""
        with self.services.database.transaction() as session:
            session.execute(update(Job).where(Job.id == job_id).values(run_after=clock.now()))
        job_runner.run(job_id, enrichment_request, self.services)
        return self.poll(job_id)

    def poll(self, job_id: str) -> dict[str, Any]:
        with self.services.database.reading() as session:
            job = jobs.get(session, self.workspace_id, job_id)
            sight = JobSnapshot(job, jobs.items(session, job_id), Balance(0, 0), None, job.trace)
            return job_body(sight, repeated=False)

    def attempts(self, job_id: str) -> int:
        with self.services.database.reading() as session:
            return jobs.get(session, self.workspace_id, job_id).attempts

    def enrich(
        self, item: Mapping[str, Any], fields: tuple[str, ...] = ("company", "profile")
    ) -> dict[str, Any]:
        """Run an enrichment of one item; return the enriched item."""
        [filled] = self.run(self.submit(item, fields=fields))["result"]["items"]
        return dict(filled)


def a_bench(services: WorkerServices, monkeypatch: pytest.MonkeyPatch) -> Bench:
    with services.database.transaction() as session:
        return Bench(services, a_workspace(session), monkeypatch)


def said_by(provider: str, at: datetime) -> Source:
    return Source(provider, SourceKind.PROVIDER, at)


def firm(source: Source, **values: Any) -> FoundCompany:
    return FoundCompany(source=source, **({"name": "Acme", "domain": "acme.com"} | values))


def person(source: Source, **values: Any) -> FoundContact:
    usual = {
        "full_name": "Ada Lovelace",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "title": "Engineer",
        "company": firm(source),
    }
    return FoundContact(source=source, **(usual | values))


def address(source: Source) -> FoundEmail:
    return FoundEmail(email="ada@acme.com", type="work", status=EmailStatus.VALID, source=source)


def tells(found: FoundContact | FoundCompany | FoundEmail) -> ProviderResponse:
    """Return a provider hit with this record."""
    if isinstance(found, FoundContact):
        return ProviderResponse(outcome=TraceOutcome.HIT, contact=found, cost=1)
    if isinstance(found, FoundEmail):
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,), cost=1)
    return ProviderResponse(outcome=TraceOutcome.HIT, company=found, cost=1)
