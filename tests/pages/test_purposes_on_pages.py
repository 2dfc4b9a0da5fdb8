"""The choice of a purpose on the pages: search and receipts."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import Visitor
from settings_support import change_settings, require_purpose
from sqlalchemy import select, update
from stored_support import ADA_URL, a_company, a_contact, an_email
from users_support import SignedInUser
from werkzeug.test import TestResponse
from worker_harness import deliver, make_services

from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import Job
from app.engine.ledger.reveals import Reveal
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal

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
    job_id = receipt.request.path.rpartition("/")[2]
    deliver(services, job_id)
    return f"/history/{job_id}"


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

    assert "<dt>Purpose</dt><dd>Due diligence</dd>" in browser.open(path).text
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
