"""Adding a provider takes one class and one line; each worker checks the settings that name it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jobs_support import a_question, a_workspace, figures, read, submit
from sqlalchemy import update
from worker_harness import make_services

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import Outcome, Queue, TraceOutcome
from app.domain.providers.rates import parse_rates
from app.engine.jobs.jobs import Job
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.providers import provider_throttles
from app.infra import clock
from app.infra.database.db import Database
from app.settings import ProviderSettings, Settings, SettingsError
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal
from workers.providers import registry
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.providers.parsing import source_of
from workers.resolve import provider_order

REQUEST = {
    "subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"},
    "types": ["work"],
    "min_status": "valid",
}


class NewProvider:
    """A provider added as documented: this class, and its line in the registry."""

    name: ClassVar[str] = "new_provider"
    fields: ClassVar[frozenset[ProviderField]] = frozenset({ProviderField.EMAIL})
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = False
    slow: ClassVar[int] = 0

    def __init__(self, access: ProviderSettings) -> None:
        self.terms = Terms(prices={ProviderField.EMAIL: 1.0}, daily_budget=access.daily_budget)

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        return None if request.subject.company_domain else TraceOutcome.INELIGIBLE

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:  # noqa: ARG002 -- it needs no timeout
        times = int(request.poll_token or 0)
        if times < self.slow:
            return Pending(str(times + 1), 0.0)
        source = source_of(self.name)
        found = FoundEmail(
            email="ada@acme.com", type="work", status=EmailStatus.VALID, source=source, verified_at=source.at
        )
        return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,), cost=1)


@pytest.fixture
def services(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    monkeypatch.setattr(registry, "PROVIDERS", (*registry.PROVIDERS, NewProvider))
    registry.load.cache_clear()
    settings = dataclasses.replace(settings, providers_email=("new_provider",), providers_verification=())
    return make_services(settings, database)


def a_reveal(database: Database) -> str:
    with database.transaction() as session:
        question = a_question(a_workspace(session), request=REQUEST)
        job = submit(session, question, now=clock.now()).job
        session.execute(update(Job).values(queue=Queue.PROVIDERS.value))
        return job.id


def order(settings: Settings, **changes: Any) -> Settings:
    registry.load.cache_clear()
    return dataclasses.replace(settings, **changes)


def test_a_new_provider_is_called_charged_and_traced(services: WorkerServices, database: Database) -> None:
    job_id = a_reveal(database)

    job_runner.run(job_id, reveal.email, services)

    with database.reading() as session:
        job = read(session, job_id)
        assert (job.outcome, job.charged, figures(session, job.workspace_id)) == (Outcome.FOUND, 1, (9, 0, 1))
        assert job.result is not None
        assert job.result["emails"][0]["sources"][0]["provider"] == "new_provider"
        assert [(line["provider"], line["outcome"], line["cost"]) for line in job.trace] == [
            ("new_provider", "hit", 1)
        ]


def test_a_pending_provider_is_polled_by_later_runs_without_using_an_attempt(
    services: WorkerServices, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NewProvider, "slow", 6)
    job_id = a_reveal(database)

    for _ in range(7):
        job_runner.run(job_id, reveal.email, services)

    with database.reading() as session:
        job = read(session, job_id)
        calls = session.query(ProviderCall).all()
        assert services.settings.max_attempts < 6
        assert (job.outcome, job.attempts, job.charged, len(job.trace)) == (Outcome.FOUND, 1, 1, 1)
        assert [(call.outcome, call.reply, call.ticket) for call in calls] == [("hit", None, None)]


def test_every_default_order_names_existing_providers(settings: Settings) -> None:
    everybody = tuple((f"{name.upper()}_API_KEY", "k") for name in ("hunter", "pdl", "apollo"))

    known = registry.load(order(settings, provider_variables=everybody))

    assert {"pattern", "sandbox", "mx", "reacher", "hunter", "pdl", "apollo"} <= set(known)


def test_an_unknown_provider_in_an_order_is_an_error_that_lists_the_names(settings: Settings) -> None:
    with pytest.raises(SettingsError, match=r"PROVIDERS_EMAIL names 'huntr'.*hunter"):
        registry.load(order(settings, providers_email=("huntr",)))


def test_an_unknown_provider_in_the_order_of_a_country_is_an_error(settings: Settings) -> None:
    wrong = order(settings, provider_variables=(("PROVIDERS_PHONE_DE", "nobody"),))

    with pytest.raises(SettingsError, match="PROVIDERS_PHONE_DE names 'nobody'"):
        registry.load(wrong)


def test_a_country_has_its_own_order(settings: Settings) -> None:
    settings = order(
        settings,
        providers_email=("pattern", "hunter"),
        provider_variables=(("PROVIDERS_EMAIL_EU", "dropcontact"),),
    )

    german, usual = (
        provider_order.configured_order(settings, ProviderField.EMAIL, region) for region in ("DE", "US")
    )

    assert [provider.name for provider in german] == ["dropcontact"]
    assert [provider.name for provider in usual] == ["pattern", "hunter"]


def test_a_provider_without_the_field_is_an_error_that_lists_those_with_it(settings: Settings) -> None:
    with pytest.raises(SettingsError, match=r"PROVIDERS_PHONE names 'hunter'.*leadmagic"):
        registry.load(order(settings, providers_phone=("hunter", "leadmagic")))


def test_providers_are_configured_in_a_file(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "providers.toml"
    file.write_text('[crm]\nurl = "https://crm.example"\n[crm.email]\npath = "/x"\nquery = {d = "{email}"}\n'
                    '[crm.email.read]\nemail = "email"\n')  # fmt: skip
    settings = order(settings, providers_file=str(file), providers_email=("crm",))

    assert [provider.name for provider in provider_order.configured_order(settings, ProviderField.EMAIL)] == [
        "crm"
    ]


@pytest.mark.parametrize(("rate", "attempts"), [("2/minute", 0), ("1/hour", 1)])
def test_a_short_rate_limit_snoozes_the_job_and_a_long_one_uses_an_attempt(
    services: WorkerServices, database: Database, rate: str, attempts: int
) -> None:
    settings = order(
        services.settings,
        providers_email=("hunter",),
        provider_variables=(
            ("HUNTER_API_KEY", "k"),
            ("HUNTER_BASE_URL", "http://127.0.0.1:1"),
            ("HUNTER_RATE", rate),
        ),
    )
    with database.transaction() as session:
        provider_throttles.admit(session, "hunter", parse_rates(rate), breaker=True, now=clock.now())
    job_id = a_reveal(database)

    job_runner.run(job_id, reveal.email, dataclasses.replace(services, settings=settings))

    with database.reading() as session:
        job = read(session, job_id)
        assert (job.attempts, [line["outcome"] for line in job.trace]) == (attempts, ["rate_limited"])
