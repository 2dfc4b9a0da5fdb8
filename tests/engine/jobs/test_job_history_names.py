"""The names of the people whom listed jobs are about."""

from __future__ import annotations

from jobs_support import a_job, a_workspace
from stored_support import a_contact

from app.engine.jobs import job_history
from app.engine.jobs.jobs import Job
from app.infra.database.session import Session


def test_a_contact_without_a_name_is_listed_by_its_id(session: Session) -> None:
    workspace_id = a_workspace(session)
    nameless = a_contact(session, None, None)
    subject = {"contact_id": nameless.id}
    job = session.get_one(Job, a_job(session, workspace_id, request={"subject": subject}))

    [described] = job_history.describe_with_names(session, workspace_id, [job])

    assert described["subject"]["contact_id"] == nameless.id
    assert described["subject"].get("full_name") is None
