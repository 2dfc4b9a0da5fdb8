from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.people_criteria import PeopleCriteria
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers import sandbox
from workers.providers.base import (
    PeopleQuery,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)
from workers.providers.sandbox import SCENARIOS, Sandbox, scenario_of

TYPES = {
    ProviderField.EMAIL: ("work",),
    ProviderField.PHONE: ("mobile", "direct"),
    ProviderField.PERSON: (),
    ProviderField.COMPANY: (),
}
HITS = {
    "found": EmailStatus.VALID,
    "accept-all": EmailStatus.ACCEPT_ALL,
    "risky": EmailStatus.RISKY,
    "invalid": EmailStatus.INVALID,
    "unknown": EmailStatus.UNKNOWN,
}
SILENT = {
    "not-found": TraceOutcome.MISS,
    "rate-limited": TraceOutcome.RATE_LIMITED,
    "no-credits": TraceOutcome.NO_CREDITS,
    "unconfigured": TraceOutcome.UNCONFIGURED,
    "suppressed": TraceOutcome.SUPPRESSED,
}


def profile(scenario: str) -> Subject:
    return Subject(linkedin_url=f"https://www.linkedin.com/in/sandbox-{scenario}")


def call(
    scenario: str, field: ProviderField = ProviderField.EMAIL, *, attempt: int = 1, seconds: float = 5.0
) -> ProviderResponse:
    question = ProviderRequest(field=field, subject=profile(scenario), types=TYPES[field], attempt=attempt)
    return Sandbox(ProviderSettings()).call(question, seconds=seconds)


@pytest.mark.parametrize("scenario", HITS)
def test_each_hit_scenario_has_its_status(scenario: str) -> None:
    reply = call(scenario)

    (found,) = reply.emails
    assert (reply.outcome, found.status, reply.cost) == (TraceOutcome.HIT, HITS[scenario], 1)
    assert (found.email, found.type, found.verified_at) == (
        f"{scenario}@sandbox.example",
        "work",
        found.source.at,
    )


@pytest.mark.parametrize("scenario", SILENT)
def test_each_other_scenario_has_its_outcome(scenario: str) -> None:
    reply = call(scenario)

    assert (reply.outcome, reply.emails, reply.cost) == (SILENT[scenario], (), 0)


def test_only_the_rate_limit_scenario_has_a_retry_delay() -> None:
    later = {scenario: call(scenario).retry_after for scenario in SILENT}

    assert [scenario for scenario, seconds in later.items() if seconds] == ["rate-limited"]


def test_a_failing_provider_raises_as_a_broken_adapter_would() -> None:
    with pytest.raises(RuntimeError):
        call("failing")


def test_a_flaky_provider_fails_once() -> None:
    with pytest.raises(RuntimeError):
        call("flaky", attempt=1)

    assert call("flaky", attempt=2).outcome is TraceOutcome.HIT


def test_a_timeout_is_a_timeout() -> None:
    with pytest.raises(ProviderTimeout):
        call("timeout")


@pytest.mark.parametrize(("allowed", "slept"), [(10.0, sandbox.SLOW_SECONDS), (1.0, 1.0)])
def test_the_slow_scenario_sleeps_at_most_until_the_timeout(
    monkeypatch: pytest.MonkeyPatch, allowed: float, slept: float
) -> None:
    naps: list[float] = []
    monkeypatch.setattr(sandbox, "time", SimpleNamespace(sleep=naps.append))

    reply = call("slow", seconds=allowed)

    assert (reply.outcome, naps) == (TraceOutcome.HIT, [slept])


def test_every_scenario_is_tested() -> None:
    assert set(SCENARIOS) == {*HITS, *SILENT, "failing", "flaky", "timeout", "slow"}


@pytest.mark.parametrize("scenario", [None, "nonsense"])
def test_a_person_outside_the_sandbox_is_ineligible(scenario: str | None) -> None:
    subject = profile(scenario) if scenario else Subject(email="ada@acme.com")

    refusal = Sandbox(ProviderSettings()).unavailability(
        ProviderRequest(field=ProviderField.EMAIL, subject=subject)
    )

    assert refusal is TraceOutcome.INELIGIBLE


