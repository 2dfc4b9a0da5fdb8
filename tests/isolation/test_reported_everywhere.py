"""What a workspace reported of a value is said wherever the value is, to this workspace alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from apiflask import APIFlask
from fake_providers import ONE, email, person
from page_support import visitor
from sqlalchemy import select
from stored_support import a_company, a_contact, a_phone, an_email, own
from upload_support import uploader
from users_support import SignedInUser, create_user
from worker_harness import ADA, WorkerHarness

from app.domain.findings import FoundPhone
from app.domain.ids import new_id
from app.domain.kinds import Kind
from app.engine.contacts import value_reports
from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.jobs.job_snapshots import JobReader
from app.infra import clock
from app.web.jobs.job_responses import job_body

ADDRESS, NUMBER = "ada@acme.com", "+12025550143"
STORED = person(
    linkedin_url=ADA,
    emails=(email(ADDRESS),),
    phones=(FoundPhone(e164=NUMBER, type="mobile", status="valid", source=ONE),),
)


@pytest.fixture
def contact_id(user: SignedInUser) -> str:
    """A contact whose values the member's workspace owns."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        an_email(session, contact, ADDRESS)
        a_phone(session, contact, NUMBER)
        for field in ("email", "phone"):
            own(session, user.workspace_id, contact, field)
    return contact.id


def report(user: SignedInUser, contact_id: str, **body: str) -> None:
    body["contact_id"] = contact_id
    assert user.client.post("/api/feedback", json=body, headers=user.headers).status_code == 200


def looked_up(user: SignedInUser, contact_id: str) -> dict[str, Any]:
    body = {"subject": {"contact_id": contact_id}}
    result: dict[str, Any] = user.client.post("/api/ext/lookup", json=body, headers=user.headers).get_json()
    return result


def marks(values: Mapping[str, Any]) -> list[str | None]:
    """Return what was reported of the e-mails and of the phones."""
    return [one["reported"] for name in ("emails", "phones") for one in values[name]]


def test_the_last_report_is_in_lookups_and_contacts_of_the_workspace_only(
    app: APIFlask, user: SignedInUser, contact_id: str
) -> None:
    stranger = create_user(app, email="grace@other.example")
    with user.database.transaction() as session:
        for field in ("email", "phone"):
            own(session, stranger.workspace_id, session.get_one(Contact, contact_id), field)
    before = marks(looked_up(user, contact_id)["revealed"])

    report(user, contact_id, email=ADDRESS, kind="wrong_person")
    report(user, contact_id, phone=NUMBER, kind="wrong_number")
    report(user, contact_id, email=ADDRESS, kind="has_left")

    mine, theirs = looked_up(user, contact_id), looked_up(stranger, contact_id)
    assert before == [None, None]
    assert marks(mine["revealed"]) == ["has_left", "wrong_number"]
    assert mine["revealed"]["emails"][0]["reported_at"].endswith("Z")
    assert [one["reported"] for one in mine["available"]] == ["has_left", "wrong_number"]
    assert marks(theirs["revealed"]) == [None, None]
    assert [one["reported_at"] for one in theirs["available"]] == [None, None]
    listed = user.client.get("/api/contacts", headers=user.headers).get_json()["contacts"]
    assert marks(listed[0]["revealed"]) == ["has_left", "wrong_number"]


def test_a_report_of_a_value_is_said_at_each_contact_that_has_it(user: SignedInUser, contact_id: str) -> None:
    with user.database.transaction() as session:
        other = a_contact(session, a_company(session, domain="beta.com"))
        an_email(session, other, ADDRESS)
        an_email(session, other, "eve@beta.com")
        own(session, user.workspace_id, other, "email")

    report(user, contact_id, email=ADDRESS, kind="wrong_person")

    shown = looked_up(user, other.id)["revealed"]["emails"]
    assert {one["email"]: one["reported"] for one in shown} == {ADDRESS: "wrong_person", "eve@beta.com": None}


