"""Erasure of a person from every place that stores them, and refusal when any source submits them again."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from apiflask import APIFlask
from bounce_support import a_report
from click.testing import Result
from fake_providers import PAID, FakeProvider
from sqlalchemy import MetaData, Table, select, update
from stored_support import a_company, a_contact, an_email
from users_support import SignedInUser, create_user
from worker_harness import make_services

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.domain.kinds import Kind, Queue, TraceOutcome
from app.engine.audit import rule_checks
from app.engine.contacts import emails
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import Job
from app.engine.privacy import erasure_run, suppression_replay
from app.engine.privacy.suppression_replay import Applied
from app.infra import clock
from app.infra.database.db import Base, Database
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal
from workers.jobs.enrichment_request import enrichment_request
from workers.jobs.leads_by_website_hash import leads_by_website_hash
from workers.providers import registry
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

NAME = "Zoë Quillfeather"
URL = "https://www.linkedin.com/in/zo%C3%AB-quillfeather"
NORMAL_URL = "https://www.linkedin.com/in/zoë-quillfeather"
BOB_URL = "https://www.linkedin.com/in/bob-ray"
EMAIL, NORMAL_EMAIL = "Z.Quillfeather@Acme.example", "z.quillfeather@acme.example"
PHONE = "+1 (617) 555-0155"
TRACES = ("quillfeather", "6175550155", "617555-0155", "z.quill")
CSV = (
    "Name,Email,LinkedIn,Company,Website,Mobile Phone,Company Phone\n"
    f"{NAME},{EMAIL},{URL},Acme,acme.example,{PHONE},+1 617 555 0100\n"
    f"Bob Ray,bob@acme.example,{BOB_URL},Acme,acme.example,,+1 617 555 0100\n"
)


WORK = {
    Kind.REVEAL_EMAIL: reveal.email,
    Kind.REVEAL_PHONE: reveal.phone,
    Kind.ENRICHMENT_REQUEST: enrichment_request,
    Kind.LEADS_BY_WEBSITE_HASH: leads_by_website_hash,
}


@dataclass
class ErasureHarness:
    """Two workspaces, a worker, providers that find the person, and the operator's commands."""

    app: APIFlask
    user: SignedInUser
    other: SignedInUser
    services: WorkerServices
    folder: Path
    provider_requests: list[ProviderRequest]

    def post(self, path: str, body: dict[str, Any], sender: SignedInUser | None = None, key: str = "") -> Any:
        user = sender or self.user
        headers = user.headers | {"Prefer": "respond-async"} | ({"Idempotency-Key": key} if key else {})
        return user.client.post(f"/api/{path}", json=body, headers=headers)

    def work(self) -> None:
        """Run all queued jobs with a worker that may query providers."""
        with self.services.database.transaction() as session:
            session.execute(update(Job).values(queue=Queue.PROVIDERS.value))
            waiting = session.execute(select(Job.id, Job.kind).where(Job.status == "queued")).all()
        for job_id, kind in waiting:
            job_runner.run(job_id, WORK[Kind(kind)], self.services)

    def outcome(self, response: Any) -> str | None:
        return self.job(response)["job"]["outcome"]

    def job(self, response: Any, sender: SignedInUser | None = None) -> dict[str, Any]:
        user, job_id = sender or self.user, response.get_json()["job"]["id"]
        polled = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers)
        response: dict[str, Any] = polled.get_json()
        return response

    def flask(self, *arguments: str) -> Result:
        return self.app.test_cli_runner().invoke(args=list(arguments))

    def import_list(self) -> dict[str, Any]:
        path = self.folder / "people.csv"
        path.write_text(CSV)
        figures: dict[str, Any] = json.loads(self.flask("contacts", "import", str(path), "--json").stdout)
        return figures

    def submit_again(self) -> tuple[Any, list[Any], Any, Any, Any]:
        """Submit the person by import, reveals, an enrichment, a save and a lookup; return the responses."""
        subjects = (
            {"linkedin_url": URL},
            {"email": EMAIL},
            {"phone": PHONE},
            {"full_name": NAME, "email": EMAIL},
        )
        imported = self.import_list()
        revealed = [
            self.post("ext/reveal/email", {"subject": subject, "client_reference": f"for {EMAIL}"})
            for subject in subjects
        ]
        items = [{"subject": subjects[0]}, {"subject": {"linkedin_url": BOB_URL}, "client_reference": "bob"}]
        enriched = self.post(
            "ext/enrichment-request", {"entity": "person", "items": items, "fields": ["email", "phone"]}
        )
        saved = self.post("ext/linkedin-save", {"profile": {"linkedin_url": URL, "full_name": NAME}})
        lookup = self.post("ext/lookup", {"subject": subjects[0]}).get_json()
        self.work()
        return imported, revealed, enriched, saved, lookup

    def faults(self) -> list[Any]:
        with self.services.database.reading() as session:
            checked = rule_checks.check(session, stuck_after=timedelta(hours=2), now=clock.now())
            return [fault for result in checked for fault in result.faults]