@pytest.mark.parametrize(
    "subject",
    [
        profile("not-found"),
        Subject(email="not-found@sandbox.example"),
        Subject(full_name="Not-Found Sandbox", company_domain="sandbox.example"),
        Subject(first_name="Not-Found", last_name="Sandbox", company_domain="sandbox.example"),
        Subject(full_name="not found sandbox", company_domain="sandbox.example"),
    ],
)
def test_a_scenario_can_be_selected_by_every_identifier(subject: Subject) -> None:
    assert scenario_of(subject) == "not-found"


@pytest.mark.parametrize(
    "subject",
    [
        Subject(linkedin_url="https://www.linkedin.com/in/ada"),
        Subject(email="found@sandbox.example.com"),
        Subject(full_name="Found Sandbox", company_domain="acme.com"),
        Subject(company_domain="sandbox.example"),
        Subject(phone="+12025550143"),
        Subject(full_name="Suppressed Sandbox", company_domain="sandbox.example", email="ada@acme.com"),
        Subject(
            linkedin_url="https://www.linkedin.com/in/ada",
            full_name="Suppressed Sandbox",
            company_domain="sandbox.example",
        ),
        Subject(linkedin_url="https://www.linkedin.com/in/sandbox-suppressed", email="ada@acme.com"),
        Subject(email="suppressed@sandbox.example", phone="+16175550101"),
    ],
)
def test_real_people_are_ineligible(subject: Subject) -> None:
    assert scenario_of(subject) is None


def test_a_personal_address_has_another_domain() -> None:
    question = ProviderRequest(field=ProviderField.EMAIL, subject=profile("found"), types=("personal",))

    (found,) = Sandbox(ProviderSettings()).call(question, seconds=1.0).emails

    assert (found.email, found.type) == ("found@mail.example", "personal")


@pytest.mark.parametrize(("types", "expected"), [(("work", "mobile"), "mobile"), (("hq",), "hq")])
def test_a_phone_has_a_requested_type(types: tuple[str, ...], expected: str) -> None:
    (phone,) = (
        Sandbox(ProviderSettings())
        .call(ProviderRequest(field=ProviderField.PHONE, subject=profile("found"), types=types), seconds=1.0)
        .phones
    )

    assert (phone.e164, phone.type, phone.status) == (sandbox.PHONE, expected, "valid")


def test_a_person_has_a_name_and_a_company() -> None:
    contact = call("accept-all", ProviderField.PERSON).contact

    assert contact is not None
    assert (contact.full_name, contact.linkedin_url) == (
        "Accept All Sandbox",
        profile("accept-all").linkedin_url,
    )
    assert contact.company is not None
    assert contact.company.domain == "sandbox.example"


def test_the_company_is_the_sandbox() -> None:
    company = call("found", ProviderField.COMPANY).company

    assert company is not None
    assert (company.name, company.domain) == ("Sandbox", "sandbox.example")


def search(*, limit: int = 3, page: int = 1, titles: tuple[str, ...] = ()) -> ProviderRequest:
    company = {"company_domain": "sandbox.example"}
    query = PeopleQuery(criteria=PeopleCriteria(titles=titles, **company), limit=limit, page=page)
    return ProviderRequest(field=ProviderField.PEOPLE, subject=Subject(**company), query=query)


def test_a_search_finds_the_people_of_the_sandbox_page_by_page() -> None:
    first, second = (Sandbox(ProviderSettings()).call(search(page=page), seconds=5) for page in (1, 2))

    assert [person.full_name for person in (*first.people, *second.people)] == [
        "Found Sandbox",
        "Accept All Sandbox",
        "Risky Sandbox",
        "Invalid Sandbox",
        "Unknown Sandbox",
    ]
    assert [(reply.cost, reply.has_more) for reply in (first, second)] == [(3, True), (2, False)]
    assert Sandbox(ProviderSettings()).call(search(page=3), seconds=5).outcome is TraceOutcome.MISS


@pytest.mark.parametrize(
    ("title", "outcome"),
    [("not found", TraceOutcome.MISS), ("no credits", TraceOutcome.NO_CREDITS), ("cto", TraceOutcome.HIT)],
)
def test_the_first_title_of_a_search_names_its_scenario(title: str, outcome: TraceOutcome) -> None:
    assert Sandbox(ProviderSettings()).call(search(titles=(title,)), seconds=5).outcome is outcome


def test_a_search_at_another_company_is_ineligible() -> None:
    elsewhere = replace(search(), subject=Subject(company_domain="acme.com"))

    assert Sandbox(ProviderSettings()).unavailability(elsewhere) is TraceOutcome.INELIGIBLE
