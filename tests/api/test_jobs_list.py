"""The list of jobs shows caller, subject and cost of each; it does not show a suppressed person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import a_job
from sqlalchemy import update
from stored_support import a_contact, an_email, statements, suppress
from users_support import SignedInUser, create_user

from app.core.jobs.jobs import Job, JobItem
from app.core.privacy import redaction
from app.domain.kinds import Kind, Outcome, Status
from app.infra import clock

ADDRESS = "ada@acme.example"


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


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


def listed(user: SignedInUser) -> list[dict[str, Any]]:
    answer = user.client.get("/api/ext/jobs", headers=user.headers).get_json()
    jobs: list[dict[str, Any]] = answer["jobs"]
    return jobs


def test_a_job_is_listed_with_who_asked_whom_about_and_what_it_cost(user: SignedInUser) -> None:
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


def test_an_enrichment_of_one_person_names_them_and_one_of_several_names_nobody(user: SignedInUser) -> None:
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

    several, one = listed(user)

    assert one["subject"] == {"full_name": "Ada Lovelace", "company_name": "Acme"}
    assert several["subject"] is None


def test_nothing_is_said_of_who_is_on_the_suppression_list_however_they_were_named(
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


def test_nothing_is_said_of_who_was_left_alone_nor_when_the_answer_is_no_longer_kept(
    user: SignedInUser,
) -> None:
    over = {"status": Status.SUCCEEDED.value, "finished_at": clock.now() - timedelta(days=400)}
    ask(user, {"full_name": "Ada Lovelace", "company_name": "Acme"}, **over, outcome="suppressed")
    ask(user, {"full_name": "Bob Babbage", "company_name": "Acme"}, **over, outcome="not_found")
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


def test_a_longer_list_takes_no_more_queries(user: SignedInUser) -> None:
    counts = []
    with user.database.transaction() as session:
        ids = [a_contact(session, full_name=f"Ada Number{number}").id for number in range(6)]
    for contact_id in ids:
        ask(user, {"contact_id": contact_id})
        with statements(user.database.engine) as run:
            listed(user)
        counts.append(len(run))

    assert len(set(counts[1:])) == 1, counts
