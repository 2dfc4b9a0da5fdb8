from __future__ import annotations

from jobs_support import a_job, a_workspace
from sqlalchemy import select
from stored_support import NOW, a_company, a_contact, an_email

from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.events import deliveries
from app.engine.events.deliveries import Webhook
from app.engine.privacy import erasure
from app.infra.database.session import Session

EMAIL = Identifier("email", "ada@acme.com")


def test_webhooks_whose_url_contains_the_person_are_deleted(session: Session) -> None:
    an_email(session, a_contact(session, a_company(session)), EMAIL.value)
    workspace_id = a_workspace(session)
    job_id = a_job(session, workspace_id, "bob")
    for url in ("https://a.example/?who=ada%40acme.com", "https://b.example/"):
        deliveries.subscribe_url(session, workspace_id=workspace_id, job_id=job_id, url=url, now=NOW)

    erasure.erase(
        session, erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL]), now=NOW
    )

    assert session.scalars(select(Webhook.url)).all() == ["https://b.example/"]
