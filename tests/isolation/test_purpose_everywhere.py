"""A value that needs a purpose is obtained in no channel without one, and no provider is asked for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import feature_tests
import pytest
from fake_providers import MISS, company, email, hit, person, phone
from jobs_support import a_question, figures, submit
from sqlalchemy import event, select
from stored_support import PRICES, own
from worker_harness import ADA, BOB, NAMED, WorkerHarness, deliver

from app.domain.kinds import Kind, Outcome, Status, TraceOutcome
from app.domain.normal.hashes import hex_hash, website_hash
from app.domain.regional_rules import parse_places
from app.engine.audit import rule_checks
from app.engine.contacts.contacts import Contact
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import leads, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.owned import owned_contacts, owned_exports
from app.engine.owned.owned_filters import Selection
from app.engine.privacy import erasure, person_data
from app.infra import clock
from app.infra.database.session import Session
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

PURPOSE = "recruiting"
EMAIL, PHONE = "ada@acme.com", "+16175550101"
PROFILE = {"linkedin_url": ADA}
FIELDS = [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE]
PLACES = {
    "the person's country": ("DE", "DE", None),
    "the company's country": ("DE", None, "DE"),
    "the person's country, not the company's": ("FR,DE", "DE", "US"),
    "the European Union": ("EU", "DE", None),
    "an unknown country": ("unknown", None, None),
    "everywhere": ("*", "US", "US"),
}


@pytest.fixture(params=PLACES.values(), ids=PLACES)
def ada(request: pytest.FixtureRequest, harness: WorkerHarness) -> str:
    """Store Ada in a country of the rule; return the id of the contact."""
    setting, country, of_company = request.param
    contact_id = store_ada(harness, country, of_company)
    harness.require_purpose(*setting.split(","))
    return contact_id


def store_ada(harness: WorkerHarness, country: str | None = None, of_company: str | None = None) -> str:
    """Store Ada with an address and a number."""
    employer = company(country=of_company)
    return harness.store_contact(
        person(linkedin_url=ADA, country=country, company=employer, emails=(email(),), phones=(phone(),))
    )


def from_germany(request: ProviderRequest) -> ProviderResponse:
    """Return all that is known of Ada, and that she is in Germany."""
    values: dict[str, Any] = {}
    if request.field is ProviderField.EMAIL:
        values = {"emails": (email(),)}
    if request.field is ProviderField.PHONE:
        values = {"phones": (phone(),)}
    known = person(linkedin_url=ADA, country="DE")
    return ProviderResponse(outcome=TraceOutcome.HIT, contact=known, cost=1, **values)


def money(harness: WorkerHarness) -> tuple[int, int, int]:
    with harness.database.reading() as session:
        return figures(session, harness.workspace_id)


def purposes(harness: WorkerHarness) -> list[tuple[str, str | None]]:
    """Return the field and the purpose of every reveal."""
    with harness.database.reading() as session:
        rows = session.execute(select(Reveal.field, Reveal.purpose).order_by(Reveal.created_at, Reveal.field))
        return [(row.field, row.purpose) for row in rows]


def refused(job: Job) -> tuple[object, ...]:
    """Return what a job without a required purpose has in common with all others."""
    return job.status, job.error and job.error["code"], job.outcome, job.result, job.charged


REFUSED = (Status.FAILED, "purpose_required", None, None, 0)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("kind", FIELDS)
def test_a_reveal_of_a_stored_value_without_a_purpose_fails_and_costs_nothing(
    harness: WorkerHarness, kind: Kind
) -> None:
    providers = harness.set_providers(one=hit(email()))

    job = harness.reveal(PROFILE, kind)

    assert refused(job) == REFUSED
    assert job.error is not None
    assert job.error["purposes"] == list(harness.services.settings.purposes)
    assert (money(harness), purposes(harness), providers["one"].requests) == ((10, 0, 0), [], [])


@pytest.mark.usefixtures("ada")
def test_a_reveal_of_a_person_without_values_asks_no_provider(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(email("other@acme.com")))

    job = harness.reveal(PROFILE, types=["personal"])
    asked = len(providers["one"].requests)
    again = harness.reveal(PROFILE, types=["personal"], purpose=PURPOSE)

    assert (refused(job), asked) == (REFUSED, 0)
    assert (again.status, len(providers["one"].requests)) == (Status.SUCCEEDED, 1)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("kind", FIELDS)
def test_with_a_purpose_the_value_is_disclosed_and_the_purpose_stored(
    harness: WorkerHarness, kind: Kind
) -> None:
    harness.reveal(PROFILE, kind)

    job = harness.reveal(PROFILE, kind, purpose=PURPOSE)

    assert (job.status, job.outcome, job.charged) == (Status.SUCCEEDED, Outcome.FOUND, 1)
    assert purposes(harness) == [(kind.value.removeprefix("reveal."), PURPOSE)]


@pytest.mark.parametrize("purpose", [{}, {"purpose": "due_diligence"}])
def test_an_owned_value_needs_no_purpose_and_keeps_that_of_its_purchase(
    harness: WorkerHarness, ada: str, purpose: dict[str, str]
) -> None:
    harness.reveal(PROFILE, purpose=PURPOSE)

    jobs = [harness.reveal(subject, **purpose) for subject in (PROFILE, NAMED, {"contact_id": ada})]

    assert [(job.outcome, job.charged, job.already_owned) for job in jobs] == [(Outcome.FOUND, 0, True)] * 3
    assert purposes(harness) == [("email", PURPOSE)]


@pytest.mark.usefixtures("ada")
def test_a_purpose_of_another_workspace_counts_for_itself_only(harness: WorkerHarness) -> None:
    harness.reveal(PROFILE, purpose=PURPOSE)

    assert refused(harness.other_workspace().reveal(PROFILE)) == REFUSED


@pytest.mark.parametrize(
    ("setting", "country", "of_company"), [("DE", "US", "DE"), ("DE", None, None), ("unknown", "US", None)]
)
def test_people_elsewhere_need_no_purpose(
    harness: WorkerHarness, setting: str, country: str | None, of_company: str | None
) -> None:
    store_ada(harness, country, of_company)
    harness.require_purpose(setting)

    job = harness.reveal(PROFILE)

    assert (job.outcome, job.charged, purposes(harness)) == (Outcome.FOUND, 1, [("email", None)])


@pytest.mark.parametrize("kind", FIELDS)
def test_a_value_that_a_provider_finds_is_stored_and_not_disclosed_if_the_country_is_known_only_then(
    harness: WorkerHarness, kind: Kind
) -> None:
    harness.require_purpose("DE")
    providers = harness.set_providers(one=from_germany)

    job = harness.reveal(PROFILE, kind)
    before = money(harness)
    asked = len(providers["one"].requests)
    again = harness.reveal(PROFILE, kind, purpose=PURPOSE)

    assert (refused(job), before, asked) == (REFUSED, (10, 0, 0), 1)
    assert [line["outcome"] for line in job.trace] == ["hit"]
    assert (again.outcome, again.charged, len(providers["one"].requests)) == (Outcome.FOUND, 1, 1)


@pytest.mark.parametrize("kind", FIELDS)
def test_no_provider_is_asked_about_a_person_of_unknown_country_if_that_needs_a_purpose(
    harness: WorkerHarness, kind: Kind
) -> None:
    harness.require_purpose("unknown")
    providers = harness.set_providers(one=from_germany)

    job = harness.reveal(PROFILE, kind)

    assert (refused(job), providers["one"].requests) == (REFUSED, [])


@pytest.mark.usefixtures("ada")
def test_a_job_that_stored_data_would_resolve_fails_in_the_transaction_of_its_claim(
    harness: WorkerHarness,
) -> None:
    request = {"subject": PROFILE, "types": ["work"], "min_status": "valid"}
    with harness.database.transaction() as session:
        asked = a_question(harness.workspace_id, request=request, price=0)
        job_id = submit(session, asked, now=clock.now()).job.id
    commits: list[object] = []
    event.listen(harness.database.engine, "commit", commits.append)

    deliver(harness.services, job_id)

    with harness.database.reading() as session:
        assert refused(session.get_one(Job, job_id)) == REFUSED
    assert len(commits) == 1


@pytest.mark.usefixtures("ada")
def test_the_values_of_an_item_need_a_purpose_and_its_profile_does_not(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=MISS)
    fields = ("profile", "email", "phone")

    item = harness.enrich({"subject": PROFILE}, fields, price=2)
    again = harness.enrich({"subject": PROFILE}, fields, price=2, purpose=PURPOSE)

    assert (item["emails"], item["phones"], item["credits_charged"]) == ([], [], 0)
    assert (item["error"]["code"], item["contact"]["full_name"]) == ("purpose_required", "Ada Lovelace")
    assert (again["error"], again["credits_charged"], len(again["emails"])) == (None, 2, 1)
    assert purposes(harness) == [("email", PURPOSE), ("phone", PURPOSE)]
    assert providers["one"].requests == []


@pytest.mark.usefixtures("ada")
def test_an_item_with_nothing_but_values_has_no_outcome(harness: WorkerHarness) -> None:
    item = harness.enrich({"subject": PROFILE}, ("email",))

    assert (item["outcome"], item["error"]["code"]) == (None, "purpose_required")


def test_an_item_gives_the_owned_values_and_refuses_the_others(harness: WorkerHarness, ada: str) -> None:
    with harness.database.transaction() as session:
        own(session, harness.workspace_id, session.get_one(Contact, ada), "email")

    item = harness.enrich({"subject": PROFILE}, ("email", "phone"))

    assert ([each["email"] for each in item["emails"]], item["phones"]) == ([EMAIL], [])
    assert (item["outcome"], item["error"]["code"]) == ("partial", "purpose_required")


def test_one_item_that_needs_a_purpose_does_not_affect_the_others(harness: WorkerHarness) -> None:
    store_ada(harness, "DE")
    harness.store_contact(
        person(linkedin_url=BOB, country="US", full_name="Bob Ray", emails=(email("b@a.com"),))
    )
    harness.require_purpose("EU")

    job_id = harness.submit_enrichment(
        {"subject": PROFILE}, {"subject": {"linkedin_url": BOB}}, fields=("email",), price=2
    )
    ada, bob = harness.run_enrichment(job_id)["result"]["items"]

    assert (ada["error"]["code"], ada["emails"]) == ("purpose_required", [])
    assert (bob["error"], bob["credits_charged"], len(bob["emails"])) == (None, 1, 1)
    assert money(harness) == (9, 0, 1)


def test_an_item_whose_country_a_provider_reports_keeps_what_was_found_for_a_request_with_a_purpose(
    harness: WorkerHarness,
) -> None:
    harness.require_purpose("DE")
    providers = harness.set_providers(one=from_germany)

    item = harness.enrich({"subject": PROFILE}, ("email", "phone"), price=2)
    asked = len(providers["one"].requests)
    again = harness.enrich({"subject": PROFILE}, ("email", "phone"), price=2, purpose=PURPOSE)

    assert (item["emails"], item["phones"], item["error"]["code"]) == ([], [], "purpose_required")
    assert (again["credits_charged"], again["error"]) == (2, None)
    assert len(providers["one"].requests) == asked


AMBIGUOUS = PROFILE | NAMED
"""Names a person in several ways, so that each reply of a provider is stored as a contact of its own."""


def profile_then_nameless_values(request: ProviderRequest) -> ProviderResponse:
    """Return Ada's profile in Germany, or values that come without a person."""
    reply = from_germany(request)
    return reply if not (reply.emails or reply.phones) else replace(reply, contact=None)


