"""The choice of a purpose on the page of an upload."""

from __future__ import annotations

import io
import re

from apiflask import APIFlask
from page_support import Visitor
from settings_support import require_purpose
from sqlalchemy import select, update
from stored_support import a_contact, an_email
from upload_support import a_list, people
from users_support import SignedInUser
from worker_harness import make_services

from app.engine.jobs.jobs import Job
from app.engine.work.items import WorkItem
from app.features.uploads import work
from app.features.uploads.tables import Upload
from app.infra import clock
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs.enrichment_request import enrichment_request

SELECT = re.compile(r"<select[^>]* name=\"purpose\"[^>]*>", re.DOTALL)


def with_rule(app: APIFlask, *places: str) -> WorkerServices:
    """Require a purpose of the pages and of the worker; return the latter."""
    require_purpose(app, *places)
    api = app.extensions["services"]
    return make_services(api.settings, api.database)


def priced(browser: Visitor, services: WorkerServices) -> str:
    """Upload a list of people in Germany, and have it read and priced; return the path of its page."""
    page = browser.send("/uploads", file=(io.BytesIO(a_list(*people(2))), "people.csv"))
    path: str = page.request.path
    with services.database.transaction() as session:
        for name, address, _note in people(2):
            an_email(session, a_contact(session, None, name, country="DE"), address)
    advance(services, path)
    advance(services, path)
    return path


def advance(services: WorkerServices, path: str) -> None:
    work.advance_upload(path.rpartition("/")[2], services)


def enrich(services: WorkerServices) -> None:
    with services.database.reading() as session:
        open_jobs = session.scalars(select(Job.id).where(Job.finished_at.is_(None))).all()
    for job_id in open_jobs:
        job_runner.run(job_id, enrichment_request, services)


def test_an_upload_that_needs_a_purpose_pauses_and_continues_from_its_page(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    services = with_rule(app, "DE")
    path = priced(browser, services)
    ready = browser.open(path).text
    browser.send(f"{path}/start")
    advance(services, path)
    enrich(services)
    with services.database.transaction() as session:
        session.execute(update(WorkItem).values(due_at=clock.now()))
    advance(services, path)
    paused = browser.open(path).text

    continued = browser.send(f"{path}/start", purpose="recruiting")

    assert [" required" in choice for choice in SELECT.findall(ready)] == [False]
    assert [" required" in choice for choice in SELECT.findall(paused)] == [True]
    assert "Say what you need the other people&#39;s data for" in paused
    assert "People finished" in continued.text
    with user.database.reading() as session:
        assert session.scalars(select(Upload.purpose)).all() == ["recruiting"]


def test_an_upload_is_not_started_without_a_purpose_if_everybody_needs_one(
    app: APIFlask, browser: Visitor
) -> None:
    path = priced(browser, with_rule(app, "*"))

    refused = browser.send(f"{path}/start")
    started = browser.send(f"{path}/start", purpose="recruiting")

    is_asked = "Choose what you need the data for." in refused.text
    assert (refused.status_code, is_asked) == (422, True)
    assert "People finished" in started.text
