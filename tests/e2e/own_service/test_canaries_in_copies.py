"""No address, number or note stands in a copy of the database, whichever way it came in.

The copies are a dump of PostgreSQL, and the files of SQLite with its write-ahead log.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest
from canaries_support import leaks
from crm_support import CrmHarness
from fake_crms import FakeHubSpot
from fake_providers import ONE, PAID, FakeProvider, email, hit, person
from jobs_support import NOW
from pytest_httpserver import HTTPServer
from sqlalchemy import select, text
from stored_support import own
from upload_support import Uploader, a_list, uploader
from worker_harness import ADA, NAMED, WorkerHarness, worker_harness

from app.domain.event_types import SUBSCRIBABLE
from app.domain.findings import FoundContact, FoundPhone
from app.domain.kinds import Kind, Outcome, TraceOutcome
from app.domain.lists.people_rows import ParsedPerson
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.events import endpoints
from app.engine.events.deliveries import Webhook
from app.engine.lists import ingest
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.features.webhooks import work as webhooks
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Base, Database
from app.settings import ProviderSettings, Settings
from tools.services import postgres
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.providers.pattern import Pattern
from workers.webhook_client import WebhookClient

KEYS = ((1, b"1" * 32),)
CANARIES = {
    "imported address": "grace.imported@acme.com",
    "imported number": "+16175550111",
    "number as it is written at home": "(617) 555-0111",
    "found address": "ada.found@acme.com",
    "found number": "+16175550122",
    "guessed address": "bob@acme.com",
    "address of a request": "carol.requested@acme.com",
    "address in an upload": "dan.uploaded@acme.com",
    "number in an upload": "+16175550133",
    "note in an upload": "uploaded: prefers mornings",
    "address in a file that is not read": "erin.unread@acme.com",
    "note of a profile": "saved: met at the fair, call +16175550144",
    "known address": "kim@acme.com",
}
"""Values by where they come in."""


@pytest.fixture(params=["sqlite", "postgresql"])
def copied(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> Iterator[Settings]:
    """The settings of an empty database with a key of its own."""
    if request.param == "sqlite":
        yield replace(settings, database_url=f"sqlite:///{tmp_path}/copied.sqlite3")
        return
    with postgres.server(postgres.FAST_SETTINGS) as server:
        yield replace(settings, database_url=server.url)


@pytest.fixture
def database(copied: Settings) -> Iterator[Database]:
    database = Database(copied.database_url, keys=replace(DigestKeys.from_settings(copied), encryption=KEYS))
    Base.metadata.create_all(database.engine)
    yield database
    database.close()


def people(name: str, address: str, number: str | None = None) -> FoundContact:
    first, last = name.split()
    phones = () if number is None else (FoundPhone(e164=number, type="mobile", status="valid", source=ONE),)
    profile = f"https://www.linkedin.com/in/{first.lower()}"
    values = {"full_name": name, "first_name": first, "last_name": last, "linkedin_url": profile}
    return person(**values, emails=(email(address),), phones=phones)


def found(request: ProviderRequest) -> ProviderResponse:
    """Respond as a provider that knows Ada, and verifies every address."""
    ada = people("Ada Lovelace", CANARIES["found address"], CANARIES["found number"])
    if request.field is ProviderField.VERIFICATION:
        return hit(email(str(request.subject.email)))
    if request.subject.linkedin_url != ADA:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    values = {"emails": ada.emails} if request.field is ProviderField.EMAIL else {"phones": ada.phones}
    return ProviderResponse(
        outcome=TraceOutcome.HIT, cost=1, contact=replace(ada, linkedin_url=ADA), **values
    )


def fill(harness: WorkerHarness, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the canaries through every channel."""
    listing = uploader(harness)
    providers = {
        "pattern": Pattern(ProviderSettings()),
        "one": FakeProvider(found, "one", terms=PAID),
        "check": FakeProvider(found, "check", terms=PAID),
    }
    monkeypatch.setattr(registry, "load", lambda _settings: providers)
    every = {"providers_email": ("one", "pattern"), "providers_phone": ("one",)}
    harness.change_settings(**every, providers_verification=("check",))
    httpserver.expect_request("/hook").respond_with_data("no", status=500)
    with harness.database.transaction() as session:
        url = httpserver.url_for("/hook")
        endpoints.create(session, harness.workspace_id, url=url, types=SUBSCRIBABLE, now=NOW)
        imported = people("Grace Hopper", CANARIES["imported address"], CANARIES["imported number"])
        known = [people("Kim Day", CANARIES["known address"]), people("Lee Poe", "lee@acme.com")]
        ingest.ingest_contacts(session, [ParsedPerson(each) for each in (imported, *known)], now=NOW)
    reveals = (
        harness.reveal({"linkedin_url": ADA}),
        harness.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE),
        harness.reveal(NAMED | {"full_name": "Bob Ray"}),
    )
    assert {job.outcome for job in reveals} == {Outcome.FOUND.value}
    harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "email", "phone"))
    harness.submit_reveal({"full_name": "Carol Kay", "email": CANARIES["address of a request"]})
    upload(listing)
    save_profile(harness)
    push(harness, httpserver)
    deliver(harness)


