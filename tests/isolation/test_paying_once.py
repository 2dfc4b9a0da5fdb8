"""A workspace pays once for an address or number, whichever identifiers it requests the person by."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from typing import Any

import pytest
from enriching_support import ADA, BOB, person, said_by, tells
from finding_support import Desk, email, number
from jobs_support import NOW, a_job, at_once, figures
from sqlalchemy import select

from app.core.audit import audits
from app.core.contacts import contacts, emails
from app.core.contacts.bounce_reports import FeedbackKind
from app.core.jobs.jobs import Job
from app.core.ledger.reveals import Reveal, RevealedValue
from app.core.quality import feedback
from app.core.quality.feedback import FeedbackReport
from app.core.quality.refunds import Allowance, RefundDecision
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome, Queue
from app.infra import clock
from workers.execution import job_runner
from workers.jobs import reveal
from workers.resolve import field_resolver

PROFILE = {"linkedin_url": ADA}
NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}
MAIL = {"email": "ada@acme.com"}
HOME = {"email": "ada@home.example"}
PHONE = {"phone": "+12025550143"}
TYPES = {Kind.REVEAL_EMAIL: ["work"], Kind.REVEAL_PHONE: ["mobile"]}


def keep(desk: Desk, **values: Any) -> str:
    with desk.bench.services.database.transaction() as session:
        found = dataclasses.replace(person(said_by("one", NOW)), **values)
        return contacts.upsert(session, found, now=NOW).id


def rules_hold(desk: Desk) -> None:
    with desk.bench.services.database.reading() as session:
        checked = audits.check(session, stuck_after=desk.bench.services.settings.usual_age, now=clock.now())
        assert [one for one in checked if one.faults] == []


def spent(desk: Desk) -> int:
    with desk.bench.services.database.reading() as session:
        available, held, spent = figures(session, desk.bench.workspace_id)
    assert (held, available + spent) == (0, 10)
    return spent


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, MAIL, HOME], 3)))
def test_an_address_is_paid_once_under_whatever_names_the_person(
    mallory: Desk, order: tuple[dict[str, str], ...]
) -> None:
    mallory.with_providers("one", one=tells(email()))

    jobs = [mallory.reveal(subject) for subject in order]

    assert [job.outcome for job in jobs] == [Outcome.FOUND] * 3
    assert [(job.charged, job.already_owned) for job in jobs] == [(1, False), (0, True), (0, True)]
    assert spent(mallory) == 1
    rules_hold(mallory)


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, MAIL, PHONE], 3)))
def test_so_is_a_number(mallory: Desk, order: tuple[dict[str, str], ...]) -> None:
    mallory.with_providers("one", one=number())

    jobs = [mallory.reveal(subject, Kind.REVEAL_PHONE) for subject in order]

    assert [(job.outcome, job.charged) for job in jobs] == [
        (Outcome.FOUND, 1),
        (Outcome.FOUND, 0),
        (Outcome.FOUND, 0),
    ]
    assert spent(mallory) == 1
    rules_hold(mallory)


@pytest.mark.parametrize("order", list(itertools.permutations([PROFILE, NAMED, HOME])))
@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
def test_nor_twice_where_the_jobs_run_at_once(
    mallory: Desk, kind: Kind, order: tuple[dict[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    mallory.with_providers("one", one=lambda ask: number() if ask.field.value == "phone" else tells(email()))
    ids = [queued(mallory, subject, kind) for subject in order]
    run_together(mallory, ids, kind, monkeypatch)

    with mallory.bench.services.database.reading() as session:
        jobs = [session.get_one(Job, job_id) for job_id in ids]
    assert [job.outcome for job in jobs] == [Outcome.FOUND] * 3
    assert sorted(job.charged for job in jobs) == [0, 0, 1]
    assert spent(mallory) == 1
    rules_hold(mallory)


@pytest.mark.parametrize("number_of_run", range(3))
def test_two_stored_people_with_one_address_are_paid_once_at_once(
    mallory: Desk, number_of_run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [keep(mallory, linkedin_url=url, emails=(email(),)) for url in (ADA, BOB)]
    mallory.with_providers("one")
    order = ids if number_of_run % 2 else ids[::-1]
    jobs = [queued(mallory, {"contact_id": contact_id}, Kind.REVEAL_EMAIL) for contact_id in order]

    run_together(mallory, jobs, Kind.REVEAL_EMAIL, monkeypatch)

    assert (len(set(ids)), spent(mallory)) == (2, 1)
    rules_hold(mallory)


def test_what_is_owned_under_another_contact_looks_owned_and_costs_nothing(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    bob = keep(mallory, linkedin_url=BOB, emails=(email(),))
    mallory.with_providers("one")
    mallory.reveal(PROFILE)

    shown = mallory.look_up(contact_id=bob)
    free = mallory.reveal({"contact_id": bob}, max_age_days=1)

    assert [(entry["owned"], entry["credits"]) for entry in shown["available"]] == [(True, 0)]
    assert [one["email"] for one in shown["revealed"]["emails"]] == ["ada@acme.com"]
    assert (free.charged, free.already_owned) == (0, True)
    assert mallory.of_another_workspace().look_up(contact_id=bob)["revealed"]["emails"] == []


@pytest.mark.parametrize("reported_under", [0, 1])
def test_an_address_that_was_refunded_is_owned_under_no_contact(mallory: Desk, reported_under: int) -> None:
    people = [keep(mallory, linkedin_url=url, emails=(email(),)) for url in (ADA, BOB)]
    mallory.with_providers("one")
    for contact_id in people:
        mallory.reveal({"contact_id": contact_id}, max_age_days=1)
    bounced = FeedbackReport(
        workspace_id=mallory.bench.workspace_id,
        account_id=None,
        contact_id=people[reported_under],
        email="ada@acme.com",
        kind=FeedbackKind.BOUNCE,
    )

    with mallory.bench.services.database.transaction() as session:
        refund = feedback.record(session, bounced, allowance=Allowance(1.0), now=NOW).refund

    shown = [mallory.look_up(contact_id=contact_id) for contact_id in people]
    assert refund is RefundDecision.GIVEN
    assert [one["revealed"]["emails"] for one in shown] == [[], []]
    assert [[entry["owned"] for entry in one["available"]] for one in shown] == [[False], [False]]
    assert spent(mallory) == 0
    rules_hold(mallory)


def test_a_value_that_is_free_does_not_bring_the_others_of_its_contact(mallory: Desk) -> None:
    private = dataclasses.replace(email("bob@home.example"), type="personal")
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    bob = keep(mallory, linkedin_url=BOB, emails=(email(), private))
    mallory.with_providers("one")
    mallory.reveal(PROFILE)
    mallory.reveal({"contact_id": bob})

    job = mallory.reveal({"contact_id": bob}, types=["personal"])

    assert (job.charged, job.already_owned) == (1, False)
    rules_hold(mallory)


def test_a_new_value_beside_an_owned_one_is_paid(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    bob = keep(mallory, linkedin_url=BOB, emails=(email(), email("bob@acme.com")))
    mallory.with_providers("one")
    mallory.reveal(PROFILE)

    job = mallory.reveal({"contact_id": bob})

    assert job.charged == 1
    assert spent(mallory) == 2
    rules_hold(mallory)


def test_a_value_that_comes_to_an_owned_contact_later_is_owned_under_any(mallory: Desk) -> None:
    ada = keep(mallory, linkedin_url=ADA, emails=(email(),))
    bob = keep(mallory, linkedin_url=BOB, emails=(email("new@acme.com"),))
    mallory.with_providers("one")
    mallory.reveal(PROFILE)
    with mallory.bench.services.database.transaction() as session:
        emails.upsert(session, ada, email("new@acme.com"), now=NOW)

    job = mallory.reveal({"contact_id": bob})

    assert (job.charged, job.already_owned) == (0, True)
    rules_hold(mallory)


def test_a_job_that_holds_nothing_is_given_what_is_owned_and_nothing_that_came_meanwhile(
    mallory: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    bob = keep(mallory, linkedin_url=BOB, emails=(email(),))
    mallory.with_providers("one")
    mallory.reveal(PROFILE)
    job_id = queued(mallory, {"contact_id": bob}, Kind.REVEAL_EMAIL, price=0)
    settle = field_resolver.store

    def late(session: Any, *args: Any, **more: Any) -> Any:
        emails.upsert(session, bob, email("bob@acme.com"), now=NOW)
        return settle(session, *args, **more)

    monkeypatch.setattr(field_resolver, "store", late)

    job = mallory.run(job_id)

    assert job.result is not None
    assert [one["email"] for one in job.result["emails"]] == ["ada@acme.com"]
    assert (job.charged, job.already_owned) == (0, True)
    rules_hold(mallory)


def test_an_owned_field_leaves_an_enrichment_its_credits_for_the_others(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email(),))
    mallory.with_providers("one", one=lambda ask: number() if ask.field.value == "phone" else tells(email()))
    mallory.reveal(PROFILE)
    job_id = mallory.bench.submit({"subject": PROFILE}, fields=("email", "phone"), price=1)

    [item] = mallory.bench.run(job_id)["result"]["items"]

    assert (item["outcome"], item["credits_charged"], item["error"]) == ("found", 1, None)


def test_items_of_an_enrichment_that_mean_one_person_are_paid_once(mallory: Desk) -> None:
    mallory.with_providers("one", one=lambda ask: number() if ask.field.value == "phone" else tells(email()))
    items = [{"subject": subject} for subject in (PROFILE, NAMED, HOME)]

    done = mallory.bench.run(mallory.bench.submit(*items, fields=("email", "phone"), price=6))

    assert [item["credits_charged"] for item in done["result"]["items"]] == [2, 0, 0]
    assert spent(mallory) == 2
    rules_hold(mallory)


def test_another_workspace_pays_for_itself(mallory: Desk) -> None:
    mallory.with_providers("one", one=tells(email()))
    other = mallory.of_another_workspace()

    jobs = [desk.reveal(PROFILE) for desk in (mallory, other)]

    assert [job.charged for job in jobs] == [1, 1]


def test_two_profiles_stay_two_people_whatever_address_they_share(mallory: Desk) -> None:
    mallory.with_providers("one", one=tells(email()))

    jobs = [mallory.reveal({"linkedin_url": url}) for url in (ADA, BOB)]

    assert len({job.result["contact_id"] for job in jobs if job.result}) == 2
    assert [job.charged for job in jobs] == [1, 0]


def test_a_value_is_written_down_with_the_job_that_paid(mallory: Desk) -> None:
    mallory.with_providers("one", one=tells(email()))

    job = mallory.reveal(PROFILE)

    with mallory.bench.services.database.reading() as session:
        [value], [owned] = session.scalars(select(RevealedValue)), session.scalars(select(Reveal))
    assert (value.field, value.value, value.job_id, owned.job_id) == (
        "email",
        "ada@acme.com",
        job.id,
        job.id,
    )


def queued(desk: Desk, subject: dict[str, str], kind: Kind, *, price: int = 1) -> str:
    request = {"subject": subject, "types": TYPES[kind], "min_status": "valid"}
    with desk.bench.services.database.transaction() as session:
        about = new_id("job")
        job_id = a_job(session, desk.bench.workspace_id, about, kind=kind, request=request, price=price)
        session.get_one(Job, job_id).queue = Queue.PROVIDERS.value
        return job_id


def run_together(desk: Desk, ids: list[str], kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each job in its own thread; all settle at once, after every job has found its values."""
    work = reveal.email if kind is Kind.REVEAL_EMAIL else reveal.phone
    everybody, find_out = threading.Barrier(len(ids)), field_resolver.resolve_field

    def wait(*args: Any, **more: Any) -> Any:
        found = find_out(*args, **more)
        everybody.wait(timeout=30)
        return found

    monkeypatch.setattr(field_resolver, "resolve_field", wait)
    at_once(len(ids), lambda number: job_runner.run(ids[number], work, desk.bench.services))
