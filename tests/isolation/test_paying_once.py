"""A workspace pays once for an address or number, whichever identifiers it requests the person by."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from typing import Any

import pytest
from fake_providers import email, hit, person, phone
from jobs_support import NOW, at_once, figures
from sqlalchemy import select
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.kinds import Kind, Outcome
from app.engine.audit import rule_checks
from app.engine.contacts import emails
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal, RevealedValue
from app.features.quality import feedback
from app.features.quality.feedback import FeedbackReport
from app.features.quality.refunds import Allowance, RefundDecision
from app.infra import clock
from workers.execution import job_runner
from workers.jobs import reveal
from workers.resolve import field_resolver

pytestmark = pytest.mark.slow

PROFILE = {"linkedin_url": ADA}
NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}
MAIL = {"email": "ada@acme.com"}
HOME = {"email": "ada@home.example"}
PHONE = {"phone": "+12025550143"}
TYPES = {Kind.REVEAL_EMAIL: ["work"], Kind.REVEAL_PHONE: ["mobile"]}


def rules_hold(harness: WorkerHarness) -> None:
    with harness.database.reading() as session:
        checked = rule_checks.check(
            session, stuck_after=harness.services.settings.default_max_age, now=clock.now()
        )
        assert [entry for entry in checked if entry.faults] == []


def spent(harness: WorkerHarness) -> int:
    with harness.database.reading() as session:
        available, held, spent = figures(session, harness.workspace_id)
    assert (held, available + spent) == (0, 10)
    return spent


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, MAIL, HOME], 3)))
def test_an_email_is_paid_once_whichever_identifiers_name_the_person(
    harness: WorkerHarness, order: tuple[dict[str, str], ...]
) -> None:
    harness.set_providers(one=hit(email()))

    jobs = [harness.reveal(subject) for subject in order]

    assert [job.outcome for job in jobs] == [Outcome.FOUND] * 3
    assert [(job.charged, job.already_owned) for job in jobs] == [(1, False), (0, True), (0, True)]
    assert spent(harness) == 1
    rules_hold(harness)


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, MAIL, PHONE], 3)))
def test_a_phone_number_is_paid_once_whichever_identifiers_name_the_person(
    harness: WorkerHarness, order: tuple[dict[str, str], ...]
) -> None:
    harness.set_providers(one=hit(phone()))

    jobs = [harness.reveal(subject, Kind.REVEAL_PHONE) for subject in order]

    assert [(job.outcome, job.charged) for job in jobs] == [
        (Outcome.FOUND, 1),
        (Outcome.FOUND, 0),
        (Outcome.FOUND, 0),
    ]
    assert spent(harness) == 1
    rules_hold(harness)


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, HOME])))
@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
def test_concurrent_jobs_for_the_same_person_pay_once(
    harness: WorkerHarness, kind: Kind, order: tuple[dict[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field.value == "phone" else hit(email())
    )
    ids = [harness.submit_reveal(subject, kind) for subject in order]
    run_together(harness, ids, kind, monkeypatch)

    with harness.database.reading() as session:
        jobs = [session.get_one(Job, job_id) for job_id in ids]
    assert [job.outcome for job in jobs] == [Outcome.FOUND] * 3
    assert sorted(job.charged for job in jobs) == [0, 0, 1]
    assert spent(harness) == 1
    rules_hold(harness)


@pytest.mark.parametrize("number_of_run", range(3))
def test_concurrent_reveals_of_two_contacts_with_one_email_pay_once(
    harness: WorkerHarness, number_of_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [harness.store_contact(person(linkedin_url=url, emails=(email(),))) for url in (ADA, BOB)]
    harness.set_providers()
    order = ids if number_of_run % 2 else ids[::-1]
    jobs = [harness.submit_reveal({"contact_id": contact_id}, Kind.REVEAL_EMAIL) for contact_id in order]

    run_together(harness, jobs, Kind.REVEAL_EMAIL, monkeypatch)

    assert (len(set(ids)), spent(harness)) == (2, 1)
    rules_hold(harness)


def test_a_value_owned_through_another_contact_is_shown_as_owned_and_free(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    bob = harness.store_contact(person(linkedin_url=BOB, emails=(email(),)))
    harness.set_providers()
    harness.reveal(PROFILE)

    shown = harness.look_up(contact_id=bob)
    free = harness.reveal({"contact_id": bob}, max_age_days=1)

    assert [(entry["owned"], entry["credits"]) for entry in shown["available"]] == [(True, 0)]
    assert [entry["email"] for entry in shown["revealed"]["emails"]] == ["ada@acme.com"]
    assert (free.charged, free.already_owned) == (0, True)
    assert harness.other_workspace().look_up(contact_id=bob)["revealed"]["emails"] == []


@pytest.mark.parametrize("reported_under", [0, 1])
def test_a_refunded_email_is_owned_through_no_contact(harness: WorkerHarness, reported_under: int) -> None:
    people = [harness.store_contact(person(linkedin_url=url, emails=(email(),))) for url in (ADA, BOB)]
    harness.set_providers()
    for contact_id in people:
        harness.reveal({"contact_id": contact_id}, max_age_days=1)
    bounced = FeedbackReport(
        workspace_id=harness.workspace_id,
        account_id=None,
        contact_id=people[reported_under],
        email="ada@acme.com",
        kind=FeedbackKind.BOUNCE,
    )

    with harness.database.transaction() as session:
        refund = feedback.record(session, bounced, allowance=Allowance(1.0), now=NOW).refund

    shown = [harness.look_up(contact_id=contact_id) for contact_id in people]
    assert refund is RefundDecision.GIVEN
    assert [entry["revealed"]["emails"] for entry in shown] == [[], []]
    assert [[entry["owned"] for entry in entry["available"]] for entry in shown] == [[False], [False]]
    assert spent(harness) == 0
    rules_hold(harness)


def test_a_free_value_does_not_include_other_values_of_its_contact(harness: WorkerHarness) -> None:
    private = dataclasses.replace(email("bob@home.example"), type="personal")
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    bob = harness.store_contact(person(linkedin_url=BOB, emails=(email(), private)))
    harness.set_providers()
    harness.reveal(PROFILE)
    harness.reveal({"contact_id": bob})

    job = harness.reveal({"contact_id": bob}, types=["personal"])

    assert (job.charged, job.already_owned) == (1, False)
    rules_hold(harness)


def test_a_new_value_beside_an_owned_one_is_charged(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    bob = harness.store_contact(person(linkedin_url=BOB, emails=(email(), email("bob@acme.com"))))
    harness.set_providers()
    harness.reveal(PROFILE)

    job = harness.reveal({"contact_id": bob})

    assert job.charged == 1
    assert spent(harness) == 2
    rules_hold(harness)


def test_a_value_added_to_an_owned_contact_is_owned_through_every_contact(harness: WorkerHarness) -> None:
    ada = harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    bob = harness.store_contact(person(linkedin_url=BOB, emails=(email("new@acme.com"),)))
    harness.set_providers()
    harness.reveal(PROFILE)
    with harness.database.transaction() as session:
        emails.upsert(session, ada, email("new@acme.com"), now=NOW)

    job = harness.reveal({"contact_id": bob})

    assert (job.charged, job.already_owned) == (0, True)
    rules_hold(harness)


def test_a_job_without_a_hold_returns_owned_values_but_not_newer_ones(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    bob = harness.store_contact(person(linkedin_url=BOB, emails=(email(),)))
    harness.set_providers()
    harness.reveal(PROFILE)
    job_id = harness.submit_reveal({"contact_id": bob}, Kind.REVEAL_EMAIL, price=0)
    settle = field_resolver.store

    def late(session: Any, *args: Any, **more: Any) -> Any:
        emails.upsert(session, bob, email("bob@acme.com"), now=NOW)
        return settle(session, *args, **more)

    monkeypatch.setattr(field_resolver, "store", late)

    job = harness.run_reveal(job_id)

    assert job.result is not None
    assert [entry["email"] for entry in job.result["emails"]] == ["ada@acme.com"]
    assert (job.charged, job.already_owned) == (0, True)
    rules_hold(harness)


def test_an_owned_field_costs_an_enrichment_no_credits(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field.value == "phone" else hit(email())
    )
    harness.reveal(PROFILE)
    job_id = harness.submit_enrichment({"subject": PROFILE}, fields=("email", "phone"), price=1)

    [item] = harness.run_enrichment(job_id)["result"]["items"]

    assert (item["outcome"], item["credits_charged"], item["error"]) == ("found", 1, None)


def test_enrichment_items_about_one_person_are_charged_once(harness: WorkerHarness) -> None:
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field.value == "phone" else hit(email())
    )
    items = [{"subject": subject} for subject in (PROFILE, NAMED, HOME)]

    done = harness.run_enrichment(harness.submit_enrichment(*items, fields=("email", "phone"), price=6))

    assert [item["credits_charged"] for item in done["result"]["items"]] == [2, 0, 0]
    assert spent(harness) == 2
    rules_hold(harness)


def test_each_workspace_pays_for_itself(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email()))
    other = harness.other_workspace()

    jobs = [workspace.reveal(PROFILE) for workspace in (harness, other)]

    assert [job.charged for job in jobs] == [1, 1]


def test_two_profiles_with_a_shared_email_stay_two_contacts(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email()))

    jobs = [harness.reveal({"linkedin_url": url}) for url in (ADA, BOB)]

    assert len({job.result["contact_id"] for job in jobs if job.result}) == 2
    assert [job.charged for job in jobs] == [1, 0]


def test_a_revealed_value_is_stored_with_the_job_that_paid_for_it(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email()))

    job = harness.reveal(PROFILE)

    with harness.database.reading() as session:
        [value], [owned] = session.scalars(select(RevealedValue)), session.scalars(select(Reveal))
        index = session.keys.ring.index("email", "ada@acme.com")
    assert (value.field, value.value_index, value.job_id, owned.job_id) == (
        "email",
        index,
        job.id,
        job.id,
    )


def run_together(harness: WorkerHarness, ids: list[str], kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each job in its own thread; all settle at once, after every job has found its values."""
    work = reveal.email if kind is Kind.REVEAL_EMAIL else reveal.phone
    everybody, find_out = threading.Barrier(len(ids)), field_resolver.resolve_field

    def wait(*args: Any, **more: Any) -> Any:
        found = find_out(*args, **more)
        everybody.wait(timeout=30)
        return found

    monkeypatch.setattr(field_resolver, "resolve_field", wait)
    at_once(len(ids), lambda number: job_runner.run(ids[number], work, harness.services))
