"""A reveal returns what the workspace's own CRM has, free of charge and without a provider."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from audit_support import faults
from crm_index_support import a_crm, in_crm
from fake_providers import MISS, FakeProvider, email, hit, person, phone
from jobs_support import NOW, figures
from sqlalchemy import func, select
from stored_support import a_company, a_contact, a_phone, an_email, own, statements
from worker_harness import ADA, NAMED, WorkerHarness, deliver, worker_harness

from app.domain.findings import EmailStatus
from app.domain.kinds import Kind, Outcome, Queue, Status
from app.domain.reverse_lookups import ReverseLookupLimits
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.ledger.reveals import Reveal
from app.engine.own_records.own_verifications import OwnVerification
from app.engine.privacy import erasure, erasure_run
from app.features.crm.connections import CrmConnection
from app.infra.clock import rfc3339
from app.infra.database.db import Database
from app.settings import Settings
from workers.providers.base import FREE, Pending

OWN = "ada@own.example"
NUMBER = "+447400123456"
SUBJECT = {"linkedin_url": ADA}
RECORD = {"name": "Ada Lovelace", "domain": "acme.com", "profiles": [ADA], "emails": [OWN]}
LONG_AGO = NOW - timedelta(days=4000)


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)


def fill(harness: WorkerHarness, *people: dict[str, Any]) -> CrmConnection:
    """Connect the workspace to a CRM with these people."""
    with harness.database.transaction() as session:
        crm = a_crm(session, harness.workspace_id)
        in_crm(session, crm, *people)
        return crm


def use(harness: WorkerHarness, verdict: Any = EmailStatus.VALID, **replies: Any) -> dict[str, FakeProvider]:
    """Use a provider that sells another address, and a verifier that costs nothing."""
    reply = (
        hit(dataclasses.replace(email(OWN), status=verdict)) if isinstance(verdict, EmailStatus) else verdict
    )
    providers = harness.set_providers(
        verifiers=("check",), **({"one": hit(email("ada@sold.example"))} | replies), check=reply
    )
    providers["check"].terms = FREE
    return providers


def addresses(job: Job) -> list[str]:
    return [one["email"] for one in (job.result or {}).get("emails", ())]


def numbers(job: Job) -> list[str]:
    return [one["e164"] for one in (job.result or {}).get("phones", ())]


def test_a_verified_address_of_the_crm_is_revealed_free_and_the_receipt_says_so(
    harness: WorkerHarness,
) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)

    job = harness.reveal(SUBJECT)

    assert (job.outcome, job.charged, job.already_owned) == (Outcome.FOUND, 0, False)
    assert job.result == {
        "contact_id": None,
        "emails": [
            {
                "email": OWN,
                "type": "work",
                "status": "valid",
                "status_reasons": [],
                "confidence": None,
                "primary": True,
                "reported": None,
                "reported_at": None,
                "verified_at": rfc3339(NOW),
                "sources": [
                    {
                        "provider": "hubspot",
                        "kind": "crm",
                        "first_seen_at": rfc3339(NOW),
                        "last_seen_at": rfc3339(NOW),
                    }
                ],
            }
        ],
    }
    assert [(line["provider"], line["field"], line["outcome"], line["cost"]) for line in job.trace] == [
        ("check", "verification", "hit", 1),
        ("hubspot", "email", "hit", 0),
    ]
    assert job.trace[-1]["source"] == "crm"
    assert providers["one"].requests == []


def test_a_number_of_the_crm_is_revealed_free(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "phones": [NUMBER]})
    providers = use(harness, one=hit(phone()))

    job = harness.reveal(SUBJECT, Kind.REVEAL_PHONE)

    assert (job.outcome, job.charged, numbers(job)) == (Outcome.FOUND, 0, [NUMBER])
    assert job.result is not None
    assert (job.result["phones"][0]["type"], job.result["phones"][0]["status"]) == ("mobile", "valid")
    assert providers["one"].requests == []


@pytest.mark.parametrize(
    ("own", "is_returned"),
    [("ada@babbage.com", False), ("ada.lovelace@gmail.com", True), ("al@acme.com", True)],
)
def test_of_a_record_with_a_former_company_only_addresses_that_last_are_returned(
    harness: WorkerHarness, own: str, *, is_returned: bool
) -> None:
    with harness.database.transaction() as session:
        a_contact(session, a_company(session), linkedin_url=ADA)
    fill(harness, {"profiles": [ADA], "emails": [own], "company": "Babbage & Co", "domain": "babbage.com"})
    providers = use(harness)
    providers["check"].reply = hit(dataclasses.replace(email(own), status=EmailStatus.VALID))

    job = harness.reveal(SUBJECT, types=["work", "personal"])

    assert (addresses(job), job.charged) == (([own], 0) if is_returned else (["ada@sold.example"], 1))


@pytest.mark.parametrize(
    ("number", "is_returned"), [(NUMBER, True), ("+442079460123", False)], ids=["mobile", "other"]
)
def test_of_a_record_with_a_former_company_only_mobile_numbers_are_returned(
    harness: WorkerHarness, number: str, *, is_returned: bool
) -> None:
    with harness.database.transaction() as session:
        a_contact(session, a_company(session), linkedin_url=ADA)
    fill(harness, {"profiles": [ADA], "phones": [number], "company": "Babbage & Co"})
    use(harness, one=MISS)

    job = harness.reveal(SUBJECT, Kind.REVEAL_PHONE, types=["mobile", "other"])

    assert numbers(job) == ([number] if is_returned else [])


def test_the_credits_and_the_audit_are_as_before(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)

    harness.reveal(SUBJECT)

    with harness.database.reading() as session:
        assert figures(session, harness.workspace_id) == (10, 0, 0)
        assert faults(session) == []


def test_nothing_of_it_is_stored_with_a_contact_or_owned(harness: WorkerHarness) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA))
    fill(harness, {"profiles": [ADA], "emails": [OWN], "phones": [NUMBER]})
    use(harness)

    job = harness.reveal(SUBJECT)
    harness.reveal(SUBJECT, Kind.REVEAL_PHONE)

    assert (job.result or {})["contact_id"] == contact_id
    with harness.database.reading() as session:
        counts = [
            session.scalar(select(func.count()).select_from(one)) for one in (Contact, Email, Phone, Reveal)
        ]
    assert counts == [1, 0, 0, 0]


def test_the_address_is_verified_once(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)

    first, second = (harness.reveal(SUBJECT) for _ in range(2))

    assert (addresses(first), addresses(second)) == ([OWN], [OWN])
    assert len(providers["check"].requests) == 1
    assert [line["provider"] for line in second.trace] == ["hubspot"]


def test_a_verdict_is_the_workspaces_alone(harness: WorkerHarness) -> None:
    other = harness.other_workspace()
    for one in (harness, other):
        fill(one, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)
    other.services = harness.services

    harness.reveal(SUBJECT)
    job = other.reveal(SUBJECT)

    assert addresses(job) == [OWN]
    assert len(providers["check"].requests) == 2
    with harness.database.reading() as session:
        calls = session.scalars(select(ProviderCall.subject_digest)).all()
    assert len(set(calls)) == 2


def test_another_workspace_buys_as_if_the_crm_were_not_there(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)
    harness.reveal(SUBJECT)
    other = harness.other_workspace()

    job = other.reveal(SUBJECT)

    assert (addresses(job), job.charged) == (["ada@sold.example"], 1)


@pytest.mark.parametrize(
    "record",
    [
        {"changed_at": None},
        {"changed_at": LONG_AGO},
        {"emails": ["ada@gmail.com"]},
        {"emails": []},
        {"profiles": ["https://www.linkedin.com/in/other"]},
    ],
)
def test_a_record_that_does_not_meet_the_request_is_left_aside(
    harness: WorkerHarness, record: dict[str, Any]
) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]} | record)
    use(harness)

    job = harness.reveal(SUBJECT)

    assert (addresses(job), job.charged) == (["ada@sold.example"], 1)


def test_the_record_is_as_fresh_as_the_request_demands(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN], "changed_at": NOW - timedelta(days=8)})
    use(harness)

    fresh = harness.reveal(SUBJECT, max_age_days=9)
    outdated = harness.reveal(SUBJECT, max_age_days=7)

    assert (addresses(fresh), addresses(outdated)) == ([OWN], ["ada@sold.example"])


@pytest.mark.parametrize("verdict", [EmailStatus.INVALID, EmailStatus.ACCEPT_ALL, MISS])
def test_an_address_without_a_sufficient_verdict_is_not_returned(
    harness: WorkerHarness, verdict: Any
) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, verdict)

    job = harness.reveal(SUBJECT)

    assert (addresses(job), job.charged) == (["ada@sold.example"], 1)
    assert [line["provider"] for line in job.trace] == ["check", "one"]


def test_a_lower_status_is_enough_if_it_is_requested(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, EmailStatus.ACCEPT_ALL)

    job = harness.reveal(SUBJECT, min_status="accept_all")

    assert (addresses(job), job.charged) == ([OWN], 0)


def test_a_verification_that_costs_something_is_not_made(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)
    providers["check"].terms = dataclasses.replace(FREE, prices=dict.fromkeys(providers["check"].fields, 1.0))

    job = harness.reveal(SUBJECT)

    assert addresses(job) == ["ada@sold.example"]
    assert providers["check"].requests == []


@pytest.mark.parametrize(("seconds", "expected"), [(20.0, []), (300.0, ["ada@sold.example"])])
def test_a_verdict_is_awaited_for_half_a_minute(
    harness: WorkerHarness, seconds: float, expected: list[str]
) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, Pending("1", seconds))

    job = harness.reveal(SUBJECT)

    assert addresses(job) == expected
    assert job.status == (Status.SUCCEEDED if expected else Status.QUEUED)


def test_the_caller_may_do_without(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)

    job = harness.reveal(SUBJECT, use_own_records=False)

    assert (addresses(job), job.charged) == (["ada@sold.example"], 1)
    assert providers["check"].requests == []


def test_an_owned_address_comes_first(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA)
        an_email(session, contact, "ada@acme.com")
        own(session, harness.workspace_id, contact, "email")
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)

    job = harness.reveal(SUBJECT)

    assert (addresses(job), job.already_owned) == (["ada@acme.com"], True)


def sold(harness: WorkerHarness) -> None:
    """Store a fresh address of Ada that a reveal sells."""
    with harness.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA)
        an_email(session, contact, "ada@acme.com")


def delivered(harness: WorkerHarness, job_id: str) -> Job:
    """Run the job in the queue for what stored data answers; return it."""
    with harness.database.transaction() as session:
        session.get_one(Job, job_id).queue = Queue.INTERACTIVE.value
    deliver(harness.services, job_id)
    with harness.database.reading() as session:
        return session.get_one(Job, job_id)


def test_what_is_stored_is_not_sold_if_the_crm_has_a_verified_address(harness: WorkerHarness) -> None:
    sold(harness)
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)
    harness.reveal(SUBJECT)

    job = delivered(harness, harness.submit_reveal(SUBJECT))

    assert (addresses(job), job.charged) == ([OWN], 0)


def test_what_is_stored_is_sold_to_who_does_without(harness: WorkerHarness) -> None:
    sold(harness)
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)

    job = delivered(harness, harness.submit_reveal(SUBJECT, use_own_records=False))

    assert (addresses(job), job.charged) == (["ada@acme.com"], 1)


def test_an_address_is_verified_in_the_queue_of_providers(harness: WorkerHarness) -> None:
    sold(harness)
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    providers = use(harness)
    job_id = harness.submit_reveal(SUBJECT)

    waiting = delivered(harness, job_id)
    job = harness.run_reveal(job_id)

    assert (waiting.status, waiting.queue, waiting.attempts) == ("queued", Queue.PROVIDERS, 0)
    assert (addresses(job), len(providers["check"].requests)) == ([OWN], 1)


def test_what_is_stored_is_sold_if_the_address_is_invalid(harness: WorkerHarness) -> None:
    sold(harness)
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, EmailStatus.INVALID)

    job = harness.reveal(SUBJECT)

    assert (addresses(job), job.charged) == (["ada@acme.com"], 1)
    assert [line["provider"] for line in job.trace] == ["check"]


def test_of_a_person_with_a_suppressed_value_nothing_is_returned(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)
    harness.suppress("linkedin_url", ADA)

    job = harness.reveal(SUBJECT)

    assert (job.outcome, job.result, job.trace) == (Outcome.SUPPRESSED, None, [])


def during_the_verification(harness: WorkerHarness, happens: Callable[[], object]) -> None:
    """Use a verifier that costs nothing, while which something happens, and no other provider."""

    def verify(_request: Any) -> Any:
        happens()
        return hit(email(OWN))

    harness.set_providers(verifiers=("check",), check=verify)["check"].terms = FREE


@pytest.mark.parametrize("suppressed", [("email", OWN), ("linkedin_url", ADA)])
@pytest.mark.parametrize("subject", [SUBJECT, NAMED])
def test_a_person_who_is_suppressed_during_the_verification_is_not_returned(
    harness: WorkerHarness, suppressed: tuple[str, str], subject: dict[str, str]
) -> None:
    fill(harness, RECORD)
    during_the_verification(harness, lambda: harness.suppress(*suppressed))

    job = harness.reveal(subject)

    assert (job.outcome, job.result) == (Outcome.SUPPRESSED, None)


@pytest.mark.parametrize("subject", [SUBJECT, NAMED])
def test_no_verdict_is_kept_on_a_person_who_is_erased_during_the_verification(
    harness: WorkerHarness, subject: dict[str, str]
) -> None:
    fill(harness, RECORD)
    during_the_verification(harness, lambda: erase_profile(harness, ADA))

    harness.reveal(subject)

    with harness.database.reading() as session:
        kept = session.scalar(select(func.count()).select_from(OwnVerification))
    assert kept == 0


@pytest.mark.parametrize("excluded", [("linkedin_url", ADA), ("domain", "own.example"), ("email", OWN)])
@pytest.mark.parametrize("is_stored", [True, False])
def test_what_is_excluded_during_the_verification_is_not_returned(
    harness: WorkerHarness, excluded: tuple[str, str], *, is_stored: bool
) -> None:
    if is_stored:
        harness.store_contact(person(linkedin_url=ADA))
    fill(harness, RECORD)
    during_the_verification(harness, lambda: harness.exclude(*excluded))

    first = harness.reveal(SUBJECT)
    job = harness.run_reveal(first.id)

    assert (first.status, first.result) == (Status.QUEUED, None)
    assert (job.status, addresses(job)) == (Status.SUCCEEDED, [])


def test_a_value_of_a_record_with_an_excluded_profile_is_not_returned(harness: WorkerHarness) -> None:
    fill(harness, RECORD)
    use(harness, one=MISS)
    harness.exclude("linkedin_url", ADA)

    job = harness.reveal(NAMED)

    assert addresses(job) == []


@pytest.mark.parametrize("excluded", [("linkedin_url", ADA), ("domain", "own.example"), ("email", OWN)])
def test_an_excluded_value_is_not_returned(harness: WorkerHarness, excluded: tuple[str, str]) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, one=MISS)
    harness.exclude(*excluded)

    job = harness.reveal(SUBJECT)

    assert addresses(job) == []


def test_a_purpose_is_required_as_before(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)
    harness.require_purpose("*")

    without, stated = (harness.reveal(SUBJECT, **purpose) for purpose in ({}, {"purpose": "recruiting"}))

    assert (without.error or {})["code"] == "purpose_required"
    assert addresses(stated) == [OWN]


def test_a_name_that_two_records_have_buys(harness: WorkerHarness) -> None:
    named = {"name": "Ada Lovelace", "domain": "acme.com", "emails": [OWN]}
    fill(harness, named, named | {"emails": ["other@own.example"]})
    use(harness)

    job = harness.reveal(NAMED)

    assert addresses(job) == ["ada@sold.example"]


def test_a_name_that_one_record_has_is_enough(harness: WorkerHarness) -> None:
    fill(harness, {"name": "Ada Lovelace", "domain": "acme.com", "emails": [OWN]})
    use(harness)

    job = harness.reveal(NAMED)

    assert (addresses(job), job.charged) == ([OWN], 0)


def enriched(harness: WorkerHarness, **options: Any) -> dict[str, Any]:
    return harness.enrich({"subject": SUBJECT}, ("email", "phone"), **options)


def test_an_item_of_an_enrichment_costs_nothing_and_names_the_crm(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN], "phones": [NUMBER]})
    use(harness, one=MISS)

    item = enriched(harness, price=2)

    assert (item["outcome"], item["credits_charged"]) == ("found", 0)
    [[address], [number]] = item["emails"], item["phones"]
    assert (address["email"], number["e164"]) == (OWN, NUMBER)
    assert [value["sources"][0]["kind"] for value in (address, number)] == ["crm", "crm"]


def test_an_item_of_a_stored_person_has_the_values_of_the_crm(harness: WorkerHarness) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA))
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, one=MISS)

    item = harness.enrich({"subject": SUBJECT}, ("email", "profile"))

    assert (item["contact"]["id"], [one["email"] for one in item["emails"]]) == (contact_id, [OWN])


def test_an_item_is_free_after_the_credits_have_run_out(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN], "phones": [NUMBER]})
    use(harness, one=MISS)

    item = enriched(harness, price=0)

    assert (item["outcome"], item["error"], item["credits_charged"]) == ("found", None, 0)


def test_an_item_of_who_does_without_is_bought(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)

    item = harness.enrich({"subject": SUBJECT}, ("email",), use_own_records=False)

    assert ([one["email"] for one in item["emails"]], item["credits_charged"]) == (["ada@sold.example"], 1)


def test_a_person_named_by_an_address_is_found_by_it(harness: WorkerHarness) -> None:
    fill(harness, {"emails": ["ada@acme.com"], "phones": [NUMBER]})
    use(harness, one=MISS)

    job = harness.reveal({"email": "ada@acme.com"}, Kind.REVEAL_PHONE)

    assert numbers(job) == [NUMBER]


def test_of_an_address_above_the_limits_the_crm_is_not_asked(harness: WorkerHarness) -> None:
    fill(harness, {"emails": ["ada@acme.com"], "phones": [NUMBER]})
    use(harness, one=MISS)
    items = [{"subject": {"email": "ada@acme.com"}}, {"subject": {"email": "bob@acme.com"}}]

    job_id = harness.submit_enrichment(*items, fields=("phone",), price=2)

    answer = harness.run_enrichment(job_id)
    assert [item["phones"] for item in answer["result"]["items"]] == [[], []]


@pytest.mark.parametrize(
    "named", [{}, {"full_name": "Ada Lovelace", "company_domain": "navy.example"}], ids=["alone", "named"]
)
def test_what_only_a_hidden_address_leads_to_is_sold(harness: WorkerHarness, named: dict[str, str]) -> None:
    with harness.database.transaction() as session:
        contact = a_contact(session, None)
        an_email(session, contact, "ada@acme.com")
        a_phone(session, contact, "+442079460018")
    ada = {"name": "Ada Lovelace", "domain": "navy.example", "emails": ["ada@acme.com"]}
    fill(harness, ada | {"phones": [NUMBER]})
    use(harness, one=MISS)
    items = [{"subject": named | {"email": address}} for address in ("ada@acme.com", "bob@acme.com")]

    answer = harness.run_enrichment(harness.submit_enrichment(*items, fields=("phone",), price=2))

    item = answer["result"]["items"][0]
    assert ([phone["e164"] for phone in item["phones"]], item["credits_charged"]) == (["+442079460018"], 1)


def test_of_a_person_whom_a_hidden_address_suppresses_nothing_is_returned(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        an_email(session, a_contact(session, None, linkedin_url=ADA), "ada@acme.com")
    harness.suppress("linkedin_url", ADA)
    fill(harness, {"name": "Ada Lovelace", "domain": "navy.example", "phones": [NUMBER]})
    use(harness, one=MISS)
    limits = ReverseLookupLimits(per_workspace=0)
    harness.database.settings = dataclasses.replace(harness.database.settings, reverse_lookup_limits=limits)
    ada = {"full_name": "Ada Lovelace", "company_domain": "navy.example"}

    barred, other = (
        harness.reveal(ada | {"email": address}, Kind.REVEAL_PHONE)
        for address in ("ada@acme.com", "bob@acme.com")
    )

    assert (barred.outcome, barred.result, barred.trace) == (Outcome.NOT_FOUND, None, [])
    assert numbers(other) == [NUMBER]


def test_a_suppressed_person_of_the_crm_is_not_returned_by_an_enrichment(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness, one=MISS)
    harness.suppress("email", OWN)

    item = harness.enrich({"subject": SUBJECT}, ("email",))

    assert item["emails"] == []


def test_the_verdicts_of_an_erased_record_are_deleted(harness: WorkerHarness) -> None:
    fill(harness, {"profiles": [ADA], "emails": [OWN]})
    use(harness)
    harness.reveal(SUBJECT)

    with harness.database.reading() as session:
        kept = session.scalar(select(func.count()).select_from(OwnVerification))
    erase_profile(harness, ADA)

    with harness.database.reading() as session:
        left = session.scalar(select(func.count()).select_from(OwnVerification))
    assert (kept, left) == (1, 0)


def erase_profile(harness: WorkerHarness, url: str) -> None:
    identifiers = [Identifier("linkedin_url", url)]
    erasure_run.erase(harness.database, lambda session: erasure.plan(session, [], identifiers))


@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
@pytest.mark.parametrize("sought", [("linkedin_url", ADA), ("email", OWN), ("phone", NUMBER)])
def test_a_returned_value_is_erased_with_whoever_the_record_names(
    harness: WorkerHarness, kind: Kind, sought: tuple[str, str]
) -> None:
    fill(harness, RECORD | {"phones": [NUMBER]})
    use(harness)
    revealed = harness.reveal(NAMED, kind)
    job_id = harness.submit_enrichment({"subject": NAMED}, fields=("email", "phone"), price=2)
    [found] = harness.run_enrichment(job_id)["result"]["items"]

    erasure_run.erase(harness.database, lambda session: erasure.plan(session, [], [Identifier(*sought)]))

    with harness.database.reading() as session:
        job, item = session.get_one(Job, revealed.id), session.get_one(JobItem, (job_id, 0))
    assert (revealed.outcome, found["outcome"]) == (Outcome.FOUND, "found")
    assert (job.request, job.result, item.request, item.result) == ({}, None, {}, None)


def test_without_a_connected_crm_a_reveal_takes_no_further_statement(harness: WorkerHarness) -> None:
    sold(harness)
    use(harness)
    delivered(
        harness, harness.submit_reveal(SUBJECT | {"full_name": "Ada"})
    )  # looks whether one is connected
    other = harness.other_workspace()
    counts = []
    for services in (harness.services, dataclasses.replace(harness.services, own_records={}, claimers={})):
        other.services = services
        other = other.other_workspace()
        job_id = other.submit_reveal(SUBJECT)
        with statements(harness.database.engine) as executed:
            deliver(services, job_id, queue=Queue.PROVIDERS)
        counts.append(len(executed))

    assert counts[0] == counts[1]
