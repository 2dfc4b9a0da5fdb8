"""Reveals record themselves, in the statement that stores them."""

from __future__ import annotations

from audit_log_support import recorded
from jobs_support import NOW, a_job, a_workspace
from sqlalchemy import update
from stored_support import a_contact, own

from app.engine.jobs.jobs import Job
from app.engine.ledger import acquisition, reveals
from app.engine.ledger.acquisition import Acquisition
from app.infra.database.db import Database


def bought(database: Database) -> list[tuple[str, ...]]:
    return [
        (entry.actor_kind, entry.actor_id, entry.action, entry.object_id, entry.workspace_id)
        for entry in recorded(database)
        if entry.action.startswith("reveal.")
    ]


def test_a_reveal_names_the_account_the_contact_and_the_job(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        contact_id, job_id = a_contact(session).id, a_job(session, workspace_id)
        asked = {"workspace_id": workspace_id, "contact_id": contact_id, "field": "email", "job_id": job_id}
        acquisition.acquire_field(session, Acquisition(**asked, price=1), now=NOW)

    assert bought(database) == [("account", "acc_test", "reveal.email", contact_id, workspace_id)]
    assert recorded(database)[-1].request_id == job_id


def test_a_reveal_by_an_api_key_names_the_key(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        contact_id, job_id = a_contact(session).id, a_job(session, workspace_id)
        session.execute(update(Job).values(key_id="key_test"))
        asked = {"workspace_id": workspace_id, "contact_id": contact_id, "field": "phone", "job_id": job_id}
        acquisition.acquire_field(session, Acquisition(**asked, price=1), now=NOW)

    assert bought(database) == [("api_key", "key_test", "reveal.phone", contact_id, workspace_id)]


def test_a_field_that_is_owned_already_is_not_recorded_again(database: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact = a_workspace(session), a_contact(session)
        own(session, workspace_id, contact, "email")
        own(session, workspace_id, contact, "email")

    assert len(bought(database)) == 1


def test_a_reveal_after_a_refund_is_recorded_again(database: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact = a_workspace(session), a_contact(session)
        own(session, workspace_id, contact, "email")
        key = {"workspace_id": workspace_id, "contact_id": contact.id, "field": "email"}
        reveals.mark_refunded(session, **key, since=NOW, now=NOW)
        own(session, workspace_id, contact, "email")

    assert len(bought(database)) == 2


def test_the_reason_of_a_reveal_is_its_purpose(database: Database) -> None:
    with database.transaction() as session:
        workspace_id, contact_id = a_workspace(session), a_contact(session).id
        asked = {"workspace_id": workspace_id, "contact_id": contact_id, "job_id": "job_1"}
        acquisition.acquire_field(
            session, Acquisition(field="email", purpose="recruiting", price=1, **asked), now=NOW
        )
        acquisition.acquire_field(session, Acquisition(field="phone", price=1, **asked), now=NOW)

    reasons = {entry.action: entry.reason for entry in recorded(database)}
    assert (reasons["reveal.email"], reasons["reveal.phone"]) == ("recruiting", None)
