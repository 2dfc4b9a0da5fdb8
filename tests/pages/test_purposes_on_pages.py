"""The choice of a purpose on the pages: search, receipts and uploads."""

from __future__ import annotations

import io
import re

import pytest
from apiflask import APIFlask
from page_support import Visitor
from settings_support import change_settings, require_purpose
from sqlalchemy import select, update
from stored_support import ADA_URL, a_company, a_contact, an_email, own
from upload_support import a_list, people
from users_support import SignedInUser
from werkzeug.test import TestResponse
from worker_harness import make_services

from app.domain.kinds import Queue
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal
from app.engine.uploads.upload_tables import Upload
from app.engine.work.items import WorkItem
from app.infra import clock
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal, uploads
from workers.jobs.enrichment_request import enrichment_request

REGISTERED = (reveal,)
MISSING = "Choose what you need the data for."
SELECT = re.compile(r"<select[^>]* name=\"purpose\"[^>]*>", re.DOTALL)


@pytest.fixture
def ada(user: SignedInUser) -> Contact:
    """A contact in Great Britain with a stored address."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
    return contact


@pytest.fixture
def services(app: APIFlask, monkeypatch: pytest.MonkeyPatch) -> WorkerServices:
    monkeypatch.setattr(job_runner, "_last_served", {})
    api = app.extensions["services"]
    return make_services(api.settings, api.database)


def with_rule(app: APIFlask, services: WorkerServices, *places: str) -> WorkerServices:
    """Require a purpose of the pages and of the worker; return the latter."""
    require_purpose(app, *places)
    api = app.extensions["services"]
    return make_services(api.settings, services.database)


def find(browser: Visitor) -> TestResponse:
    return browser.send("/", linkedin_url=ADA_URL)


def ask(browser: Visitor, ada: Contact, **fields: str) -> TestResponse:
    return browser.send("/reveal", field="email", contact_id=ada.id, **fields)


def run(services: WorkerServices, receipt: TestResponse) -> str:
    """Run the job of a receipt; return the path of the receipt."""
    path: str = receipt.request.path
    job_runner.run_next(Queue.INTERACTIVE, path.rpartition("/")[2], "task", services)
    return path


def purposes(user: SignedInUser) -> list[str | None]:
    with user.database.reading() as session:
        return list(session.scalars(select(Reveal.purpose)))


@pytest.mark.usefixtures("ada")
def test_no_purpose_is_asked_for_while_none_is_required(browser: Visitor) -> None:
    assert SELECT.findall(find(browser).text) == []


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(("place", "required"), [("GB", False), ("*", True)])
def test_each_button_has_a_choice_of_purposes_if_some_are_required(
    app: APIFlask, browser: Visitor, place: str, *, required: bool
) -> None:
    require_purpose(app, place)
    change_settings(app, purposes=("due_diligence",))

    page = find(browser).text

    choices = SELECT.findall(page)
    assert len(choices) == page.count('action="/reveal"') == 2
    assert [" required" in choice for choice in choices] == [required] * 2
    assert {id_ in page for id_ in ('id="email-purpose"', 'for="email-purpose"', 'id="phone-purpose"')} == {
        True
    }
    assert '<option value="due_diligence">Due diligence</option>' in page


def test_the_chosen_purpose_is_sent_and_shown_on_the_receipt(
    app: APIFlask, browser: Visitor, user: SignedInUser, ada: Contact, services: WorkerServices
) -> None:
    services = with_rule(app, services, "GB")

    path = run(services, ask(browser, ada, purpose="due_diligence"))

    assert "<dt>Purpose</dt><dd>due diligence</dd>" in browser.open(path).text
    assert purposes(user) == ["due_diligence"]


@pytest.mark.parametrize(("place", "purpose"), [("*", ""), ("*", "fun"), ("GB", "fun")])
def test_a_form_without_a_valid_purpose_is_shown_again_with_the_person(
    app: APIFlask, browser: Visitor, ada: Contact, place: str, purpose: str
) -> None:
    require_purpose(app, place)

    page = ask(browser, ada, purpose=purpose)

    assert (page.status_code, MISSING in page.text, "Ada Lovelace" in page.text) == (422, True, True)
    assert "No requests" in browser.open("/history").text


def test_a_refused_request_is_asked_again_with_a_purpose_from_its_receipt(
    app: APIFlask, browser: Visitor, user: SignedInUser, ada: Contact, services: WorkerServices
) -> None:
    services = with_rule(app, services, "GB")
    path = run(services, ask(browser, ada))
    refused = browser.open(path).text

    again = browser.send(f"{path}/again", purpose="recruiting")
    run(services, again)

    assert "A purpose is required" in refused
    assert len(SELECT.findall(refused)) == 1
    assert again.request.path != path
    assert "ada@acme.com" in browser.open(again.request.path).text
    assert purposes(user) == ["recruiting"]


def test_a_request_that_is_asked_again_keeps_its_purpose(
    app: APIFlask, browser: Visitor, user: SignedInUser, ada: Contact, services: WorkerServices
) -> None:
    services = with_rule(app, services, "GB")
    with user.database.transaction() as session:
        session.execute(update(Email).values(status="invalid"))
    path = run(services, ask(browser, ada, purpose="recruiting"))

    again = browser.send(f"{path}/again")

    with user.database.reading() as session:
        assert {job.request["purpose"] for job in session.scalars(select(Job))} == {"recruiting"}
    assert again.status_code == 200


def test_a_request_for_a_purpose_that_can_no_longer_be_stated_is_asked_again_without_it(
    app: APIFlask, browser: Visitor, user: SignedInUser, ada: Contact, services: WorkerServices
) -> None:
    services = with_rule(app, services, "GB")
    with user.database.transaction() as session:
        session.execute(update(Email).values(status="invalid"))
    path = run(services, ask(browser, ada, purpose="recruiting"))
    require_purpose(app)
    change_settings(app, purposes=("due_diligence",))

    again = browser.send(f"{path}/again")

    assert (again.status_code, again.request.path != path) == (200, True)
    with user.database.reading() as session:
        requests = [job.request for job in session.scalars(select(Job).order_by(Job.created_at))]
    assert [request.get("purpose") for request in requests] == ["recruiting", None]


def test_asking_again_without_a_purpose_says_what_is_missing(
    app: APIFlask, browser: Visitor, ada: Contact, services: WorkerServices
) -> None:
    path = run(with_rule(app, services, "GB"), ask(browser, ada))
    require_purpose(app, "*")

    page = browser.send(f"{path}/again")

    assert (page.request.path, MISSING in page.text) == (path, True)


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
    uploads.advance_upload(path.rpartition("/")[2], services)


def enrich(services: WorkerServices) -> None:
    with services.database.reading() as session:
        open_jobs = session.scalars(select(Job.id).where(Job.finished_at.is_(None))).all()
    for job_id in open_jobs:
        job_runner.run(job_id, enrichment_request, services)


def test_an_upload_that_needs_a_purpose_pauses_and_continues_from_its_page(
    app: APIFlask, browser: Visitor, user: SignedInUser, services: WorkerServices
) -> None:
    services = with_rule(app, services, "DE")
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
    app: APIFlask, browser: Visitor, services: WorkerServices
) -> None:
    path = priced(browser, with_rule(app, services, "*"))

    refused = browser.send(f"{path}/start")
    started = browser.send(f"{path}/start", purpose="recruiting")

    assert (refused.status_code, MISSING in refused.text) == (422, True)
    assert "People finished" in started.text


def test_what_is_owned_is_revealed_without_a_purpose(
    app: APIFlask, browser: Visitor, user: SignedInUser, ada: Contact, services: WorkerServices
) -> None:
    with user.database.transaction() as session:
        own(session, user.workspace_id, ada, "email")

    path = run(with_rule(app, services, "*"), ask(browser, ada))

    assert "ada@acme.com" in browser.open(path).text
