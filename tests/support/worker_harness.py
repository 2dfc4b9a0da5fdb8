"""A workspace and a worker with fake providers: submits reveals and enrichments, and runs their jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest
from fake_providers import PAID, FakeProvider, Reply
from jobs_support import NOW, a_job, a_workspace, set_clock
from sqlalchemy import select, update
from stored_support import exclude

from app.domain.findings import FoundContact
from app.domain.ids import new_id
from app.domain.kinds import Kind, Queue
from app.domain.records.subjects import Subject
from app.domain.regional_rules import parse_places
from app.engine.accounts.workspaces import Balance
from app.engine.contacts import contacts
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import jobs
from app.engine.jobs.job_snapshots import JobSnapshot
from app.engine.jobs.jobs import Job
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.lookups import lookups
from app.engine.matching import reverse_lookups
from app.engine.own_records import own_records
from app.infra import clock
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from app.web.jobs.job_responses import job_body
from workers.execution import job_runner
from workers.execution.job_runner import Message
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal
from workers.jobs.enrichment_request import enrichment_request
from workers.providers import registry

ADA = "https://www.linkedin.com/in/ada-lovelace"
BOB = "https://www.linkedin.com/in/bob-ray"
NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}


class NullNotifier:
    """A notifier that sends nothing."""

    def notify(self, job_ids: Sequence[str]) -> None: ...


@dataclass
class FakeClock:
    """The clock of the process and of the database; a test sets `now`."""

    now: datetime = NOW


@dataclass
class WorkerHarness:
    """A workspace that submits jobs, and the services and the clock of the worker that runs them."""

    services: WorkerServices
    workspace_id: str
    clock: FakeClock
    monkeypatch: pytest.MonkeyPatch

    @property
    def database(self) -> Database:
        return self.services.database

    def change_settings(self, **changes: Any) -> None:
        settings = dataclasses.replace(self.services.settings, **changes)
        self.services = dataclasses.replace(self.services, settings=settings)

    def require_purpose(self, *places: str) -> None:
        """Require a purpose for people in these places, for the worker and for all sessions."""
        self.change_settings(require_purpose_in=parse_places(places))
        rule = self.services.settings.purpose_rule
        self.database.settings = replace(self.database.settings, purpose_rule=rule)

    def set_providers(self, *, verifiers: tuple[str, ...] = (), **replies: Reply) -> dict[str, FakeProvider]:
        """Replace all providers with fakes, which are called in the order given; return them by name."""
        fakes = {name: FakeProvider(reply, name, terms=PAID) for name, reply in replies.items()}
        self.monkeypatch.setattr(registry, "load", lambda _settings: fakes)
        order = tuple(name for name in replies if name not in verifiers)
        self.change_settings(
            providers_email=order,
            providers_phone=order,
            providers_person=order,
            providers_company=order,
            providers_verification=verifiers,
        )
        return fakes

    def other_workspace(self) -> WorkerHarness:
        """Return the harness of a workspace that shares only the database with this one."""
        with self.database.transaction() as session:
            return dataclasses.replace(self, workspace_id=a_workspace(session))

    def reveal(self, subject: dict[str, str], kind: Kind = Kind.REVEAL_EMAIL, **options: Any) -> Job:
        """Submit a new reveal and run it; return the job."""
        return self.run_reveal(self.submit_reveal(subject, kind, **options), kind)

    def submit_reveal(
        self, subject: dict[str, str], kind: Kind = Kind.REVEAL_EMAIL, *, price: int = 1, **options: Any
    ) -> str:
        """Insert a reveal that may call providers; return the job's id."""
        types = ["work"] if kind is Kind.REVEAL_EMAIL else ["mobile"]
        request = {"subject": subject, "types": types, "min_status": "valid", **options}
        with self.database.transaction() as session:
            reverse_lookups.admit(session, self.workspace_id, [Subject(**subject)], now=clock.now())
            about = new_id("job")  # unique, so that jobs are not deduplicated
            job_id = a_job(session, self.workspace_id, about, kind=kind, request=request, price=price)
            session.get_one(Job, job_id).queue = Queue.PROVIDERS.value
            return job_id

    def run_reveal(self, job_id: str, kind: Kind = Kind.REVEAL_EMAIL) -> Job:
        """Run the job now; return it."""
        self._make_due(job_id)
        job_runner.run(job_id, reveal.email if kind is Kind.REVEAL_EMAIL else reveal.phone, self.services)
        with self.database.reading() as session:
            return session.get_one(Job, job_id)

    def submit_enrichment(
        self,
        *items: Mapping[str, Any],
        fields: tuple[str, ...] = ("company", "profile"),
        price: int = 1,
        **options: Any,
    ) -> str:
        """Insert an enrichment of the items; return the job's id."""
        with self.database.transaction() as session:
            if len(items) == 1 and "subject" in items[0]:
                subject = Subject(**items[0]["subject"])
                reverse_lookups.admit(session, self.workspace_id, [subject], now=clock.now())
            return a_job(
                session,
                self.workspace_id,
                new_id("job"),  # unique, so that jobs are not deduplicated
                kind=Kind.ENRICHMENT_REQUEST,
                request={"entity": "person", "fields": list(fields), "max_credits": None, **options},
                price=price,
                items=tuple(dict(item) for item in items),
            )

    def run_enrichment(self, job_id: str) -> dict[str, Any]:
        """Run the job now; return the polling response."""
        self._make_due(job_id)
        job_runner.run(job_id, enrichment_request, self.services)
        with self.database.reading() as session:
            job = jobs.get(session, self.workspace_id, job_id)
            snapshot = JobSnapshot(job, jobs.items(session, job_id), Balance(0, 0), None, job.trace)
            return job_body(snapshot, repeated=False)

    def enrich(
        self, item: Mapping[str, Any], fields: tuple[str, ...] = ("company", "profile"), **options: Any
    ) -> dict[str, Any]:
        """Run an enrichment of one item; return the enriched item."""
        job_id = self.submit_enrichment(item, fields=fields, **options)
        [enriched] = self.run_enrichment(job_id)["result"]["items"]
        return dict(enriched)

    def attempts(self, job_id: str) -> int:
        with self.database.reading() as session:
            return session.get_one(Job, job_id).attempts

    def due_at(self, job_id: str) -> datetime:
        """Return when the job runs next."""
        with self.database.reading() as session:
            return session.get_one(Job, job_id).run_after

    def provider_calls(self) -> list[tuple[str, str]]:
        """Return the provider and the outcome of every call."""
        with self.database.reading() as session:
            rows = session.scalars(select(ProviderCall).order_by(ProviderCall.id))
            return [(row.provider, row.outcome) for row in rows]

    def store_contact(self, contact: FoundContact) -> str:
        """Store the contact; return its id."""
        with self.database.transaction() as session:
            return contacts.upsert(session, contact, now=NOW).id

    def suppress(self, kind: str, value: str) -> None:
        with self.database.transaction() as session:
            suppressions.suppress(session, [Identifier(kind, value)], reason="asked", now=clock.now())

    def exclude(self, kind: str, value: str) -> None:
        with self.database.transaction() as session:
            exclude(session, self.workspace_id, kind, value, now=clock.now())

    def look_up(self, **subject: str) -> dict[str, Any]:
        subjects, prices = [Subject(**subject)], self.services.settings.prices
        with self.database.reading() as session:
            is_counted = reverse_lookups.any_admissible(session, self.workspace_id, subjects)
        if is_counted:
            with self.database.transaction() as session:
                reverse_lookups.admit(session, self.workspace_id, subjects, now=clock.now())
        with self.database.reading() as session:
            [result] = lookups.look_up(session, self.workspace_id, subjects, prices=prices)
            return result

    def _make_due(self, job_id: str) -> None:
        with self.database.transaction() as session:
            session.execute(update(Job).where(Job.id == job_id).values(run_after=clock.now()))


def make_services(settings: Settings, database: Database) -> WorkerServices:
    """Return the service objects of a worker that sends no notifications."""
    return WorkerServices(
        settings,
        database,
        JobPublisher(settings.redis_url),
        NullNotifier(),  # type: ignore[arg-type]
        own_records=own_records.load_all(settings),
    )


def deliver(services: WorkerServices, *job_ids: str, queue: Queue = Queue.INTERACTIVE) -> None:
    """Run what a worker does with a message that names these jobs."""
    job_runner.run_next(Message(Kind.REVEAL_EMAIL, queue, job_ids, "task"), services)


def worker_harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    """Return the harness of a new workspace with 10 credits; the clock stands still."""
    fake_clock = FakeClock()
    set_clock(monkeypatch, lambda: fake_clock.now)
    with database.transaction() as session:
        workspace_id = a_workspace(session)
    return WorkerHarness(make_services(settings, database), workspace_id, fake_clock, monkeypatch)
