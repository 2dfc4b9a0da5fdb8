"""A suppressed person comes back through no channel, and no provider is called about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from crm_support import CrmHarness
from fake_crms import FakeHubSpot
from fake_providers import PAID, FakeProvider, email, hit, person, phone
from jobs_support import NOW
from pytest_httpserver import HTTPServer
from sqlalchemy import select
from stored_support import PRICES, own
from worker_harness import ADA, NAMED, WorkerHarness

from app.domain.errors import PersonSuppressed
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.domain.lists.people_rows import ParsedPerson
from app.domain.normal.hashes import hex_hash, website_hash
from app.domain.suppression_lists.hashed_values import hash_of
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions import suppression_digests, suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import Listing
from app.engine.lists import exports, ingest
from app.engine.lookups import company_hashes, enrichment_estimates, leads, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Selection
from app.features.crm import people as crm_people
from app.infra.database.session import Session
from app.settings import ProviderSettings
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.providers.pattern import Pattern

EMAIL, PHONE, WEBSITE = "ada@acme.com", "+16175550101", hex_hash(website_hash("acme.com"))
MEMBER = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"
FOUND = person(linkedin_url=ADA, member_url=MEMBER, emails=(email(EMAIL),), phones=(phone(),))

PLAIN = [("email", EMAIL), ("phone", PHONE), ("linkedin_url", ADA), ("domain", "acme.com")]
HASHED = [
    *PLAIN,
    ("phone", PHONE.removeprefix("+")),
    ("phone", PHONE[-10:]),
]
LISTS = [("plain", *item) for item in PLAIN] + [("hashed", *item) for item in HASHED]
LISTS += [(form, "linkedin_url", MEMBER) for form in ("plain", "hashed")]


@pytest.fixture(params=LISTS, ids=" ".join)
def kind(request: pytest.FixtureRequest, harness: WorkerHarness) -> str:
    """Suppress Ada in one way; return the kind of her identifier."""
    form, kind, value = request.param
    with harness.database.transaction() as session:
        keys = session.keys
        entry = suppression_digests.hashed_entry(keys, kind, hash_of(value))
        if form == "plain":
            suppressions.suppress(session, [Identifier(kind, value)], reason="asked", now=NOW)
        else:
            suppressions.suppress_entries(session, [entry], Listing("asked", "partner"), now=NOW)
    return str(kind)


def ada_or_nothing(request: ProviderRequest) -> ProviderResponse:
    """Return all that the provider knows of Ada."""
    values: dict[ProviderField, dict[str, Any]] = {
        ProviderField.EMAIL: {"emails": FOUND.emails, "contact": FOUND},
        ProviderField.PHONE: {"phones": FOUND.phones, "contact": FOUND},
    }
    answer = values.get(request.field, {"contact": FOUND})
    return ProviderResponse(outcome=TraceOutcome.HIT, cost=1, **answer)


def stored(harness: WorkerHarness) -> str:
    """Store Ada as a contact whom the workspace owns; return the id."""
    contact_id = harness.store_contact(FOUND)
    with harness.database.transaction() as session:
        contact = session.get_one(Contact, contact_id)
        own(session, harness.workspace_id, contact, "email")
    return contact_id


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
    "push to the CRM": (
        lambda session, harness: crm_people.load(
            session, harness.workspace_id, str(session.scalar(select(Contact.id))), receipt_link=""
        ),
        "suppressed",
    ),
    "saved profile": (save, "refused"),
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


def pushed(harness: WorkerHarness, httpserver: HTTPServer) -> tuple[list[tuple[str | None, str | None]], Any]:
    """Push Ada to a CRM; return what became of it, and the people whom the CRM has then."""
    crm = FakeHubSpot(httpserver)
    connected = CrmHarness.connected(harness.services.settings, harness.database, crm, "hubspot")
    contact_id = stored(harness)
    with harness.database.transaction() as session:
        own(session, connected.workspace_id, session.get_one(Contact, contact_id), "email")
    return [(item.outcome, item.error) for item in connected.pushed(contact_id)], crm


def test_nothing_of_a_suppressed_person_is_sent_to_a_crm(
    harness: WorkerHarness, kind: str, httpserver: HTTPServer
) -> None:
    items, crm = pushed(harness, httpserver)

    sent = b"".join(request.get_data() for request, _response in httpserver.log)
    assert (items, crm.people, b"ada" in sent.lower()) == ([("skipped", "suppressed")], {}, False)
    assert kind


def test_anybody_else_is_sent_to_the_crm(harness: WorkerHarness, httpserver: HTTPServer) -> None:
    items, crm = pushed(harness, httpserver)

    assert items == [("created", None)]
    assert [row["email"] for row in crm.people.values()] == [EMAIL]
