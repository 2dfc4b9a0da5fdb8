"""Tests of CRM connections and pushes over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import update
from stored_support import a_company, a_contact, an_email, own
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.domain.ids import new_id
from app.engine.accounts.accounts import Account, Role
from app.engine.contacts.saved import contact_lists
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.features.crm import connections
from app.features.crm.connections import CrmConnection
from app.features.crm.index import crm_index
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.index.readings import CrmReading
from app.features.crm.pushes import PushItem
from app.infra import clock

TOKEN = "pat-eu1-0123456789"
PROFILE = "https://www.linkedin.com/in/ada-lovelace"
HUBSPOT = {"vendor": "hubspot", "token": TOKEN}


@pytest.fixture
def admin(app: APIFlask) -> SignedInUser:
    user = create_user(app)
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return user


def post(user: SignedInUser, path: str, body: dict[str, Any], **headers: str) -> TestResponse:
    return user.client.post(f"/api/crm/{path}", json=body, headers=user.headers | headers)


def get(user: SignedInUser, path: str) -> Any:
    return user.client.get(f"/api/crm/{path}", headers=user.headers).get_json()


def connected(user: SignedInUser, **changes: Any) -> str:
    return str(post(user, "connections", HUBSPOT | changes).get_json()["connection"]["id"])


def owned_contact(user: SignedInUser) -> str:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=PROFILE)
        an_email(session, contact, "ada@acme.com")
        own(session, user.workspace_id, contact, "email")
        return contact.id


def saved_in(user: SignedInUser, list_name: str) -> None:
    with user.database.transaction() as session:
        now = clock.now()
        profile = SavedProfile(
            id=new_id("prf"),
            workspace_id=user.workspace_id,
            linkedin_url=PROFILE,
            tags=[],
            captured={},
            created_at=now,
            updated_at=now,
        )
        session.add(profile)
        session.flush()
        named, _ = contact_lists.ensure(session, user.workspace_id, list_name, now=now)
        contact_lists.add_members(session, named.id, [profile.id], now=now)


def pointers(response: TestResponse) -> list[str]:
    assert response.status_code == 422, response.data
    return [error["pointer"] for error in response.get_json()["errors"]]


def test_a_connection_never_shows_its_token(admin: SignedInUser) -> None:
    created = post(admin, "connections", HUBSPOT)

    listed = get(admin, "connections")

    assert created.status_code == 201
    assert listed["connections"][0]["status"] == "checking"
    assert listed["connections"][0]["mapping"]["title"] == "jobtitle"
    assert TOKEN not in f"{created.data!r}{listed}"


def test_a_member_cannot_connect_a_crm(admin: SignedInUser) -> None:
    response = post(admin.colleague(), "connections", HUBSPOT)

    assert (response.status_code, response.get_json()["code"]) == (403, "admin_required")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"vendor": "sugarcrm"}, "/vendor"),
        ({"vendor": "salesforce"}, "/vendor"),
        ({"vendor": "twenty"}, "/base_url"),
        ({"base_url": "https://hubspot.example"}, "/base_url"),
        ({"vendor": "twenty", "base_url": "https://10.0.0.1"}, "/base_url"),
        ({"vendor": "twenty", "base_url": "http://crm.acme.com"}, "/base_url"),
        ({"vendor": "twenty", "base_url": "https://crm.acme.com/?a=b"}, "/base_url"),
        ({"mapping": {"email": "email", "title": "Id FROM Account--"}}, "/mapping"),
        ({"mapping": {"email": "email", "title": "email"}}, "/mapping"),
        ({"mapping": {"title": "jobtitle"}}, "/mapping"),
    ],
)
def test_an_invalid_connection_is_refused(admin: SignedInUser, changes: dict[str, Any], pointer: str) -> None:
    assert pointers(post(admin, "connections", HUBSPOT | changes)) == [pointer]


def test_a_workspace_has_a_limited_number_of_connections(
    admin: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    connection_id = connected(admin)
    refused = post(admin, "connections", HUBSPOT)
    admin.client.delete(f"/api/crm/connections/{connection_id}", headers=admin.headers)

    accepted = post(admin, "connections", HUBSPOT)

    assert (pointers(refused), accepted.status_code) == (["/vendor"], 201)


def test_the_mapping_can_be_changed(admin: SignedInUser) -> None:
    connection_id = connected(admin)
    chosen = {"email": "email", "title": "custom_title"}

    response = post(admin, f"connections/{connection_id}", {"mapping": chosen})

    assert response.get_json()["connection"]["mapping"] == chosen


@pytest.mark.parametrize("chosen", [{"title": "jobtitle"}, {"email": "email", "title": "email"}])
def test_an_invalid_mapping_changes_nothing(admin: SignedInUser, chosen: dict[str, str]) -> None:
    connection_id = connected(admin)
    before = admin.client.get("/api/crm/connections", headers=admin.headers).get_json()

    refused = post(admin, f"connections/{connection_id}", {"mapping": chosen})

    assert pointers(refused) == ["/mapping"]
    assert admin.client.get("/api/crm/connections", headers=admin.headers).get_json() == before


def test_a_base_url_with_a_query_and_a_push_of_nothing_are_refused(admin: SignedInUser) -> None:
    nothing = post(admin, "pushes", {"connection_id": connected(admin)})
    query = post(
        admin, "connections", {**HUBSPOT, "vendor": "twenty", "base_url": "https://crm.example.com/a?b=c"}
    )

    assert pointers(nothing) == ["/contact_ids"]
    assert pointers(query) == ["/base_url"]


def test_a_push_is_accepted_and_can_be_read(admin: SignedInUser) -> None:
    connection_id, contact_id = connected(admin), owned_contact(admin)

    response = post(admin, "pushes", {"connection_id": connection_id, "contact_ids": [contact_id]})

    push = response.get_json()["push"]
    shown = get(admin, f"pushes/{push['id']}")
    [listed] = get(admin, f"pushes?contact_id={contact_id}")["pushes"]
    assert (response.status_code, push["status"]) == (202, "waiting")
    assert push["progress"] == {"done": 0, "total": 1}
    assert [(item["contact_id"], item["outcome"]) for item in shown["items"]] == [(contact_id, None)]
    assert listed == push


def test_a_receipt_has_notes_and_sentences(admin: SignedInUser) -> None:
    connection_id, contact_id = connected(admin), owned_contact(admin)
    push = post(admin, "pushes", {"connection_id": connection_id, "contact_ids": [contact_id]}).get_json()
    notes = [
        {"code": "property_refused", "property": "jobtitle", "reason": "too_long"},
        {"code": "existing_lead"},
    ]
    with admin.database.transaction() as session:
        session.execute(
            update(PushItem).values(outcome="failed", error="invalid_values: email, phone", notes=notes)
        )

    [item] = get(admin, f"pushes/{push['push']['id']}")["items"]

    assert item["error_message"] == "The CRM refused the values: email, phone."
    assert [(note["property"], note["reason"]) for note in item["notes"]] == [
        ("jobtitle", "too_long"),
        (None, None),
    ]
    assert "it is too long" in item["notes"][0]["message"]
    assert "The lead was updated" in item["notes"][1]["message"]


def test_a_connection_says_in_a_sentence_why_it_is_refused(admin: SignedInUser) -> None:
    connected(admin)
    with admin.database.transaction() as session:
        session.execute(update(CrmConnection).values(status="reconnect", error="other_account"))

    [connection] = get(admin, "connections")["connections"]

    assert "another account of the CRM" in connection["error_message"]


def test_a_list_is_pushed(admin: SignedInUser) -> None:
    connection_id, _ = connected(admin), owned_contact(admin)
    saved_in(admin, "Q4")

    response = post(admin, "pushes", {"connection_id": connection_id, "list": "Q4"})

    assert response.get_json()["push"]["progress"]["total"] == 1
    assert pointers(post(admin, "pushes", {"connection_id": connection_id, "list": "Q5"})) == ["/list"]


def test_a_replay_with_the_same_key_makes_one_push(admin: SignedInUser) -> None:
    body = {"connection_id": connected(admin), "contact_ids": [owned_contact(admin)]}

    first, second = (post(admin, "pushes", body, **{"Idempotency-Key": "one click"}) for _ in range(2))

    assert first.get_json()["push"]["id"] == second.get_json()["push"]["id"]
    assert second.headers["Idempotent-Replay"] == "true"
    assert len(get(admin, "pushes")["pushes"]) == 1


def test_a_contact_that_is_neither_revealed_nor_saved_looks_like_a_missing_one(
    app: APIFlask, admin: SignedInUser
) -> None:
    stranger = create_user(app, email="eve@babbage.example")
    theirs, connection_id = owned_contact(stranger), connected(admin)

    foreign, unknown = (
        post(
            admin,
            "pushes",
            {"connection_id": connection_id, "contact_ids": [contact_id]},
            **{"X-Request-Id": "same"},
        )
        for contact_id in (theirs, new_id("con"))
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.data == unknown.data


def test_another_workspace_sees_neither_connections_nor_pushes(app: APIFlask, admin: SignedInUser) -> None:
    body = {"connection_id": connected(admin), "contact_ids": [owned_contact(admin)]}
    push_id = post(admin, "pushes", body).get_json()["push"]["id"]
    stranger = create_user(app, email="eve@babbage.example")

    assert get(stranger, "connections") == {"connections": []}
    assert get(stranger, "pushes")["pushes"] == []
    assert get(stranger, f"pushes/{push_id}")["code"] == "not_found"
    assert post(stranger, "pushes", body).status_code == 404


def test_a_replay_makes_one_connection(admin: SignedInUser) -> None:
    key = {"Idempotency-Key": "one click"}

    first, replay = (post(admin, "connections", HUBSPOT, **key) for _ in range(2))

    assert (first.status_code, replay.status_code) == (201, 200)
    assert replay.headers["Idempotent-Replay"] == "true"
    assert first.get_json() == replay.get_json()
    assert len(get(admin, "connections")["connections"]) == 1
    other = post(admin, "connections", HUBSPOT | {"token": TOKEN + "x"}, **key)
    assert other.get_json()["code"] == "idempotency_key_reused"


def test_a_replayed_change_does_not_undo_a_later_one(admin: SignedInUser) -> None:
    path = f"connections/{connected(admin)}"
    key = {"Idempotency-Key": "one click"}
    post(admin, path, {"mapping": {"email": "email"}}, **key)
    later = post(admin, path, {"mapping": {"email": "email", "phone": "phone"}}).get_json()

    replay = post(admin, path, {"mapping": {"email": "email"}}, **key)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert replay.get_json()["connection"]["mapping"] == later["connection"]["mapping"]


def a_reading(user: SignedInUser, connection_id: str, **values: Any) -> None:
    with user.database.transaction() as session:
        known = {
            "is_full": True,
            "read": 0,
            "records": 0,
            "notes": [],
            "stages": [],
            "started_at": clock.now(),
        }
        session.add(CrmReading(connection_id=connection_id, workspace_id=user.workspace_id, **known | values))


def test_a_reading_that_nothing_stops_has_no_error(admin: SignedInUser) -> None:
    a_reading(admin, connected(admin), started_at=None, finished_at=clock.now())

    [connection] = get(admin, "connections")["connections"]

    assert connection["reading"]["read_at"] is not None
    assert not connection["reading"]["in_progress"]
    assert connection["reading"]["error_message"] is None


def test_a_connection_says_how_far_its_crm_has_been_read(admin: SignedInUser) -> None:
    connection_id = connected(admin)
    unread = get(admin, "connections")["connections"][0]["reading"]
    a_reading(
        admin, connection_id, records=12, error="http_400", notes=["leads_unreadable"], stages=["customer"]
    )

    [connection] = get(admin, "connections")["connections"]
    checked = post(admin, f"connections/{connection_id}", {}).get_json()["connection"]

    assert unread is None
    assert connection["reading"] == checked["reading"]
    assert connection["reading"] == {
        "records": 12,
        "read_at": None,
        "stages": ["customer"],
        "in_progress": True,
        "error": "http_400",
        "error_message": "The CRM answers 400; it is tried again within an hour.",
        "notes": [
            {
                "code": "leads_unreadable",
                "message": "The credentials may not read leads: they are left out. "
                "Give them the permission in the CRM.",
            }
        ],
    }


def test_a_crm_is_disconnected_with_its_people_and_without_those_of_another(admin: SignedInUser) -> None:
    kept, deleted = connected(admin), connected(admin)
    people = [CrmPerson(crm_id=str(number), kind=RecordKind.CONTACT) for number in range(5)]
    with admin.database.transaction() as session:
        for connection_id in (kept, deleted):
            connection = session.get_one(CrmConnection, connection_id)
            crm_index.store(session, connection, people, now=clock.now())

    response = admin.client.delete(f"/api/crm/connections/{deleted}", headers=admin.headers)

    assert response.status_code == 204
    with admin.database.reading() as session:
        assert [crm_index.size(session, one) for one in (kept, deleted)] == [5, 0]
