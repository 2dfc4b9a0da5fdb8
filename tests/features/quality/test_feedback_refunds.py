"""Refunds of reported bounces: what they cost, and that the refunded address can no longer be read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from audit_support import faults
from jobs_support import claim, read
from stored_support import a_company, a_contact, an_email, disclose
from users_support import CREDITS, SignedInUser, bearer, create_user

from app.domain.callers import Scope
from app.domain.kinds import Outcome
from app.engine.contacts.contacts import Contact
from app.engine.jobs import jobs, leases
from app.engine.jobs.leases import JobResult
from app.engine.lookups.disclosure import Disclosure
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.infra import clock
from app.infra.database.session import Session

PEOPLE = 30
REFUNDED = 3
"""The number of thirty charges that FEEDBACK_UNCONFIRMED_REFUND_SHARE=0.05 refunds."""
FIELD_REQUEST = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY)
AT_ONCE = {"Prefer": "respond-async"}


@pytest.fixture
def contact_ids(user: SignedInUser) -> list[str]:
    with user.database.transaction() as session:
        company = a_company(session)
        contacts = [
            a_contact(session, company, None, linkedin_url=f"https://www.linkedin.com/in/n{number}")
            for number in range(PEOPLE)
        ]
        for number, contact in enumerate(contacts):
            an_email(session, contact, f"n{number}@acme.com")
    return [contact.id for contact in contacts]


def ask(user: SignedInUser, path: str, body: Any, key: str) -> Any:
    headers = user.headers | AT_ONCE | {"Idempotency-Key": key}
    return user.client.post(path, json=body, headers=headers).get_json()


def reveal(user: SignedInUser, contact_id: str) -> str:
    """Reveal the contact's e-mail as the API and a worker do; return the job's id."""
    revealed = ask(user, "/api/ext/reveal/email", {"subject": {"contact_id": contact_id}}, contact_id)
    job_id: str = revealed["job"]["id"]
    now = clock.now()
    with user.database.transaction() as session:
        claimed = claim(session, job_id, now=now)
        disclosed = hand_over(session, user, job_id, contact_id)
        result = {"contact_id": contact_id, "emails": disclosed.values}
        leases.settle(
            session,
            claimed,
            JobResult(outcome=Outcome.FOUND, result=result, charge=disclosed.charge),
            now=now,
        )
    return job_id


def hand_over(session: Session, user: SignedInUser, job_id: str, contact_id: str) -> Disclosure:
    disclosed = disclose(
        session,
        workspace_id=user.workspace_id,
        job_id=job_id,
        contact=session.get_one(Contact, contact_id),
        field_request=FIELD_REQUEST,
        price=1,
        now=clock.now(),
    )
    assert disclosed is not None
    return disclosed


def enrich(user: SignedInUser, contact_ids: list[str], key: str) -> str:
    """Enrich these contacts with their e-mails only; return the job's id."""
    job_id = enrichment(user, contact_ids, key)
    now = clock.now()
    with user.database.transaction() as session:
        claimed = claim(session, job_id, now=now)
        for item, contact_id in zip(jobs.items(session, job_id), contact_ids, strict=True):
            item.result = {"contact": None, "emails": hand_over(session, user, job_id, contact_id).values}
            item.outcome = Outcome.FOUND.value
            leases.complete_item(session, claimed, item, charge=0, lease_until=now + timedelta(minutes=1))
        leases.settle(session, claimed, JobResult(outcome=Outcome.FOUND), now=now)
    return job_id


def enrichment(user: SignedInUser, contact_ids: list[str], key: str) -> str:
    items = [{"subject": {"contact_id": contact_id}} for contact_id in contact_ids]
    body = {"entity": "person", "items": items, "fields": ["email"]}
    job_id: str = ask(user, "/api/ext/enrichment-request", body, key)["job"]["id"]
    return job_id


def bounce(user: SignedInUser, number: int, contact_id: str) -> dict[str, Any]:
    body = {"contact_id": contact_id, "email": f"n{number}@acme.com", "kind": "bounce"}
    response: dict[str, Any] = user.client.post("/api/feedback", json=body, headers=user.headers).get_json()
    return response