def test_a_value_that_comes_without_a_person_needs_the_purpose_of_the_profile(harness: WorkerHarness) -> None:
    harness.require_purpose("DE")
    providers = harness.set_providers(one=profile_then_nameless_values)

    item = harness.enrich({"subject": AMBIGUOUS}, ("profile", "email", "phone"), price=2)
    asked = {request.field for request in providers["one"].requests}
    again = harness.enrich({"subject": AMBIGUOUS}, ("profile", "email", "phone"), price=2, purpose=PURPOSE)

    assert (item["emails"], item["phones"], item["error"]["code"]) == ([], [], "purpose_required")
    assert not asked & {ProviderField.EMAIL, ProviderField.PHONE}
    assert (again["credits_charged"], again["error"]) == (2, None)


@pytest.mark.parametrize("types", [["mobile"], ["hq"]])
def test_another_field_of_a_person_whose_country_is_known_asks_no_provider(
    harness: WorkerHarness, types: list[str]
) -> None:
    harness.require_purpose("DE")
    providers = harness.set_providers(one=from_germany)
    assert refused(harness.reveal(NAMED)) == REFUSED
    providers = harness.set_providers(one=profile_then_nameless_values)

    jobs = [harness.reveal(NAMED, Kind.REVEAL_PHONE, types=types) for _ in range(2)]

    assert [refused(job) for job in jobs] == [REFUSED] * 2
    assert providers["one"].requests == []