def person_or_miss(request: ProviderRequest) -> ProviderResponse:
    """Return all data of the person, or a miss for anyone else."""
    identifiers = f"{request.subject.linkedin_url}{request.subject.email}{request.subject.name}".casefold()
    if "quillfeather" not in identifiers:
        return ProviderResponse(outcome=TraceOutcome.MISS)
    source = Source("one", SourceKind.PROVIDER, clock.now())
    email = FoundEmail(
        email=NORMAL_EMAIL, type="work", status=EmailStatus.VALID, source=source, verified_at=source.at
    )
    phone = FoundPhone(e164="+16175550155", type="mobile", status="valid", source=source)
    contact = FoundContact(
        source=source,
        full_name=NAME,
        first_name="Zoë",
        last_name="Quillfeather",
        title="Engineer",
        linkedin_url=NORMAL_URL,
        company=FoundCompany(source=source, name="Acme", domain="acme.example"),
        emails=(email,),
    )
    values = {
        ProviderField.EMAIL: {"emails": (email,)},
        ProviderField.PHONE: {"phones": (phone,)},
        ProviderField.PERSON: {"contact": contact},
    }
    return ProviderResponse(outcome=TraceOutcome.HIT, cost=1, **values[request.field])


@pytest.fixture
def harness(
    app: APIFlask, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ErasureHarness:
    settings = replace(
        app.extensions["services"].settings,
        providers_email=("one",),
        providers_phone=("one",),
        providers_person=("one",),
        providers_verification=(),
    )
    provider = FakeProvider(person_or_miss, terms=PAID)
    monkeypatch.setattr(registry, "load", lambda _settings: {"one": provider})
    other = create_user(app, email="eve@other.example")
    services = make_services(settings, database)
    return ErasureHarness(app, create_user(app), other, services, tmp_path, provider.requests)


def rows(database: Database) -> str:
    """Return all rows of all tables as text, decoded and without case, percent-encoding and punctuation."""
    with database.reading() as session:
        everything = [
            value
            for table in Base.metadata.sorted_tables
            for row in session.execute(select(table))
            for value in row
        ]
    texts = [
        value.decode("latin-1")
        if isinstance(value, bytes)
        else json.dumps(value, default=str, ensure_ascii=False)
        for value in everything
    ]
    return folded("\n".join(texts))


def folded(text: str) -> str:
    return unquote(text).casefold().translate(str.maketrans("", "", " ()"))


def backup_of(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, as the database stores them, by the name of the table."""
    with database.reading(no_deadline=True) as session:
        return {
            table.name: [dict(row) for row in session.execute(select(table)).mappings()]
            for table in stored_tables(database)
        }


def restore(database: Database, backup: dict[str, list[dict[str, Any]]]) -> None:
    """Replace all rows of all tables with those of the backup."""
    tables = stored_tables(database)
    with database.transaction(no_deadline=True) as session:
        for table in reversed(tables):
            session.execute(table.delete())
        for table in tables:
            if backup[table.name]:
                session.execute(table.insert(), backup[table.name])


def stored_tables(database: Database) -> list[Table]:
    """Return the tables without the types that decrypt; the audit log is append-only, and names nobody."""
    metadata = MetaData()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index")
        metadata.reflect(database.engine)
    return [table for table in metadata.sorted_tables if not table.name.startswith("audit_log")]


def raw_bytes(database: Database) -> str:
    """Return the contents of an SQLite database's files, decoded as UTF-8 and as Latin-1."""
    path = database.engine.url.database if database.is_sqlite else None
    files = [Path(f"{path}{end}") for end in ("", "-wal", "-journal")] if path else []
    response = b"".join(file.read_bytes() for file in files if file.exists())
    return folded(response.decode("latin-1")) + folded(response.decode("utf-8", "ignore"))


def remains(database: Database) -> list[str]:
    text = rows(database) + raw_bytes(database)
    return [trace for trace in TRACES if trace in text]


def fill(harness: ErasureHarness) -> dict[str, Any]:
    """Store the person in every place; return the responses that the tests need."""
    subject = {"linkedin_url": URL}
    harness.import_list()
    profile = {"linkedin_url": URL, "full_name": NAME, "company": {"name": "Acme"}}
    harness.post("ext/linkedin-save", {"profile": profile, "note": f"Ask {PHONE}"}, key="save")
    harness.post(
        "ext/linkedin-save", {"profile": {"linkedin_url": BOB_URL}, "note": f"Via {EMAIL}!"}, harness.other
    )
    for sender in (harness.user, harness.other):
        harness.post(
            "ext/reveal/email", {"subject": subject, "client_reference": f"{NAME} <{EMAIL}>"}, sender, "one"
        )
    harness.post("ext/reveal/phone", {"subject": {"email": EMAIL}})
    harness.post(
        "ext/reveal/email",
        {"subject": {"full_name": NAME, "company_domain": "acme.example"}, "types": ["personal"]},
    )
    items = [{"subject": subject}, {"subject": {"linkedin_url": BOB_URL}, "client_reference": "bob"}]
    enrichment = {"entity": "person", "items": items, "fields": ["profile", "email"]}
    hook = f"https://93.184.216.34/hook?about={EMAIL}"
    done = harness.post("ext/enrichment-request", enrichment | {"webhook_url": hook})
    harness.post("ext/leads-by-website-hash", {"hash": sha256(b"acme.example").hexdigest()})
    harness.work()
    contact_id = harness.post("ext/lookup", {"subject": subject}).get_json()["contact"]["id"]
    with harness.services.database.transaction() as session:
        address = session.scalars(select(Email).where(emails.has_address(session, [NORMAL_EMAIL]))).one()
        a_report(session, harness.other.workspace_id, address, now=clock.now())
    waiting = harness.post("ext/reveal/phone", {"subject": {"phone": PHONE}}, harness.other)
    half = harness.post("ext/enrichment-request", enrichment | {"fields": ["email", "phone"]})
    return {"done": done, "waiting": waiting, "half": half, "contact_id": contact_id}


def test_erased_people_are_in_no_response_and_do_not_return(harness: ErasureHarness) -> None:
    fill(harness)
    database, calls = harness.services.database, len(harness.provider_requests)
    before = remains(database)

    harness.flask("people", "erase", "--email", EMAIL, "--yes")
    after = remains(database)
    imported, revealed, enriched, saved, lookup = harness.submit_again()

    erasure_run.empty_log(database)  # it holds the requests until they have been answered
    assert (before, after, remains(database)) == (list(TRACES), [], [])
    assert len(harness.provider_requests) == calls  # no provider is queried about a suppressed person
    assert (imported["new"], imported["suppressed"]) == (0, 1)
    assert [harness.outcome(response) for response in revealed] == ["suppressed"] * 4
    items = harness.job(enriched)["result"]["items"]
    assert [(item["outcome"], item["client_reference"]) for item in items] == [
        ("suppressed", None),
        ("found", "bob"),
    ]
    assert (saved.status_code, saved.get_json()["code"]) == (422, "person_suppressed")
    assert (lookup["outcome"], lookup["suppressed"], lookup["saved"]) == ("none", True, None)


def test_a_backup_from_before_the_erasure_brings_nothing_back(harness: ErasureHarness) -> None:
    database, journal = harness.services.database, harness.folder / "suppressions.journal"
    commands_database: Database = harness.app.extensions["services"].database
    commands_database.settings = replace(commands_database.settings, suppression_journal=journal)
    fill(harness)
    backup = backup_of(database)
    harness.flask("people", "erase", "--email", EMAIL, "--yes")

    restore(database, backup)
    returned = remains(database)
    result = suppression_replay.replay(database, journal)

    erasure_run.empty_log(database)
    assert (returned, remains(database)) == (list(TRACES), [])
    assert result.applied == Applied(read=3, added=3)
    assert result.erased == Counter(contacts=1, jobs=8, saved_profiles=1)
    calls = len(harness.provider_requests)
    imported, revealed, _enriched, saved, lookup = harness.submit_again()
    assert (imported["new"], imported["suppressed"], saved.status_code) == (0, 1, 422)
    assert [harness.outcome(response) for response in revealed] == ["suppressed"] * 4
    assert (lookup["suppressed"], len(harness.provider_requests)) == (True, calls)
    assert harness.faults() == []
    again = suppression_replay.replay(database, journal)
    assert (again.applied.added, again.erased["contacts"]) == (0, 0)


def test_a_person_with_nothing_but_a_name_is_erased_again_and_a_namesake_is_not(
    harness: ErasureHarness,
) -> None:
    database, journal = harness.services.database, harness.folder / "suppressions.journal"
    commands_database: Database = harness.app.extensions["services"].database
    commands_database.settings = replace(commands_database.settings, suppression_journal=journal)
    with database.transaction() as session:
        company = a_company(session)
        erased, namesake = a_contact(session, company).id, a_contact(session, company)
        an_email(session, namesake, "ada2@acme.com")
    backup = backup_of(database)
    harness.flask("people", "erase", "--contact-id", erased, "--yes")

    restore(database, backup)
    result = suppression_replay.replay(database, journal)

    with database.reading() as session:
        assert session.scalars(select(Contact.id)).all() == [namesake.id]
    assert result.erased == Counter(contacts=1)


def test_credits_held_by_open_jobs_are_released_and_the_ledger_is_consistent(harness: ErasureHarness) -> None:
    responses = fill(harness)
    reserved = [responses[name].get_json()["credits"]["reserved"] for name in ("waiting", "half")]

    harness.flask("people", "erase", "--email", EMAIL, "--yes")
    finished = harness.job(responses["waiting"], harness.other)
    harness.work()

    half = harness.job(responses["half"])
    assert reserved == [1, 0]  # the colleague has only the switchboard number, which is owned already
    assert (finished["job"]["status"], finished["job"]["outcome"]) == ("succeeded", "suppressed")
    assert (finished["credits"]["charged"], finished["credits"]["reserved"]) == (0, 0)
    items = half["result"]["items"]
    assert [(item["outcome"], item["credits_charged"]) for item in items] == [("suppressed", 0), ("found", 0)]
    assert harness.faults() == []


def test_the_receipt_lists_erased_data_and_recipients_and_a_shared_number_stays(
    harness: ErasureHarness,
) -> None:
    fill(harness)

    receipt = json.loads(harness.flask("people", "erase", "--linkedin-url", URL, "--yes", "--json").stdout)

    recipients = [(entry["workspace_id"], entry["field"]) for entry in receipt["recipients"]]
    mine, other = harness.user.workspace_id, harness.other.workspace_id
    assert sorted(recipients) == sorted([(mine, "email"), (mine, "phone"), (other, "email")])
    assert (
        receipt["counts"].items()
        >= {
            "contacts": 1,
            "emails": 1,
            "phones": 2,
            "reveals": 3,
            "feedback": 1,
            "jobs": 7,
            "lookups": 1,
            "saved_profiles": 1,
            "notes": 1,
        }.items()
    )
    assert (receipt["suppressed_values"], receipt["shared_values"]) == (3, 1)
    assert receipt["providers"] == ["one"]
    bob = harness.post("ext/lookup", {"subject": {"linkedin_url": BOB_URL}}).get_json()
    assert [entry["masked"][-2:] for entry in bob["available"] if entry["field"] == "phone"] == ["00"]
