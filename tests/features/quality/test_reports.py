"""Reports of numbers and of lists of bounces, by the API and the pages."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from sqlalchemy import func, select
from stored_support import a_company, a_contact, a_phone, an_email
from users_support import CREDITS, SignedInUser, create_user
from werkzeug.test import TestResponse

from app.domain.errors import ContactNotFound
from app.domain.ids import new_id
from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.ledger import acquisition, credits
from app.engine.ledger.acquisition import Acquisition
from app.features.quality import imports, reports
from app.features.quality.bounce_lists import NOT_OWNED
from app.infra import clock
from app.infra.database.session import Session

ADDRESS, NUMBER = "ada@acme.com", "+12025550143"


def _buy(session: Session, user: SignedInUser, value: Email | Phone, price: int) -> None:
    job_id, now = new_id("job"), clock.now()
    field, index = ("email", value.email_index) if isinstance(value, Email) else ("phone", value.e164_index)
    bought = Acquisition(
        workspace_id=user.workspace_id,
        contact_id=value.contact_id,
        field=field,
        job_id=job_id,
        price=price,
        values=[index],
    )
    acquisition.acquire_all(session, [bought], now=now)
    credits.hold(session, user.workspace_id, job_id, price, now=now)
    credits.close(session, user.workspace_id, job_id, held=price, charged=price, now=now)


@pytest.fixture
def contact_id(user: SignedInUser) -> str:
    """A contact of whom the member's workspace revealed an e-mail for one credit, and a phone for two."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        email, phone = an_email(session, contact, ADDRESS), a_phone(session, contact, NUMBER)
        _buy(session, user, email, 1)
        _buy(session, user, phone, 2)
    return contact.id


@pytest.fixture
def member(app: APIFlask, user: SignedInUser) -> Visitor:
    return visitor(app, user)


def _send(user: SignedInUser, **body: Any) -> TestResponse:
    return user.client.post("/api/feedback", json=body, headers=user.headers)


def _import(user: SignedInUser, content: bytes) -> dict[str, Any]:
    headers = {**user.headers, "Content-Type": "text/csv"}
    body: dict[str, Any] = user.client.post("/api/feedback/import", data=content, headers=headers).get_json()
    return body


def _count(user: SignedInUser) -> int:
    with user.database.reading() as session:
        return session.scalars(select(func.count()).select_from(Feedback)).one()


@pytest.mark.parametrize("kind", ["wrong_number", "wrong_person", "has_left", "valid"])
def test_a_report_of_a_number_is_recorded_once_and_not_refunded(
    user: SignedInUser, contact_id: str, kind: str
) -> None:
    first = _send(user, phone=NUMBER, kind=kind).get_json()
    again = _send(user, phone=NUMBER, kind=kind, contact_id=contact_id).get_json()

    assert first == again
    assert first["feedback"]["contact_id"] == contact_id
    assert (first["refunded"], first["refund"]) == (0, "not_due")
    assert first["message"] == "Reported. Nothing is refunded: only addresses that bounce are."
    assert _count(user) == 1


@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson", "text/plain"])
def test_events_in_json_are_reported_also_if_they_are_longer_than_other_bodies(
    user: SignedInUser, contact_id: str, media_type: str
) -> None:
    event = {"email": ADDRESS, "event": "bounce", "type": "bounce", "status": "5.1.1"}
    soft = {**event, "type": "blocked", "sg_event_id": "x" * 1_000}
    content = json.dumps([*[soft] * 500, event]).encode()
    headers = {**user.headers, "Content-Type": media_type}

    imported = user.client.post("/api/feedback/import", data=content, headers=headers).get_json()

    assert (imported["reported"], imported["left_out_count"]) == (1, 500)


@pytest.mark.parametrize("content", [b'{"a":\n' * 30, b'{"email": "\xff"}'])
def test_json_that_cannot_be_read_says_what_to_do(user: SignedInUser, content: bytes) -> None:
    headers = {**user.headers, "Content-Type": "application/json"}

    refused = user.client.post("/api/feedback/import", data=content, headers=headers)

    assert (refused.status_code, refused.mimetype) == (422, "application/problem+json")
    assert refused.get_json()["errors"][0]["pointer"] == "/file"
    assert "Export it again" in refused.get_json()["detail"]