def upload(listing: Uploader) -> None:
    """Upload one list to its end, and one whose file nobody has read yet."""
    row = ("Dan Fox", *(CANARIES[f"{each} in an upload"] for each in ("address", "number", "note")))
    upload_id = listing.ready(a_list(row, header=("Name", "Email", "Phone", "Notes")))
    listing.start(upload_id)
    listing.run(upload_id)
    listing.upload(a_list(("Erin Gray", CANARIES["address in a file that is not read"], "")))


def save_profile(harness: WorkerHarness) -> None:
    note = {"note": CANARIES["note of a profile"], "tags": ["fair"]}
    snapshot = ProfileSnapshot(
        linkedin_url=ADA, captured_at=None, fields={"full_name": "Ada Lovelace"}, annotations=note
    )
    with harness.database.transaction() as session:
        profile_snapshots.save(
            session, workspace_id=harness.workspace_id, account_id="acc_1", snapshot=snapshot, now=NOW
        )


def push(harness: WorkerHarness, httpserver: HTTPServer) -> None:
    """Push Ada to a CRM, with what was found of her."""
    crm = FakeHubSpot(httpserver)
    connected = CrmHarness.connected(harness.services.settings, harness.database, crm, "hubspot")
    with harness.database.transaction() as session:
        contact = session.scalars(select(Contact).where(Contact.linkedin_url == ADA)).one()
        for field in ("email", "phone"):
            own(session, connected.workspace_id, contact, field)
    assert [item.outcome for item in connected.pushed(contact.id)] == ["created"]
    assert CANARIES["found address"] in str(crm.people)


def deliver(harness: WorkerHarness) -> None:
    """Make one attempt at every webhook; the receiver refuses them."""
    client = WebhookClient((ip_network("127.0.0.1/32"),))
    with harness.database.reading() as session:
        ids = session.scalars(select(Webhook.id)).all()
    assert ids
    for webhook_id in ids:
        webhooks.post(webhook_id, harness.services, client)


def copies(database: Database, url: str, folder: Path) -> list[tuple[str, bytes]]:
    """Return what a thief of a copy has."""
    if database.is_sqlite:
        files = sorted(folder.glob("copied.sqlite3*"))
        assert any(file.name.endswith("-wal") for file in files)
        return [(file.name, file.read_bytes()) for file in files]
    command = [str(postgres.find_binaries() / "pg_dump"), "--inserts", url.replace("+psycopg", "")]
    return [("the dump", subprocess.run(command, check=True, capture_output=True, env=os.environ).stdout)]


def test_a_copy_of_the_database_has_no_address_number_or_note(
    copied: Settings,
    database: Database,
    tmp_path: Path,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = worker_harness(copied, database, monkeypatch)

    fill(harness, httpserver, monkeypatch)

    with database.reading() as session:
        stored = set(session.scalars(select(Email.email)))
    places = copies(database, copied.database_url, tmp_path)
    assert {value for name, value in CANARIES.items() if name.endswith("address")} <= stored
    assert all(b"Lovelace" in content for _name, content in places if len(content) > 100_000)
    assert leaks(CANARIES.items(), places) == []
    with database.transaction() as session:
        session.execute(text("UPDATE contacts SET title = :value"), {"value": CANARIES["known address"]})
    planted = leaks(CANARIES.items(), copies(database, copied.database_url, tmp_path))
    assert {line.partition(" in ")[0] for line in planted} == {"known address"}