def test_the_pages_say_what_was_reported_instead_of_offering_it(
    app: APIFlask, user: SignedInUser, contact_id: str
) -> None:
    browser = visitor(app, user)
    pages = ("/contacts", f"/contacts/{contact_id}")
    before = [browser.open(page).text for page in pages]

    report(user, contact_id, email=ADDRESS, kind="has_left")
    report(user, contact_id, phone=NUMBER, kind="wrong_number")

    after = [browser.open(page).text for page in pages]
    assert [text.count('class="report"') for text in before] == [2, 2]
    assert [text.count('class="report"') for text in after] == [0, 0]
    for text in after:
        assert "Reported: Has left the company · " in text
        assert "Reported: Wrong number · " in text


def test_a_value_that_was_confirmed_can_still_be_reported(
    app: APIFlask, user: SignedInUser, contact_id: str
) -> None:
    report(user, contact_id, email=ADDRESS, kind="valid")

    text = visitor(app, user).open(f"/contacts/{contact_id}").text

    assert '<span class="badge good">Reported: Works · ' in text
    assert text.count('class="report"') == 2


def test_a_refunded_address_is_marked_where_it_is_masked(user: SignedInUser, contact_id: str) -> None:
    report(user, contact_id, email=ADDRESS, kind="bounce")

    [entry] = [one for one in looked_up(user, contact_id)["available"] if one["field"] == "email"]

    assert entry["reported"] == "bounce"


def _store(harness: WorkerHarness, workspace_id: str, value: type[Email | Phone], kind: str) -> None:
    with harness.database.transaction() as session:
        row = session.scalars(select(value)).one()
        of_value = {"email_id": row.id} if isinstance(row, Email) else {"phone_id": row.id}
        feedback = Feedback(
            id=new_id("fdb"),
            workspace_id=workspace_id,
            contact_id=row.contact_id,
            kind=kind,
            providers=[],
            refunded=0,
            created_at=clock.now(),
            **of_value,
        )
        session.add(feedback)


@pytest.mark.parametrize(
    ("kind", "value", "reported"),
    [(Kind.REVEAL_EMAIL, Email, "has_left"), (Kind.REVEAL_PHONE, Phone, "wrong_number")],
)
def test_a_report_is_in_the_answer_of_an_earlier_job(
    harness: WorkerHarness, kind: Kind, value: type[Email | Phone], reported: str
) -> None:
    harness.store_contact(STORED)
    job = harness.reveal({"linkedin_url": ADA}, kind)

    def shown() -> tuple[str | None, str | None]:
        snapshot = JobReader(harness.database).read(harness.workspace_id, job.id)
        result = job_body(snapshot, repeated=False)["result"] or {}
        [one] = [*result.get("emails", ()), *result.get("phones", ())]
        return one["reported"], one["reported_at"]

    before = shown()
    _store(harness, harness.other_workspace().workspace_id, value, "wrong_person")
    of_others = shown()
    _store(harness, harness.workspace_id, value, reported)

    assert before == of_others == (None, None)
    assert shown()[0] == reported
    assert shown()[1]


def test_a_report_is_in_the_result_of_an_upload(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)
    uploads = uploader(harness)
    upload_id = uploads.ready(f"LinkedIn\n{ADA}\n".encode())
    uploads.start(upload_id)
    uploads.run(upload_id)
    before = uploads.csv(upload_id)

    _store(harness, harness.workspace_id, Email, "has_left")

    header, row = uploads.csv(upload_id)
    at = header.index("Found email reported")
    assert before[1][at] == ""
    assert row[at].startswith("has_left on 20")
    assert row[header.index("Found phone reported")] == ""


def test_an_answer_without_values_is_not_looked_up(harness: WorkerHarness) -> None:
    with harness.database.reading() as session:
        assert value_reports.find(session, harness.workspace_id, [None, {}, {"emails": None}]) == {}
    assert value_reports.marked(None, {}) is None
    assert value_reports.marked({"emails": None, "company": None}, {}) == {"emails": None, "company": None}