def test_values_without_a_person_are_hidden_as_those_of_the_same_person(harness: WorkerHarness) -> None:
    harness.change_settings(hide_mobiles_in=parse_places(["DE"]))
    rules = harness.services.settings.regional_rules
    harness.database.settings = replace(harness.database.settings, regional_rules=rules)
    harness.set_providers(one=profile_then_nameless_values)

    item = harness.enrich({"subject": AMBIGUOUS}, ("profile", "email", "phone"), price=2)
    seen = harness.look_up(**AMBIGUOUS)
    revealed = harness.reveal(AMBIGUOUS, Kind.REVEAL_PHONE)

    assert (len(item["emails"]), item["phones"], item["credits_charged"]) == (1, [], 1)
    assert PHONE not in str(seen)
    assert (revealed.outcome, revealed.charged) == (Outcome.NOT_FOUND, 0)


def saved(session: Session, harness: WorkerHarness) -> object:
    snapshot = ProfileSnapshot(linkedin_url=ADA, captured_at=None, fields={}, annotations={})
    return profile_snapshots.save(
        session,
        workspace_id=harness.workspace_id,
        account_id="acc_1",
        snapshot=snapshot,
        now=clock.now(),
    )


def leads_of(session: Session, harness: WorkerHarness) -> object:
    request = {"hashes": [hex_hash(website_hash("acme.com"))], "limit": 25}
    return leads.by_website_hash(session, harness.workspace_id, request, prices=PRICES)


