from __future__ import annotations

import base64
import csv
import io
import json
from contextlib import nullcontext
from operator import itemgetter
from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import delete
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own, suppress
from users_support import SignedInUser, bearer, create_user

from app.domain.callers import Scope
from app.domain.ids import EXAMPLES
from app.domain.lists.headers.column_mapping import Entity
from app.domain.normal.names.name_keys import name_key
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.lists import exports, importer
from app.engine.lists.importer import ImportOptions
from app.web.owned import owned_pages

NAMES = ["Ada Lovelace", "Bob Ray", "Cleo Clarke"]


def reveal(user: SignedInUser, name: str, **changes: Any) -> Contact:
    """Store a contact of which the workspace owns the e-mail and the phone."""
    first, last = name_key(name).split()
    with user.database.transaction() as session:
        company = a_company(session, name=f"{first} & Co", domain=f"{first}.example")
        contact = a_contact(session, company, name, **changes)
        an_email(session, contact, f"{first}.{last}@{first}.example")
        a_phone(session, contact, f"+1202555{1000 + sum(map(ord, name)) % 9000}")
        for field in ("email", "phone"):
            own(session, user.workspace_id, contact, field)
        return contact


def get(user: SignedInUser, path: str = "/api/contacts", **headers: str) -> Any:
    response = user.client.get(path, headers=headers or user.headers)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def test_three_reveals_are_three_rows_and_another_workspace_sees_none(
    app: APIFlask, user: SignedInUser
) -> None:
    contacts = [reveal(user, name) for name in NAMES]
    stranger = create_user(app, email="eve@babbage.example")

    mine, theirs = get(user), get(stranger)

    assert {row["id"] for row in mine["contacts"]} == {contact.id for contact in contacts}
    assert theirs == {"contacts": [], "next_cursor": None}


def test_a_row_has_the_values_that_a_lookup_reveals(user: SignedInUser) -> None:
    contact = reveal(user, "Ada Lovelace", linkedin_url=ADA_URL)
    lookup = user.client.post(
        "/api/ext/lookup", json={"subject": {"contact_id": contact.id}}, headers=user.headers
    ).get_json()

    (row,) = get(user)["contacts"]

    assert row["revealed"] == lookup["revealed"]
    assert row["revealed"]["emails"][0]["sources"]
    assert (row["full_name"], row["linkedin_url"], row["job_change"]) == ("Ada Lovelace", ADA_URL, None)


def test_a_key_without_the_scope_reveal_sees_no_values(user: SignedInUser) -> None:
    contact = reveal(user, "Ada Lovelace")
    headers = bearer(user.make_key(Scope.LOOKUP))

    (row,) = get(user, **headers)["contacts"]
    file = user.client.get("/api/contacts?format=csv", headers=headers).text

    assert row["revealed"] is None
    assert contact.id in file
    assert "@" not in file


def test_pages_follow_the_cursor(user: SignedInUser) -> None:
    for name in NAMES:
        reveal(user, name)

    found, path = [], "/api/contacts?sort=name&limit=2"
    page = get(user, path)
    found += page["contacts"]
    page = get(user, f"{path}&cursor={page['next_cursor']}")
    found += page["contacts"]

    assert [row["full_name"] for row in found] == NAMES
    assert page["next_cursor"] is None


def cursor_at(key: str) -> str:
    """Return a cursor that the server never returned."""
    raw = json.dumps(["revealed_at", "desc", key, f"con_{'0' * 24}"]).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("cursor=x", "/cursor"),
        ("limit=101", "/limit"),
        ("sort=shoe_size", "/sort"),
        ("status=nice", "/status"),
        ("revealed_since=yesterday", "/revealed_since"),
        ("revealed_since=9999-12-31T23:59:59-23:59", "/revealed_since"),
        (f"cursor={cursor_at('0001-01-01T00:00:00+14:00')}", "/cursor"),
        (f"cursor={cursor_at('2026-01-01T00:00:00')}", "/cursor"),
        ("format=pdf", "/format"),
    ],
)
def test_an_invalid_query_is_reported_with_a_pointer(user: SignedInUser, query: str, pointer: str) -> None:
    response = user.client.get(f"/api/contacts?{query}", headers=user.headers)

    assert response.status_code == 422
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]


def test_me_is_the_account_of_the_caller(user: SignedInUser) -> None:
    colleague = user.colleague()
    user.client.post(
        "/api/ext/linkedin-save", json={"profile": {"linkedin_url": ADA_URL}}, headers=user.headers
    )

    mine, theirs = (get(each, "/api/contacts?owner=me", **each.headers) for each in (user, colleague))

    assert [row["owner"]["name"] for row in mine["contacts"]] == ["Ada Lovelace"]
    assert theirs["contacts"] == []


