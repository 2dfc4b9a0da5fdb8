"""The list of jobs shows caller, subject and cost of each; it does not show a suppressed person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from jobs_support import a_job
from sqlalchemy import update
from stored_support import a_contact, an_email, statements, suppress
from users_support import SignedInUser

from app.domain.kinds import Kind, Outcome, Status
from app.engine.jobs.jobs import Job, JobItem
from app.engine.privacy import redaction
from app.infra import clock

ADDRESS = "ada@acme.example"


def ask(user: SignedInUser, subject: dict[str, str], **changes: Any) -> str:
    """Store a reveal that the member requested; return its id."""
    with user.database.transaction() as session:
        job_id: str = a_job(
            session,
            user.workspace_id,
            about=str(subject),
            account_id=user.account_id,
            request={"subject": subject, "types": ["work"], "min_status": "valid"},
        )
        job = session.get_one(Job, job_id)
        for name, value in changes.items():
            setattr(job, name, value)
    return job_id


def found(contact_id: str) -> dict[str, Any]:
    """Return the columns of a finished reveal that found the contact's address for one credit."""
    return {
        "status": Status.SUCCEEDED.value,
        "outcome": Outcome.FOUND.value,
        "result": {"contact_id": contact_id, "emails": []},
        "finished_at": clock.now() - timedelta(days=1),
        "charged": 1,
    }


def listed(user: SignedInUser, query: str = "") -> list[dict[str, Any]]:
    response = user.client.get(f"/api/ext/jobs{query}", headers=user.headers).get_json()
    jobs: list[dict[str, Any]] = response["jobs"]
    return jobs


def test_a_job_is_listed_with_its_account_its_subject_and_its_cost(user: SignedInUser) -> None:
    colleague = user.colleague()
    with user.database.transaction() as session:
        ada = a_contact(session).id
    ask(user, {"full_name": "Ada Lovelace", "company_domain": "acme.example"}, **found(ada))
    ask(colleague, {"linkedin_url": "https://www.linkedin.com/in/bob"})

    later, earlier = listed(user)

    assert later["asked_by"] == {"id": colleague.account_id, "name": "Bob"}
    assert later["subject"] == {"linkedin_url": "https://www.linkedin.com/in/bob"}
    assert later["charged"] == 0
    assert earlier["asked_by"]["id"] == user.account_id
    assert earlier["subject"] == {
        "full_name": "Ada Lovelace",
        "company_domain": "acme.example",
        "contact_id": ada,
    }
    assert earlier["charged"] == 1


def test_jobs_of_some_kinds_are_listed_alone(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ids = {kind: a_job(session, user.workspace_id, about=kind, kind=kind) for kind in Kind}
    wanted = (Kind.REVEAL_PHONE, Kind.ENRICHMENT_REQUEST)

    chosen = listed(user, "?limit=2&kind=reveal.phone&kind=enrichment_request")
    refused = user.client.get("/api/ext/jobs?kind=reveal.fax", headers=user.headers)

    assert {job["id"] for job in chosen} == {ids[kind] for kind in wanted}
    assert (refused.status_code, refused.get_json()["code"]) == (422, "validation_error")


def test_only_an_enrichment_of_a_single_person_is_listed_with_its_subject(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for subjects in (["Ada Lovelace"], ["Bob Babbage", "Cleo Clarke"]):
            items = tuple({"subject": {"full_name": name, "company_name": "Acme"}} for name in subjects)
            a_job(
                session,
                user.workspace_id,
                about=str(subjects),
                kind=Kind.ENRICHMENT_REQUEST,
                account_id=user.account_id,
                request={"entity": "person"},
                items=items,
            )

    several, single = listed(user)

    assert single["subject"] == {"full_name": "Ada Lovelace", "company_name": "Acme"}
    assert several["subject"] is None


def test_a_suppressed_person_is_not_listed_under_any_identifier(
    user: SignedInUser,
) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session)
        an_email(session, ada, ADDRESS)
        contact_id = ada.id
    ask(user, {"email": ADDRESS, "full_name": "Ada Lovelace"})
    ask(user, {"contact_id": contact_id, "full_name": "Ada Lovelace"})
    ask(user, {"full_name": "Ada Lovelace", "company_name": "Acme"}, **found(contact_id))
    assert all(job["subject"] for job in listed(user))

    with user.database.transaction() as session:
        suppress(session, "email", ADDRESS)

    assert [job["subject"] for job in listed(user)] == [None, None, None]


def test_a_job_that_found_a_suppressed_person_or_lost_its_result_has_no_subject(
    user: SignedInUser,
) -> None:
    values = {"status": Status.SUCCEEDED.value, "finished_at": clock.now() - timedelta(days=400)}
    ask(user, {"full_name": "Ada Lovelace", "company_name": "Acme"}, **values, outcome="suppressed")
    ask(user, {"full_name": "Bob Babbage", "company_name": "Acme"}, **values, outcome="not_found")
    with user.database.transaction() as session:
        a_job(
            session,
            user.workspace_id,
            kind=Kind.ENRICHMENT_REQUEST,
            items=({"subject": {"full_name": "Cleo Clarke", "company_name": "Acme"}},),
            request={"entity": "person"},
        )
        session.execute(update(JobItem).values(outcome="suppressed"))
        redaction.redact_expired(session, before=clock.now() - timedelta(days=365))

    jobs = listed(user)

    assert [job["subject"] for job in jobs] == [None, None, None]
    assert jobs[0]["asked_by"] is None  # the account was deleted


def test_the_number_of_queries_does_not_grow_with_the_list(user: SignedInUser) -> None:
    counts = []
    with user.database.transaction() as session:
        ids = [a_contact(session, full_name=f"Ada Number{number}").id for number in range(6)]
    for contact_id in ids:
        ask(user, {"contact_id": contact_id})
        with statements(user.database.reader) as run:
            listed(user)
        counts.append(len(run))

    assert len(set(counts[1:])) == 1, counts
