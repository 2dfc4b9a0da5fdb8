"""Helpers for reveal tests: scripted providers behind the real call gateway, and workspaces that reveal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from enriching_support import Bench, Scripted, a_bench, said_by
from jobs_support import NOW, a_job, a_workspace, set_clock
from sqlalchemy import select, update

from app.core.contacts import suppressions
from app.core.contacts.suppressions import Identifier
from app.core.jobs import jobs
from app.core.jobs.jobs import Job
from app.core.jobs.provider_calls import ProviderCall
from app.core.lookups import lookups
from app.domain.findings import EmailStatus, FoundEmail, FoundPhone
from app.domain.ids import new_id
from app.domain.kinds import Kind, Queue, TraceOutcome
from app.domain.records.subjects import Subject
from app.infra import clock
from app.infra.db import Database
from app.settings import Settings
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices
from workers.jobs import reveal
from workers.providers import registry
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.resolve import call_gateway

VALID, UNKNOWN = EmailStatus.VALID, EmailStatus.UNKNOWN


class Silent:
    def notify(self, job_id: str) -> None: ...


@dataclass
class AllRound(Scripted):
    """A fake provider that accepts requests for every field."""

    fields: ClassVar[frozenset[ProviderField]] = frozenset(ProviderField)


@dataclass
class Desk:
    """A workspace that reveals, and the current time of the test."""

    bench: Bench
    time: list[Any]

    def with_providers(
        self,
        *names: str,
        verifiers: tuple[str, ...] = (),
        **says: ProviderResponse | Callable[[ProviderRequest], ProviderResponse | Pending],
    ) -> dict[str, AllRound]:
        terms = Terms(prices=dict.fromkeys(ProviderField, 1.0))
        known = {
            name: AllRound(name, said if callable(said) else lambda _ask, said=said: said, terms=terms)
            for name, said in says.items()
        }
        for module in (registry, call_gateway):
            self.bench.monkeypatch.setattr(module, "load", lambda _settings: known)
        asked = dict.fromkeys(
            ("providers_email", "providers_phone", "providers_person", "providers_company"), names
        )
        settings = dataclasses.replace(
            self.bench.services.settings, providers_verification=verifiers, **asked
        )
        services = dataclasses.replace(self.bench.services, settings=settings)
        self.bench = dataclasses.replace(self.bench, services=services)
        return known

    def reveal(self, subject: dict[str, str], kind: Kind = Kind.REVEAL_EMAIL, **more: Any) -> Job:
        """Submit a new reveal and run it; return the job."""
        types = ["work"] if kind is Kind.REVEAL_EMAIL else ["mobile"]
        request = {"subject": subject, "types": types, "min_status": "valid", **more}
        with self.bench.services.database.transaction() as session:
            job_id = a_job(session, self.bench.workspace_id, new_id("job"), kind=kind, request=request)
        return self.run(job_id, kind)

    def run(self, job_id: str, kind: Kind = Kind.REVEAL_EMAIL) -> Job:
        with self.bench.services.database.transaction() as session:
            session.execute(
                update(Job).where(Job.id == job_id).values(queue=Queue.PROVIDERS.value, run_after=clock.now())
            )
        work = reveal.email if kind is Kind.REVEAL_EMAIL else reveal.phone
        job_runner.run(job_id, work, self.bench.services)
        with self.bench.services.database.reading() as session:
            return jobs.get(session, self.bench.workspace_id, job_id)

    def calls(self) -> list[tuple[str, str]]:
        with self.bench.services.database.reading() as session:
            rows = session.scalars(select(ProviderCall).order_by(ProviderCall.id))
            return [(row.provider, row.outcome) for row in rows]

    def suppress(self, kind: str, value: str) -> None:
        with self.bench.services.database.transaction() as session:
            suppressions.suppress(session, [Identifier(kind, value)], reason="asked", now=clock.now())

    def look_up(self, **subject: str) -> dict[str, Any]:
        with self.bench.services.database.reading() as session:
            prices = self.bench.services.settings.prices
            [found] = lookups.look_up(session, self.bench.workspace_id, [Subject(**subject)], prices=prices)
            return found

    def of_another_workspace(self) -> Desk:
        """Return the harness of a workspace that shares only the database with this one."""
        with self.bench.services.database.transaction() as session:
            bench = dataclasses.replace(self.bench, workspace_id=a_workspace(session))
        return Desk(bench, self.time)


def a_desk(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Desk:
    time = [NOW]
    set_clock(monkeypatch, lambda: time[0])
    services = WorkerServices(settings, database, None, Silent())  # type: ignore[arg-type]
    return Desk(a_bench(services, monkeypatch), time)


def email(address: str = "ada@acme.com", status: EmailStatus = VALID) -> FoundEmail:
    verified_at = NOW if status is VALID else None
    source = said_by("one", NOW)
    return FoundEmail(email=address, type="work", status=status, source=source, verified_at=verified_at)


def number() -> ProviderResponse:
    found = FoundPhone(e164="+16175550101", type="mobile", status="valid", source=said_by("one", NOW))
    return ProviderResponse(outcome=TraceOutcome.HIT, phones=(found,), cost=1)
