"""A suppressed person comes back through no channel, and no provider is called about them."""

from __future__ import annotations

from collections.abc import Callable

import feature_tests
import pytest
from fake_providers import PAID, FakeProvider, email, hit, person
from jobs_support import NOW
from sqlalchemy import select
from stored_support import PRICES
from suppressed_support import EMAIL, FOUND, LISTS, MEMBER, PHONE, ada_or_nothing, stored, suppress_ada
from worker_harness import ADA, NAMED, WorkerHarness

from app.domain.errors import PersonSuppressed
from app.domain.kinds import Kind, Outcome
from app.domain.lists.people_rows import ParsedPerson
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.enrichments import enrichment_estimates
from app.engine.lists import exports, ingest
from app.engine.lookups import company_hashes, leads, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Selection
from app.infra.database.session import Session
from app.settings import ProviderSettings
from workers.providers import registry
from workers.providers.pattern import Pattern

WEBSITE = hex_hash(website_hash("acme.com"))


@pytest.fixture(params=LISTS, ids=" ".join)
def kind(request: pytest.FixtureRequest, harness: WorkerHarness) -> str:
    """Suppress Ada in one way; return the kind of her identifier."""
    return suppress_ada(harness, *request.param)


def save(session: Session, harness: WorkerHarness) -> str:
    snapshot = ProfileSnapshot(
        linkedin_url=ADA, captured_at=None, fields={"company_domain": "acme.com"}, annotations={}
    )
    try:
        profile_snapshots.save(
            session, workspace_id=harness.workspace_id, account_id="acc_1", snapshot=snapshot, now=NOW
        )
    except PersonSuppressed:
        return "refused"
    return "saved"


def looked_up(_session: Session, harness: WorkerHarness) -> object:
    found = harness.look_up(linkedin_url=ADA)
    return found["suppressed"], found["contact"], found["available"]


def estimated(session: Session, harness: WorkerHarness) -> object:
    counted = enrichment_estimates.estimate(
        session,
        harness.workspace_id,
        [{"subject": {"linkedin_url": ADA}}],
        ["email"],
        settings=harness.services.settings,
        now=NOW,
    )
    return counted.suppressed, counted.credits_max


def leads_of(session: Session, harness: WorkerHarness) -> object:
    request = {"hashes": [WEBSITE], "limit": 25}
    found = leads.by_website_hash(session, harness.workspace_id, request, prices=PRICES)
    return found and (found["leads"], found["total"])


def company_of(session: Session, harness: WorkerHarness) -> object:
    request = {"kind": "website", "hashes": [WEBSITE]}
    found = company_hashes.find(session, harness.workspace_id, request)
    return found and found["company"]["contacts_count"]


CHANNELS: dict[str, tuple[Callable[[Session, WorkerHarness], object], object]] = {
    "lookup": (looked_up, (True, None, [])),
    "price of an upload": (estimated, (1, 0)),
    "leads by hash": (leads_of, ([], 0)),
    "company by hash": (company_of, 0),
    "export": (lambda session, _: list(exports.contact_rows(session)), []),
    "owned contacts": (
        lambda session, harness: list(
            owned_contacts.page(session, harness.workspace_id, Selection(), limit=9).contacts
        ),
        [],
    ),
    "saved profile": (save, "refused"),
    **{name: channel for part in feature_tests.parts("channels") for name, channel in part.CHANNELS.items()},
}


def test_a_stored_person_is_hidden_in_every_channel(harness: WorkerHarness, kind: str) -> None:
    stored(harness)

    with harness.database.transaction() as session:
        shown = {name: read(session, harness) for name, (read, _expected) in CHANNELS.items()}

    assert shown == {name: expected for name, (_read, expected) in CHANNELS.items()}
    assert kind


def test_no_provider_is_called_about_a_stored_person(harness: WorkerHarness, kind: str) -> None:
    contact_id = stored(harness)
    providers = harness.set_providers(one=ada_or_nothing)
    subjects = ({"linkedin_url": ADA}, {"email": EMAIL}, {"phone": PHONE}, NAMED, {"contact_id": contact_id})

    outcomes = {
        harness.reveal(subject, job, max_age_days=1).outcome
        for subject in subjects
        for job in (Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE)
    }
    outcomes |= {harness.enrich({"subject": subject})["outcome"] for subject in subjects}

    assert (outcomes, providers["one"].requests, bool(kind)) == ({Outcome.SUPPRESSED.value}, [], True)


def test_an_answer_of_a_provider_brings_nobody_back(harness: WorkerHarness, kind: str) -> None:
    harness.set_providers(one=ada_or_nothing)
    unknown = {"full_name": "Ada Lovelace", "company_name": "Acme"}

    outcomes = {harness.reveal(unknown, job).outcome for job in (Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE)}
    outcomes.add(harness.enrich({"subject": unknown}, ("profile", "email", "phone"))["outcome"])

    with harness.database.reading() as session:
        assert (outcomes, session.scalars(select(Contact)).all()) == ({Outcome.SUPPRESSED.value}, [])
    assert kind


def test_an_import_brings_nobody_back(harness: WorkerHarness, kind: str) -> None:
    with harness.database.transaction() as session:
        counts = ingest.ingest_contacts(session, [ParsedPerson(FOUND)], now=NOW).counts

    with harness.database.reading() as session:
        rows = list(exports.contact_rows(session))
    assert (counts["suppressed"], rows) == (1, [])
    assert kind


def with_patterns(harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch) -> FakeProvider:
    """Store two people by whom Ada's address is guessed; return the provider that would verify the guess."""
    for first, last in (("Bob", "Ray"), ("Carol", "Kay")):
        names = {"full_name": f"{first} {last}", "first_name": first, "last_name": last}
        harness.store_contact(person(**names, emails=(email(f"{first.lower()}@acme.com"),)))
    check = FakeProvider(hit(email(EMAIL)), "check", terms=PAID)
    providers = {"pattern": Pattern(ProviderSettings()), "check": check}
    harness.change_settings(providers_email=("pattern",), providers_verification=("check",))
    monkeypatch.setattr(registry, "load", lambda _settings: providers)
    return check


def addresses(harness: WorkerHarness) -> set[str]:
    with harness.database.reading() as session:
        return set(session.scalars(select(Email.email)))


def test_no_address_is_guessed_for_a_suppressed_person(
    harness: WorkerHarness, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = with_patterns(harness, monkeypatch)
    profiles = {"linkedin_url": ADA, "member_url": MEMBER}
    given = {"phone": {"phone": PHONE}, "linkedin_url": profiles}.get(kind, {})

    job = harness.reveal(NAMED | given)

    assert (job.outcome, job.charged, check.requests) == (Outcome.SUPPRESSED.value, 0, [])
    assert EMAIL not in addresses(harness)


def test_an_address_is_guessed_for_anybody_else(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = with_patterns(harness, monkeypatch)

    job = harness.reveal(NAMED)

    assert (job.outcome, len(check.requests)) == (Outcome.FOUND.value, 1)
    assert EMAIL in addresses(harness)
