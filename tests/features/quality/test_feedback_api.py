from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import select
from stored_support import a_company, a_contact, an_email
from users_support import CREDITS, SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.ids import EXAMPLES, new_id
from app.engine.contacts.emails import Email
from app.engine.ledger import acquisition, credits
from app.engine.ledger.acquisition import Acquisition
from app.infra import clock

PATH = "/api/feedback"
ADDRESS = "ada@acme.com"


@pytest.fixture
def contact_id(user: SignedInUser) -> str:
    """A contact whose e-mails the member's workspace revealed for three credits."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        an_email(session, contact, ADDRESS)
        reveal(session, user, contact.id)
    return contact.id


def reveal(session: Any, user: SignedInUser, contact_id: str) -> None:
    job_id, now = new_id("job"), clock.now()
    acquisition.acquire_field(
        session,
        Acquisition(
            workspace_id=user.workspace_id,
            contact_id=contact_id,
            field="email",
            job_id=job_id,
            price=3,
        ),
        now=now,
    )
    credits.hold(session, user.workspace_id, job_id, 3, now=now)
    credits.close(session, user.workspace_id, job_id, held=3, charged=3, now=now)


def send(
    user: SignedInUser, contact_id: str, headers: dict[str, str] | None = None, /, **changes: Any
) -> TestResponse:
    body = {"contact_id": contact_id, "email": ADDRESS, "kind": "bounce"} | changes
    return user.client.post(PATH, json=body, headers=user.headers | (headers or {}))


def test_a_bounce_returns_the_refund(user: SignedInUser, contact_id: str) -> None:
    response = send(user, contact_id)

    body = response.get_json()
    assert response.status_code == 200
    assert body["feedback"].pop("created_at").endswith("Z")
    assert body == {
        "feedback": {"contact_id": contact_id, "kind": "bounce"},
        "refunded": 3,
        "refund": "given",
        "message": "Reported. 3 credits were refunded.",
        "credits": {"balance": CREDITS, "reserved": 0},
    }
    assert response.headers["X-Credits-Balance"] == str(CREDITS)
    assert response.headers["X-Credits-Charged"] == "0"


def test_a_repeated_report_is_refunded_once(user: SignedInUser, contact_id: str) -> None:
    first = send(user, contact_id).get_json()

    again = send(user, contact_id).get_json()

    assert (again["refunded"], again["refund"]) == (0, "given_before")
    assert again["feedback"] == first["feedback"]
    assert again["credits"] == {"balance": CREDITS, "reserved": 0}


def test_a_replay_returns_the_stored_feedback(user: SignedInUser, contact_id: str) -> None:
    first = send(user, contact_id, {"Idempotency-Key": "k1"})

    replay = send(user, contact_id, {"Idempotency-Key": "k1"})

    assert "Idempotent-Replay" not in first.headers
    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (200, "true")
    assert replay.get_json() == first.get_json()


def test_an_idempotency_key_of_other_feedback_is_rejected(user: SignedInUser, contact_id: str) -> None:
    send(user, contact_id, {"Idempotency-Key": "k1"})

    response = send(user, contact_id, {"Idempotency-Key": "k1"}, kind="valid")

    assert (response.status_code, response.get_json()["code"]) == (422, "idempotency_key_reused")


def test_an_address_is_compared_in_its_normal_form(user: SignedInUser, contact_id: str) -> None:
    response = send(user, contact_id, email=" Ada@ACME.com ")

    assert (response.status_code, response.get_json()["refunded"]) == (200, 3)


@pytest.mark.parametrize("kind", ["wrong_person", "valid"])
def test_other_kinds_of_feedback_are_stored_without_a_refund(
    user: SignedInUser, contact_id: str, kind: str
) -> None:
    body = send(user, contact_id, kind=kind).get_json()

    assert (body["feedback"]["kind"], body["refunded"], body["refund"]) == (kind, 0, "not_due")
    assert body["credits"]["balance"] == CREDITS - 3


def test_another_workspaces_contact_is_indistinguishable_from_a_missing_one(
    app: APIFlask, user: SignedInUser, contact_id: str
) -> None:
    stranger = create_user(app, email="grace@other.example")

    theirs = send(stranger, contact_id).get_json()
    nobodys = send(stranger, EXAMPLES["con"]).get_json()

    assert (theirs["status"], theirs["code"]) == (404, "contact_not_found")
    assert theirs | {"request_id": ""} == nobodys | {"request_id": ""}
    with user.database.reading() as session:
        assert session.scalars(select(Email.status)).one() == "valid"


def test_an_idempotency_key_of_another_workspace_has_no_effect(
    app: APIFlask, user: SignedInUser, contact_id: str
) -> None:
    send(user, contact_id, {"Idempotency-Key": "k1"})
    stranger = create_user(app, email="grace@other.example")

    response = send(stranger, contact_id, {"Idempotency-Key": "k1"})

    assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")


def test_an_address_of_another_contact_is_not_found(user: SignedInUser, contact_id: str) -> None:
    response = send(user, contact_id, email="bob@acme.com")

    assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"contact_id": None}, "/contact_id"),
        ({"contact_id": ""}, "/contact_id"),
        ({"email": None}, "/email"),
        ({"email": "not an address"}, "/email"),
        ({"kind": None}, "/kind"),
        ({"kind": "soft_bounce"}, "/kind"),
        ({"note": "x"}, "/note"),
    ],
)
def test_an_invalid_field_is_reported_with_a_pointer(
    user: SignedInUser, contact_id: str, changes: dict[str, Any], pointer: str
) -> None:
    response = send(user, contact_id, **changes)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_feedback_needs_the_reveal_scope(user: SignedInUser, contact_id: str) -> None:
    body = {"contact_id": contact_id, "email": ADDRESS, "kind": "bounce"}

    refused = user.client.post(PATH, json=body, headers=bearer(user.make_key(Scope.LOOKUP)))
    response = user.client.post(PATH, json=body, headers=bearer(user.make_key(Scope.REVEAL)))

    assert (refused.status_code, refused.get_json()["code"]) == (403, "insufficient_scope")
    assert response.status_code == 200
