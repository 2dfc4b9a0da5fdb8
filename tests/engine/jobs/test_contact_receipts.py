"""A contact's receipts have what that contact cost, not what a whole list did."""

from __future__ import annotations

from typing import Any

from jobs_support import a_job
from sqlalchemy import update
from stored_support import a_contact, own

from app.domain.kinds import Kind
from app.engine.jobs import contact_receipts
from app.engine.jobs.contact_receipts import ContactReceipt
from app.engine.jobs.jobs import Job, JobItem
from app.engine.ledger.reveals import Reveal
from app.infra.database.session import Session

TRACE = [{"provider": "hunter", "item": 0}, {"provider": "apollo", "item": 1}]


def receipts(
    session: Session, workspace_id: str, items: int, results: list[dict[str, Any]]
) -> list[ContactReceipt]:
    """Return the receipts of a contact of which a job of so many items revealed the e-mail for 1 credit."""
    contact = a_contact(session)
    job_id = a_job(session, workspace_id)
    kind = Kind.ENRICHMENT_REQUEST if items > 1 else Kind.REVEAL_EMAIL
    session.execute(
        update(Job)
        .where(Job.id == job_id)
        .values(kind=kind, progress_total=items, held=items, charged=items, trace=TRACE)
    )
    for index, result in enumerate(results):
        values = {"contact_id": contact.id} if result.pop("is_ours", False) else {}
        session.add(
            JobItem(
                job_id=job_id, index=index, request={}, result=result | values, outcome="found", charged=1
            )
        )
    own(session, workspace_id, contact, "email")
    session.execute(update(Reveal).values(job_id=job_id, credits=1))
    session.expire_all()
    return contact_receipts.of_contact(session, workspace_id, contact.id, [job_id])


def test_a_reveal_of_one_person_has_the_cost_of_the_request(session: Session, workspace_id: str) -> None:
    (one,) = receipts(session, workspace_id, 1, [])

    assert (one.charged, one.people, one.trace) == (1, 1, TRACE)


def test_of_a_list_only_the_contacts_row_counts(session: Session, workspace_id: str) -> None:
    (one,) = receipts(session, workspace_id, 50, [{}, {"is_ours": True}])

    assert (one.charged, one.people, one.trace) == (1, 50, TRACE[1:])


def test_of_a_list_whose_results_are_deleted_what_was_paid_is_left(
    session: Session, workspace_id: str
) -> None:
    (one,) = receipts(session, workspace_id, 50, [])

    assert (one.charged, one.trace) == (1, [])