def owned(session: Session, harness: WorkerHarness) -> object:
    found = owned_contacts.page(session, harness.workspace_id, Selection(), limit=9).contacts
    return [(each.public(with_values=True), owned_exports.row(each, with_values=True)) for each in found]


FREE_CHANNELS: dict[str, Callable[[Session, WorkerHarness], object]] = {
    "lookup": lambda _session, harness: harness.look_up(linkedin_url=ADA),
    "saved profile": saved,
    "leads by hash": leads_of,
    "owned contacts and their download": owned,
    **{
        name: read
        for part in feature_tests.parts("channels")
        for name, (read, _suppressed) in part.CHANNELS.items()
    },
}


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("channel", FREE_CHANNELS)
def test_what_needs_no_purpose_discloses_nothing_that_is_not_owned(
    harness: WorkerHarness, channel: str
) -> None:
    with harness.database.transaction() as session:
        saved(session, harness)
        shown = repr(FREE_CHANNELS[channel](session, harness))

    assert [value for value in (EMAIL, PHONE) if value in shown] == []


@pytest.mark.usefixtures("ada")
def test_a_suppressed_person_stays_suppressed_with_and_without_a_purpose(harness: WorkerHarness) -> None:
    harness.suppress("email", EMAIL)

    jobs = [harness.reveal(PROFILE), harness.reveal(PROFILE, purpose=PURPOSE)]

    assert [job.outcome for job in jobs] == [Outcome.SUPPRESSED] * 2


def test_the_person_is_shown_the_purpose_of_every_recipient_and_request(
    harness: WorkerHarness, ada: str
) -> None:
    harness.reveal(PROFILE, purpose=PURPOSE)
    harness.reveal(PROFILE, Kind.REVEAL_PHONE)

    with harness.database.reading() as session:
        people = [session.get_one(Contact, ada)]
        shown = person_data.collect(session, people, erasure.plan(session, people, []))

    assert [(row["received"], row["purpose"]) for row in shown["recipients"]] == [("email", PURPOSE)]
    assert {(row["kind"], row["purpose"]) for row in shown["requests"]} == {
        ("reveal.email", PURPOSE),
        ("reveal.phone", None),
    }


@pytest.mark.usefixtures("ada")
def test_the_books_balance_after_refusals_and_purchases(harness: WorkerHarness) -> None:
    for options in ({}, {"purpose": PURPOSE}):
        harness.reveal(PROFILE, **options)
        harness.enrich({"subject": PROFILE}, ("phone",), **options)

    with harness.database.reading() as session:
        checked = rule_checks.check(
            session, stuck_after=harness.services.settings.default_max_age, now=clock.now()
        )
        assert [entry for entry in checked if entry.faults] == []
    assert money(harness) == (8, 0, 2)
