"""How values leave the service in a push to a CRM, for the tests that look at every channel."""

from __future__ import annotations

from sqlalchemy import select
from worker_harness import WorkerHarness

from app.engine.contacts.contacts import Contact
from app.features.crm import people
from app.infra.database.session import Session


def pushed(session: Session, harness: WorkerHarness) -> object:
    """Return the values that are pushed of the only contact, or why it is not pushed."""
    contact_id = str(session.scalar(select(Contact.id)))
    person = people.load(session, harness.workspace_id, contact_id, receipt_link="")
    return person if isinstance(person, str) else person.values


CHANNELS = {"push to the CRM": (pushed, "suppressed")}
"""What a channel shows, and what it shows of a suppressed person."""