def test_tags_and_a_note_are_replaced_and_null_removes_them(user: SignedInUser) -> None:
    path = f"/api/contacts/{reveal(user, 'Ada Lovelace').id}"
    first = user.client.post(path, json={"tags": ["a", "b", "a"], "note": "hi"}, headers=user.headers)

    second = user.client.post(path, json={"note": None}, headers=user.headers)

    assert first.get_json()["saved"]["tags"] == second.get_json()["saved"]["tags"] == ["a", "b"]
    assert (first.get_json()["saved"]["note"], second.get_json()["saved"]["note"]) == ("hi", None)


def test_a_replayed_note_does_not_undo_a_later_one(user: SignedInUser) -> None:
    path = f"/api/contacts/{reveal(user, 'Ada Lovelace').id}"
    key = user.headers | {"Idempotency-Key": "one click"}
    user.client.post(path, json={"note": "first"}, headers=key)
    user.client.post(path, json={"note": "second"}, headers=user.headers)

    replay = user.client.post(path, json={"note": "first"}, headers=key)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert replay.get_json()["saved"]["note"] == "second"


@pytest.mark.parametrize("contact_id", [EXAMPLES["con"], EXAMPLES["prf"], "x"])
def test_an_unknown_person_has_no_notes(user: SignedInUser, contact_id: str) -> None:
    response = user.client.post(f"/api/contacts/{contact_id}", json={"note": "hi"}, headers=user.headers)

    assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")


def test_a_suppressed_person_is_neither_shown_nor_downloaded(user: SignedInUser) -> None:
    contact = reveal(user, "Ada Lovelace")
    with user.database.transaction() as session:
        suppress(session, "email", "ada.lovelace@ada.example")

    responses = [
        user.client.get(path, headers=user.headers)
        for path in ("/api/contacts?format=csv", "/api/contacts?format=json")
    ]

    assert get(user)["contacts"] == []
    assert all("Lovelace" not in response.text for response in responses)
    assert user.client.get(f"/api/contacts/{contact.id}", headers=user.headers).status_code == 404


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_download_has_everybody_who_matches_in_order(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned_pages, "BATCH_SIZE", 1)
    for name in NAMES:
        reveal(user, name)

    by_name = user.client.get("/api/contacts?format=csv&sort=name", headers=user.headers)
    as_json = user.client.get("/api/contacts?format=json&sort=name&q=c", headers=user.headers)

    assert [row["full_name"] for row in rows_of(by_name.text)] == NAMES
    assert by_name.headers["Content-Disposition"].startswith("attachment; filename=contacts-20")
    assert [row["full_name"] for row in json.loads(as_json.data)["contacts"]] == ["Cleo Clarke"]


def test_a_download_of_nobody_is_a_header_or_an_empty_list(user: SignedInUser) -> None:
    as_csv, as_json = (
        user.client.get(f"/api/contacts?format={each}", headers=user.headers) for each in ("csv", "json")
    )

    assert rows_of(as_csv.text) == []
    assert as_json.get_json() == {"contacts": []}


def test_a_formula_in_a_download_is_text(user: SignedInUser) -> None:
    contact = reveal(user, "Ada Lovelace")
    user.client.post(
        f"/api/contacts/{contact.id}", json={"note": '=HYPERLINK("http://x")'}, headers=user.headers
    )

    (row,) = rows_of(user.client.get("/api/contacts?format=csv", headers=user.headers).text)

    assert row["note"] == '\'=HYPERLINK("http://x")'


def stored(user: SignedInUser) -> list[dict[str, str]]:
    """Return all stored contacts as the operator exports them, without the time of their last change."""
    with user.database.reading() as session:
        rows = list(exports.contact_rows(session))
    return sorted(({**row, "updated_at": ""} for row in rows), key=itemgetter("full_name"))


def test_a_download_that_is_imported_into_an_empty_database_gives_the_same_people(user: SignedInUser) -> None:
    for name in ["Ada Lovelace", "José Íñigo", "Cleo Clarke"]:
        url = f"https://www.linkedin.com/in/{name.split()[0].lower()}"
        reveal(user, name, title='VP, "Engines"', linkedin_url=url)
    before = stored(user)
    file = user.client.get("/api/contacts?format=csv", headers=user.headers).data
    with user.database.transaction() as session:
        for table in (Contact, Company):
            session.execute(delete(table))

    importer.run(
        user.database,
        ImportOptions(entity=Entity.CONTACTS, source="download"),
        io.BytesIO(file),
        rejects=lambda _header: nullcontext(lambda _row, _reason: None),
        advance=lambda: None,
    )

    assert stored(user) == before