def test_unconfirmed_bounces_are_refunded_up_to_the_allowance(
    user: SignedInUser, contact_ids: list[str]
) -> None:
    for contact_id in contact_ids:
        reveal(user, contact_id)

    responses = [bounce(user, number, contact_id) for number, contact_id in enumerate(contact_ids)]

    refunded, pending = ["given"] * REFUNDED, ["pending"] * (PEOPLE - REFUNDED)
    assert [response["refund"] for response in responses] == refunded + pending
    session = user.client.get("/api/ext/session", headers=user.headers).get_json()
    assert session["credits"] == {"balance": CREDITS - PEOPLE + REFUNDED, "reserved": 0, "next_grant": None}
    with user.database.reading() as database:
        assert faults(database, now=clock.now()) == []


def test_no_endpoint_returns_a_refunded_address(user: SignedInUser, contact_ids: list[str]) -> None:
    job_ids = [reveal(user, contact_id) for contact_id in contact_ids]
    list_id = enrich(user, contact_ids, "a list")
    for number, contact_id in enumerate(contact_ids):
        bounce(user, number, contact_id)

    texts = everything(user, contact_ids, [*job_ids, list_id])

    shown = [any(f"n{number}@acme.com" in text for text in texts) for number in range(PEOPLE)]
    assert shown == [False] * REFUNDED + [True] * (PEOPLE - REFUNDED)


def everything(user: SignedInUser, contact_ids: list[str], job_ids: list[str]) -> list[str]:
    """Return all responses that could show an address: reads, also with an API key, and new requests."""
    headers, client = user.headers | AT_ONCE, user.client
    save = {"profile": {"linkedin_url": "https://www.linkedin.com/in/n0"}}
    subjects = [{"contact_id": contact_id} for contact_id in contact_ids]
    responses = [
        client.get("/api/ext/jobs?limit=100", headers=headers),
        client.get("/api/ext/session", headers=headers),
        client.post("/api/ext/lookup", json={"subjects": subjects}, headers=headers),
        client.post("/api/ext/linkedin-save", json=save, headers=headers),
        *(client.get(f"/api/ext/jobs?id={job_id}", headers=headers) for job_id in job_ids),
        *(
            client.get(f"/api/ext/jobs?id={job_id}", headers=bearer(user.make_key(*Scope)))
            for job_id in job_ids
        ),
    ]
    texts = [response.text for response in responses]
    for contact_id in contact_ids:
        body = {"subject": {"contact_id": contact_id}}
        texts += [
            client.post("/api/ext/reveal/email", json=body, headers=headers | key_header).text
            for key_header in ({"Idempotency-Key": contact_id}, {})
        ]
    enrichment_body = {
        "entity": "person",
        "items": [{"subject": contact_id} for contact_id in subjects],
        "fields": ["email"],
    }
    for key_header in ({"Idempotency-Key": "a list"}, {}):
        response = client.post(
            "/api/ext/enrichment-request", json=enrichment_body, headers=headers | key_header
        )
        texts.append(response.text)
    return texts


def test_a_refunded_address_is_masked_and_charged_again(user: SignedInUser, contact_ids: list[str]) -> None:
    reveal(user, contact_ids[0])
    bounce(user, 0, contact_ids[0])

    [entry] = available(user, contact_ids[0])
    revealed = ask(user, "/api/ext/reveal/email", {"subject": {"contact_id": contact_ids[0]}}, "again")

    assert (entry["owned"], entry["credits"], entry["status"]) == (False, 1, "risky")
    assert "@acme.com" in entry["masked"]
    assert "n0@" not in entry["masked"]
    with user.database.reading() as session:
        assert read(session, revealed["job"]["id"]).held == 1


def test_an_enrichment_with_a_refunded_address_is_not_reused(
    user: SignedInUser, contact_ids: list[str]
) -> None:
    reveal(user, contact_ids[0])
    first = enrich(user, contact_ids[:1], "one")
    before = enrichment(user, contact_ids[:1], "two")

    bounce(user, 0, contact_ids[0])

    assert before == first
    assert enrichment(user, contact_ids[:1], "three") != first


def test_a_bounce_changes_nothing_that_another_workspace_sees(
    app: APIFlask, user: SignedInUser, contact_ids: list[str]
) -> None:
    stranger = create_user(app, email="grace@other.example")
    reveal(user, contact_ids[0])
    before = available(stranger, contact_ids[0])

    bounce(user, 0, contact_ids[0])

    assert available(stranger, contact_ids[0]) == before
    assert before[0]["status"] == "valid"


def available(user: SignedInUser, contact_id: str) -> list[dict[str, Any]]:
    body = {"subject": {"contact_id": contact_id}}
    match = user.client.post("/api/ext/lookup", json=body, headers=user.headers).get_json()
    entries: list[dict[str, Any]] = match["available"]
    return entries