def test_a_replay_of_a_report_of_a_number_returns_it(user: SignedInUser, contact_id: str) -> None:
    headers = {**user.headers, "Idempotency-Key": "k1"}
    body = {"contact_id": contact_id, "phone": NUMBER, "kind": "wrong_number"}

    first = user.client.post("/api/feedback", json=body, headers=headers)
    replay = user.client.post("/api/feedback", json=body, headers=headers)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert replay.get_json() == first.get_json()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"phone": NUMBER, "kind": "bounce"}, "/kind"),
        ({"email": ADDRESS, "kind": "wrong_number"}, "/kind"),
        ({"email": ADDRESS, "phone": NUMBER, "kind": "valid"}, ""),
        ({"kind": "valid"}, ""),
        ({"phone": "0143", "kind": "wrong_number"}, "/phone"),
    ],
)
def test_a_report_that_does_not_fit_its_value_is_refused(
    user: SignedInUser, body: dict[str, str], pointer: str
) -> None:
    response = _send(user, **body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_bounce_without_a_contact_is_of_the_one_that_was_revealed(
    user: SignedInUser, contact_id: str
) -> None:
    first = _send(user, email=ADDRESS, kind="bounce").get_json()
    again = _send(user, email=ADDRESS, kind="bounce").get_json()

    assert (first["feedback"]["contact_id"], first["refunded"]) == (contact_id, 1)
    assert (again["refund"], again["message"]) == ("given_before", "Reported. The price was refunded before.")


@pytest.mark.usefixtures("contact_id")
@pytest.mark.parametrize(
    "value", [{"email": ADDRESS, "kind": "bounce"}, {"phone": NUMBER, "kind": "has_left"}]
)
def test_a_value_of_another_workspace_cannot_be_reported(
    app: APIFlask, user: SignedInUser, contact_id: str, value: dict[str, str]
) -> None:
    other = create_user(app, email="grace@other.example")

    by_value = _send(other, **value)
    by_contact = _send(other, contact_id=contact_id, **value)
    malformed = _send(other, contact_id="x", **value)

    for response in (by_value, by_contact, malformed):
        assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")
    assert _count(user) == 0


@pytest.mark.usefixtures("contact_id")
def test_a_list_is_reported_once_and_refunded_once(user: SignedInUser) -> None:
    content = b"email,type\nada@acme.com,hard\nADA@acme.com,hard\nnobody@acme.com,hard\nbob@acme.com,soft\n"

    first = _import(user, content)
    again = _import(user, content)

    assert {name: first[name] for name in ("reported", "repeated", "refunded", "pending", "remaining")} == {
        "reported": 1,
        "repeated": 0,
        "refunded": 1,
        "pending": 0,
        "remaining": 0,
    }
    assert [each["line"] for each in first["left_out"]] == [4, 5]
    assert first["left_out"][0]["detail"] == NOT_OWNED
    assert first["credits"]["balance"] == CREDITS - 2
    assert (again["reported"], again["repeated"], again["refunded"]) == (0, 1, 0)
    assert _count(user) == 1


@pytest.mark.usefixtures("contact_id")
def test_a_list_reports_numbers_and_what_its_words_say(user: SignedInUser) -> None:
    body = _import(user, b"email,phone,result\nada@acme.com,+12025550143,has left\n")

    assert (body["reported"], body["refunded"], body["pending"]) == (2, 0, 0)


@pytest.mark.usefixtures("contact_id")
def test_what_exceeds_a_request_is_reported_when_the_list_is_sent_again(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_REPORTS", 1)
    content = b"email,phone,result\nada@acme.com,+12025550143,has left\n"

    first = _import(user, content)
    again = _import(user, content)

    assert (first["reported"], first["remaining"]) == (1, 1)
    assert (again["reported"], again["repeated"], again["remaining"]) == (1, 1, 0)


@pytest.mark.usefixtures("contact_id")
def test_a_contact_that_is_erased_meanwhile_is_left_out(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def erased(*_arguments: object, **_options: object) -> None:
        raise ContactNotFound

    monkeypatch.setattr(reports, "record", erased)

    body = _import(user, b"email\nada@acme.com\n")

    assert (body["reported"], body["left_out"]) == (0, [{"line": 2, "detail": NOT_OWNED}])


def test_a_file_that_is_no_list_is_refused(user: SignedInUser) -> None:
    body = _import(user, b"first,second\nx,y\n")

    assert (body["code"], body["errors"][0]["pointer"]) == ("validation_error", "/file")


def test_a_value_is_reported_beside_it_without_scripts(member: Visitor, contact_id: str) -> None:
    path = f"/contacts/{contact_id}"
    shown = member.open(path).text
    reported = member.send("/reports", phone=NUMBER, kind="wrong_number", next=path)
    refunded = member.send("/reports", email=ADDRESS, kind="bounce", next="/contacts")

    assert shown.count('<details class="report">') == 2
    assert 'name="kind" value="bounce"' in shown
    assert 'name="kind" value="wrong_number"' in shown
    assert "Reported. Nothing is refunded: only addresses that bounce are." in reported.text
    assert "Reported. 1 credit was refunded." in refunded.text


def test_a_report_from_an_answer_to_a_form_leads_to_the_contact(member: Visitor, contact_id: str) -> None:
    shown = member.send("/reports", phone=NUMBER, kind="has_left", next="/reveal")

    assert shown.request.path == f"/contacts/{contact_id}"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"email": "eve@acme.com", "kind": "bounce"}, "your workspace has not revealed this value"),
        ({"email": "eve@acme.com", "kind": "wrong_number"}, "Of an address, report one of"),
        ({"email": "no address", "kind": "bounce"}, "This is not an e-mail address"),
    ],
)
def test_a_report_that_is_refused_says_why_on_the_page(
    member: Visitor, fields: dict[str, str], message: str
) -> None:
    assert message in member.send("/reports", **fields, next="//evil.example/").text


@pytest.mark.usefixtures("contact_id")
def test_a_list_is_reported_on_the_page(member: Visitor) -> None:
    content = b"email,type\nada@acme.com,hard\nbob@acme.com,soft\n"

    empty = member.open("/reports").text
    page = member.send("/reports/import", file=(io.BytesIO(content), "bounces.csv"))
    refused = member.send("/reports/import", file=(io.BytesIO(b"a,b\nx,y\n"), "bounces.csv"))

    assert "Upload a list" in empty
    assert "<dt>credits refunded</dt><dd>1</dd>" in page.text
    assert "This failure is temporary" in page.text
    assert refused.status_code == 422
    assert "Name the columns email or phone" in refused.text
