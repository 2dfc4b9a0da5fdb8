from __future__ import annotations

from jobs_support import NOW
from sqlalchemy import select
from stored_support import a_contact, an_email

from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure
from app.features.quality import verifications
from app.features.quality.tables import Verification
from app.infra.database import database_clock
from app.infra.database.session import Session

EMAIL = Identifier("email", "ada@acme.com")


def test_scheduled_verifications_are_counted_and_deleted_with_the_person(session: Session) -> None:
    ada = an_email(session, a_contact(session), EMAIL.value)
    bob = an_email(session, a_contact(session, full_name="Bob Byron"), "bob@acme.com")
    for address in (ada, bob):
        verifications.give_up(session, address.id, now=database_clock.now())
    plan = erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL])

    erasure.erase(session, plan, now=NOW)

    assert plan.counts["verifications"] == 1
    assert session.scalars(select(Verification.email_id)).all() == [bob.id]
