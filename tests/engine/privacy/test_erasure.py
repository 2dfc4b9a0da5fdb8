from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import a_job, a_workspace, claim, figures, read
from mentions_support import index_all
from sqlalchemy import select
from stored_support import ADA_URL, NOW, a_company, a_contact, a_phone, an_email, own

from app.domain.errors import ContactNotFound
from app.domain.ids import new_id
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from app.engine.accounts import accounts
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import contact_lists, saved_contacts
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import idempotency, leases, provider_calls
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.leases import JobResult
from app.engine.jobs.provider_calls import CallKey, ProviderCall
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.matching import caller_identifiers
from app.engine.matching.caller_identifiers import CallerIdentifier
from app.engine.mentions import mentions
from app.engine.privacy import erasure, redaction
from app.engine.privacy.erasure import ErasurePlan
from app.engine.work.turns import LeaseLost
from app.infra.database import encrypted_columns
from app.infra.database.session import Session

EMAIL = Identifier("email", "ada@acme.com")
PHONE = Identifier("phone", "+16175550155")
SUBJECT = {"subject": {"email": "ada@acme.com"}}
BOB = {"subject": {"email": "bob@acme.com"}, "client_reference": "b"}


@pytest.fixture(autouse=True, params=[False, True], ids=["not indexed", "indexed"])
def is_indexed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test before and after the stored rows are indexed."""
    if request.param:
        find_contacts = erasure.find_contacts

        def index_first(session: Session, *args: Any) -> list[Contact]:
            index_all(session)
            return find_contacts(session, *args)

        monkeypatch.setattr(erasure, "find_contacts", index_first)


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    an_email(session, contact, EMAIL.value)
    a_phone(session, contact, PHONE.value)
    return contact


def follow(session: Session, *identifiers: Identifier, contact_ids: tuple[str, ...] = ()) -> ErasurePlan:
    contacts = erasure.find_contacts(session, identifiers, contact_ids)
    session.flush()
    return erasure.plan(session, contacts, identifiers)


def erase(session: Session, *identifiers: Identifier, contact_ids: tuple[str, ...] = ()) -> ErasurePlan:
    plan = follow(session, *identifiers, contact_ids=contact_ids)
    erasure.erase(session, plan, now=NOW)
    session.expire_all()
    return plan


def enrichment(session: Session, workspace_id: str, *items: dict[str, Any]) -> str:
    request = {"entity": "person", "fields": ["email"], "max_credits": None}
    values: dict[str, Any] = {"kind": Kind.ENRICHMENT_REQUEST, "request": request, "items": items}
    return a_job(session, workspace_id, new_id("job"), price=len(items), **values)


def items(session: Session, job_id: str) -> list[JobItem]:
    query = select(JobItem).where(JobItem.job_id == job_id).order_by(JobItem.index)
    return list(session.scalars(query, execution_options={"populate_existing": True}))


@pytest.mark.parametrize("identifier", [EMAIL, PHONE, Identifier("linkedin_url", ADA_URL)])
def test_a_person_is_found_by_any_stored_identifier(
    session: Session, ada: Contact, identifier: Identifier
) -> None:
    assert erasure.find_contacts(session, [identifier], ()) == [ada]


def test_a_person_is_found_by_id_and_an_unknown_id_is_an_error(session: Session, ada: Contact) -> None:
    assert erasure.find_contacts(session, [], [ada.id]) == [ada]
    with pytest.raises(ContactNotFound):
        erasure.find_contacts(session, [], [ada.id, "con_none"])


def test_all_identifiers_of_the_person_are_suppressed(session: Session, ada: Contact) -> None:
    plan = follow(session, EMAIL)

    assert set(plan.to_suppress) == {EMAIL, PHONE, Identifier("linkedin_url", ADA_URL)}
    assert plan.contact_ids == (ada.id,)
    assert plan.shared == 0


def test_an_unknown_person_is_suppressed_as_well(session: Session) -> None:
    plan = erase(session, EMAIL)

    assert (plan.to_suppress, plan.contact_ids) == ((EMAIL,), ())


def test_identifiers_shared_with_other_contacts_are_kept(session: Session, ada: Contact) -> None:
    bob = a_contact(session, None, "Bob Ray")
    a_phone(session, bob, PHONE.value)
    an_email(session, bob, EMAIL.value)

    plan = erase(session, contact_ids=(ada.id,))

    assert plan.to_suppress == (Identifier("linkedin_url", ADA_URL),)
    assert plan.shared == 2
    assert session.scalars(select(Contact.id)).all() == [bob.id]


def test_the_plan_lists_recipients_and_accounts_with_an_address_of_the_person(
    session: Session, ada: Contact
) -> None:
    workspace_id = a_workspace(session)
    own(session, workspace_id, ada, "email")
    account = accounts.create(session, workspace_id, email=EMAIL.value, name="A", password_hash="x", now=NOW)

    plan = follow(session, EMAIL)

    assert [(item.workspace_id, item.workspace, item.field, item.at) for item in plan.recipients] == [
        (workspace_id, "Acme", "email", NOW)
    ]
    assert plan.accounts == (account.id,)
    assert (
        plan.counts.items()
        >= {
            "contacts": 1,
            "emails": 1,
            "phones": 1,
            "reveals": 1,
            "feedback": 0,
            "jobs": 0,
            "lookups": 0,
            "saved_profiles": 0,
            "notes": 0,
        }.items()
    )


def test_a_queued_job_ends_as_suppressed_and_releases_its_hold(session: Session, ada: Contact) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id, request=SUBJECT | {"client_reference": "r"})
    digest = read(session, job_id).request_digest

    erase(session, EMAIL)

    job = read(session, job_id)
    assert (job.status, job.outcome, job.finished_at) == ("succeeded", "suppressed", NOW)
    assert (job.request, job.progress_done) == ({}, 1)
    assert job.request_digest != digest
    assert figures(session, workspace_id) == (10, 0, 0)


def test_the_worker_of_a_running_job_loses_its_lease_and_its_calls_are_ended(
    session: Session, ada: Contact
) -> None:
    job_id = a_job(session, a_workspace(session), request=SUBJECT)
    held = claim(session, job_id)
    key = CallKey(job_id=job_id, item=None, field="email", provider="one", subject=b"s", country=None)
    provider_calls.mark_pending(session, provider_calls.start(session, key, cost=1.0, now=NOW), ticket="t")

    plan = erase(session, EMAIL)

    [call] = session.scalars(select(ProviderCall))
    assert plan.providers == ("one",)
    assert (call.outcome, call.ticket, call.subject_digest != b"s") == ("timeout", None, True)
    assert [line["outcome"] for line in read(session, job_id).trace] == ["timeout"]
    with pytest.raises(LeaseLost):
        leases.renew(session, held, lease_until=NOW)


def test_a_paid_job_keeps_its_charge_and_no_personal_data(session: Session, ada: Contact) -> None:
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id, request={"subject": {"full_name": "X"}})
    result = {"contact_id": ada.id, "emails": [{"email": EMAIL.value}]}
    trace = [{"provider": "one"}, {"provider": EMAIL.value}]
    answer = leases.JobResult(outcome=leases.Outcome.FOUND, result=result, charge=1, trace=trace)
    leases.settle(session, claim(session, job_id), answer, now=NOW)
    idempotency.begin(session, workspace_id, "k", b"h", now=NOW)
    idempotency.finish(session, workspace_id, "k", job_id)

    erase(session, EMAIL)

    job = read(session, job_id)
    assert (job.request, job.result, job.trace) == ({}, None, [{"provider": "one"}])
    assert (job.status, job.outcome, job.charged) == ("succeeded", "found", 1)
    assert figures(session, workspace_id) == (9, 0, 1)
    assert session.scalars(select(IdempotencyKey)).all() == []


def test_a_failed_job_keeps_the_code_of_its_error_and_no_detail(session: Session, ada: Contact) -> None:
    job_id = a_job(session, a_workspace(session), request=SUBJECT)
    error = {"code": "c", "detail": EMAIL.value, "errors": []}
    leases.fail(session, claim(session, job_id), error, now=NOW)

    erase(session, EMAIL)

    assert read(session, job_id).error == {"code": "c"}


def test_an_open_enrichment_continues_without_the_person(session: Session, ada: Contact) -> None:
    workspace_id = a_workspace(session)
    job_id = enrichment(session, workspace_id, SUBJECT, BOB)
    held = claim(session, job_id)

    erase(session, EMAIL)

    job = read(session, job_id)
    assert (job.status, job.attempts, job.progress_done, job.publishes) == ("queued", 0, 1, 1)
    assert [(item.outcome, item.request) for item in items(session, job_id)] == [
        ("suppressed", {}),
        (None, BOB),
    ]
    assert figures(session, workspace_id) == (8, 2, 0)
    with pytest.raises(LeaseLost):
        leases.renew(session, held, lease_until=NOW)


def test_only_the_persons_item_of_a_queued_or_finished_enrichment_is_redacted(
    session: Session, ada: Contact
) -> None:
    workspace_id = a_workspace(session)
    waiting = enrichment(session, workspace_id, SUBJECT, BOB)
    ended = enrichment(session, workspace_id, BOB, {"subject": {"full_name": "A"}}, SUBJECT, {"error": {}})
    first, second, third, _fourth = items(session, ended)
    first.outcome, first.result = "found", {"emails": []}
    second.outcome, second.result, second.charged = "found", {"contact": {"id": ada.id}}, 1
    third.error = {"code": "c", "detail": "d"}
    answer = leases.JobResult(outcome=leases.Outcome.PARTIAL, charge=1)
    session.flush()
    leases.settle(session, claim(session, ended), answer, now=NOW)

    erase(session, EMAIL)

    assert read(session, waiting).publishes == 0
    assert read(session, ended).progress_done == 4
    stored = [(item.outcome, item.request, item.result, item.error) for item in items(session, ended)]
    assert stored[:3] == [
        ("found", BOB, {"emails": []}, None),
        ("found", {}, None, None),
        (None, {}, None, {"code": "c"}),
    ]


def test_lookups_that_show_the_person_are_deleted(session: Session, ada: Contact) -> None:
    workspace_id = a_workspace(session)
    request = {"hash": "0"}
    job_id = a_job(session, workspace_id, kind=Kind.LEADS_BY_WEBSITE_HASH, request=request, price=0)
    result = {"leads": [{"contact_id": ada.id}]}
    leases.settle(
        session,
        claim(session, job_id),
        leases.JobResult(outcome=leases.Outcome.FOUND, result=result),
        now=NOW,
    )

    plan = erase(session, EMAIL)

    assert (plan.lookup_ids, plan.job_ids) == ((job_id,), ())
    assert session.scalars(select(Job)).all() == []


def test_jobs_about_other_people_and_namesakes_do_not_change(session: Session, ada: Contact) -> None:
    workspace_id = a_workspace(session)
    other = {"subject": {"full_name": "Ada Lovelace", "company_domain": "other.com"}}
    job_id = a_job(session, workspace_id, request=other)

    erase(session, EMAIL)

    assert (read(session, job_id).status, read(session, job_id).request) == ("queued", other)


def test_a_job_with_only_the_name_and_company_is_found_too(session: Session, ada: Contact) -> None:
    subject = {"full_name": "ADA LOVELACE", "company_name": "Acme Engines Ltd"}
    job_id = a_job(session, a_workspace(session), request={"subject": subject})

    erase(session, EMAIL)

    assert read(session, job_id).request == {}


def test_a_job_with_the_nickname_is_found_too(session: Session, ada: Contact) -> None:
    ada.full_name = 'Ada "Countess" Lovelace'
    subject = {"full_name": "Countess Lovelace", "company_name": "Acme Engines Ltd"}
    job_id = a_job(session, a_workspace(session), request={"subject": subject})

    erase(session, EMAIL)

    assert read(session, job_id).request == {}


def test_saved_profiles_are_deleted_in_all_workspaces_and_mentions_in_others_are_removed(
    session: Session, ada: Contact
) -> None:
    first, second = a_workspace(session), a_workspace(session)
    bob = ProfileSnapshot(
        linkedin_url="https://www.linkedin.com/in/bob",
        captured_at=NOW,
        fields={"full_name": "Bob"},
        annotations={"note": "with ada@acme.com", "tags": ["x", "Ada@acme.com"]},
    )
    for workspace_id in (first, second):
        snapshot = ProfileSnapshot(linkedin_url=ADA_URL, captured_at=NOW)
        profile_snapshots.save(
            session, workspace_id=workspace_id, account_id="acc_1", snapshot=snapshot, now=NOW
        )
    eve = ProfileSnapshot(
        linkedin_url="https://www.linkedin.com/in/eve", captured_at=NOW, annotations={"note": "n"}
    )
    for snapshot in (bob, eve):
        profile_snapshots.save(session, workspace_id=first, account_id="acc_1", snapshot=snapshot, now=NOW)

    plan = erase(session, EMAIL)

    remaining, untouched = session.scalars(select(SavedProfile).order_by(SavedProfile.linkedin_url))
    assert untouched.note == "n"
    assert (remaining.full_name, remaining.note, remaining.tags) == ("Bob", None, ["x"])
    assert (plan.counts["saved_profiles"], plan.counts["notes"]) == (2, 1)


def test_a_contact_stored_again_before_the_suppression_took_effect_is_deleted_too(
    session: Session, ada: Contact
) -> None:
    plan = follow(session, EMAIL)
    again = a_contact(session, None, "Ada L")
    an_email(session, again, EMAIL.value)

    erasure.erase(session, plan, now=NOW)

    assert session.scalars(select(Contact.id)).all() == []


def test_more_jobs_and_profiles_than_one_batch_are_read(
    session: Session, ada: Contact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "BATCH", 1)
    workspace_id = a_workspace(session)
    job_ids = [a_job(session, workspace_id, str(n), request=SUBJECT) for n in range(3)]

    assert follow(session, EMAIL).job_ids == tuple(job_ids)


def test_finished_jobs_lose_their_results_after_the_retention_and_keep_their_charge(session: Session) -> None:
    workspace_id = a_workspace(session)
    old, young = (enrichment(session, workspace_id, BOB | {"client_reference": n}) for n in ("o", "y"))
    answer = leases.JobResult(outcome=leases.Outcome.FOUND, result={"x": 1}, charge=1)
    leases.settle(session, claim(session, old), answer, now=NOW)
    waiting = a_job(session, workspace_id, "waiting", request=SUBJECT)

    forgotten = redaction.redact_expired(session, before=NOW + timedelta(seconds=1))
    again = redaction.redact_expired(session, before=NOW + timedelta(seconds=1))

    job = read(session, old)
    assert (forgotten, again) == (1, 0)
    assert (job.request, job.result, job.outcome, job.charged) == ({}, None, "found", 1)
    assert [item.request for item in items(session, old)] == [{}]
    assert read(session, young).request["fields"] == ["email"]
    assert read(session, waiting).request == SUBJECT


def test_expired_jobs_are_redacted_in_batches_without_reading_their_items(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redaction, "EXPIRED_JOBS", 2)
    workspace_id = a_workspace(session)
    job_ids = [enrichment(session, workspace_id, BOB | {"client_reference": str(n)}) for n in range(3)]
    for job_id in job_ids:
        leases.settle(session, claim(session, job_id), JobResult(outcome=Outcome.FOUND), now=NOW)
    session.expunge_all()
    monkeypatch.setattr(encrypted_columns, "decrypt_text", None)

    counts = [redaction.redact_expired(session, before=NOW + timedelta(seconds=1)) for _ in range(3)]

    assert counts == [2, 1, 0]
    assert [item.request for job_id in job_ids for item in items(session, job_id)] == [{}] * 3
    assert len({read(session, job_id).request_digest for job_id in job_ids}) == 3


def test_errors_of_expired_jobs_and_items_lose_their_details_only(session: Session) -> None:
    job_id = enrichment(session, a_workspace(session), BOB)
    error = {"code": "validation_failed", "status": 422, "detail": "ada@acme.com", "errors": ["ada@acme.com"]}
    claimed = claim(session, job_id)
    item = JobItem(job_id=job_id, index=0, request=BOB, charged=0, error=error)
    leases.complete_item(session, claimed, item, charge=0, lease_until=NOW)
    leases.fail(session, claimed, error, now=NOW)

    redaction.redact_expired(session, before=NOW + timedelta(seconds=1))

    session.expire_all()
    kept = {"code": "validation_failed", "status": 422}
    assert (read(session, job_id).error, items(session, job_id)[0].error) == (kept, kept)


@pytest.mark.parametrize(
    ("reference", "stored"),
    [
        ("row-17", {"client_reference": "row-17"}),
        ("Ada Lovelace", {}),
        ("bob@acme.com", {}),
        ("16175550155", {}),
        (None, {}),
    ],
)
def test_only_an_id_like_client_reference_of_a_suppressed_request_is_kept(
    reference: str | None, stored: dict[str, str]
) -> None:
    request: dict[str, Any] = {"subject": {"phone": PHONE.value}}

    assert (
        redaction.without_subject(request | ({"client_reference": reference} if reference else {})) == stored
    )


def test_a_job_about_a_suppressed_person_loses_its_subject(session: Session) -> None:
    job_id = a_job(session, a_workspace(session), request=SUBJECT)
    digest = read(session, job_id).request_digest

    redaction.remove_subject(session, job_id, SUBJECT)

    assert read(session, job_id).request == {}
    assert read(session, job_id).request_digest != digest


def test_a_contact_requested_only_by_these_identifiers_is_erased_and_no_other(session: Session) -> None:
    workspace_id = a_workspace(session)
    nameless, shared, named = (a_contact(session, None, name) for name in (None, None, "Bob Ray"))
    for contact in (nameless, shared, named):
        caller_identifiers.remember(
            session, workspace_id, Subject(linkedin_url=ADA_URL, full_name="A"), contact.id, now=NOW
        )
    other = Subject(linkedin_url="https://www.linkedin.com/in/bob")
    caller_identifiers.remember(session, workspace_id, other, shared.id, now=NOW)

    plan = erase(session, Identifier("linkedin_url", ADA_URL))

    remaining = {
        row.contact_id for row in session.scalars(select(CallerIdentifier)) if row.kind == "linkedin_url"
    }
    assert (plan.contact_ids, remaining) == ((nameless.id,), {shared.id})


def test_a_list_that_names_the_person_is_kept_under_another_name(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    contact_list, _ = contact_lists.ensure(session, workspace_id, f"Ask {EMAIL.value}", now=NOW)

    plan = erase(session, EMAIL)

    assert plan.counts["notes"] == 1
    assert contact_list.name == contact_list.id


def test_a_person_saved_without_a_profile_is_erased_with_the_contact(
    session: Session, workspace_id: str
) -> None:
    contact = a_contact(session, None, "Bob Ray")
    an_email(session, contact, "bob@acme.com")
    saved_contacts.save(session, workspace_id, "acc_x", [contact], now=NOW)

    plan = erase(session, Identifier("email", "bob@acme.com"))

    assert plan.counts["saved_profiles"] == 1
    assert session.scalars(select(SavedProfile.id)).all() == []


def test_jobs_about_others_lose_only_the_client_reference_that_mentions_the_person(
    session: Session, ada: Contact
) -> None:
    workspace_id = a_workspace(session)
    request = {"subject": {"email": "bob@acme.com"}, "client_reference": "owner Ada@acme.com"}
    ended = a_job(session, workspace_id, "ended", request=request)
    answer = leases.JobResult(outcome=leases.Outcome.FOUND, result={"contact_id": "con_bob"}, charge=1)
    leases.settle(session, claim(session, ended), answer, now=NOW)
    waiting = a_job(session, workspace_id, "waiting", request=request)
    several = enrichment(session, workspace_id, request, BOB)
    digest = read(session, several).request_digest

    plan = erase(session, EMAIL)

    kept = {"subject": {"email": "bob@acme.com"}}
    assert (plan.job_ids, len(plan.referring_ids), plan.counts["notes"]) == ((), 3, 3)
    assert (read(session, ended).request, read(session, ended).result) == (kept, {"contact_id": "con_bob"})
    assert (read(session, waiting).status, read(session, waiting).request) == ("queued", kept)
    assert [(item.outcome, item.request) for item in items(session, several)] == [(None, kept), (None, BOB)]
    assert read(session, several).request_digest != digest
    assert follow(session, EMAIL).referring_ids == ()
