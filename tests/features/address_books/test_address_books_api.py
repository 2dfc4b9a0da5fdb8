"""Address books over the API, with a worker that reads them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from address_book_support import cards
from apiflask import APIFlask
from settings_support import change_settings
from sqlalchemy import func, select
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.engine.audit_log.entries import PendingEntry
from app.engine.work.items import WorkItem
from app.features.address_books import books, work
from app.features.address_books.tables import AddressBookFile, AddressBookKey, AddressBookPerson
from workers.execution.worker_services import WorkerServices

VCARD = "text/vcard"


def send(
    user: SignedInUser, content: bytes, query: str = "name=Contacts.vcf", *, kind: str = VCARD, **headers: str
) -> TestResponse:
    path = f"/api/address-books?{query}"
    return user.client.post(path, data=content, headers=user.headers | headers, content_type=kind)


def replace(user: SignedInUser, book_id: str, content: bytes) -> TestResponse:
    path = f"/api/address-books/{book_id}/file"
    return user.client.put(path, data=content, headers=user.headers, content_type=VCARD)


def get(user: SignedInUser, book_id: str) -> Any:
    return user.client.get(f"/api/address-books/{book_id}", headers=user.headers).json


def read(user: SignedInUser, services: WorkerServices, content: bytes) -> str:
    """Send a file as a new book, and have a worker read it; return the id of the book."""
    book_id: str = send(user, content).json["id"]  # type: ignore[index]
    work.read_address_book(book_id, services)
    return book_id


def names_found(user: SignedInUser, *names: str) -> list[str]:
    """Return which people a lookup finds in an address book, by the address of each name."""
    subjects = [{"email": f"{name}@x.com"} for name in names]
    answer: Any = user.client.post("/api/ext/lookup", json={"subjects": subjects}, headers=user.headers).json
    return [name for name, result in zip(names, answer["results"], strict=True) if result["address_books"]]


def rows(user: SignedInUser) -> list[int]:
    """Return how many people, keys, files and items of work are stored."""
    tables = (AddressBookPerson, AddressBookKey, AddressBookFile, WorkItem)
    with user.database.reading() as session:
        return [session.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


def actions(user: SignedInUser) -> list[str]:
    with user.database.reading() as session:
        found = session.scalars(select(PendingEntry.action).order_by(PendingEntry.id))
        return [action for action in found if action.startswith("address_book.")]


def test_a_file_is_sent_read_listed_and_deleted(user: SignedInUser, services: WorkerServices) -> None:
    sent: Any = send(user, cards("Ada Ray", "Bob Ray") + b"BEGIN:VCARD\nEND:VCARD").json
    before = names_found(user, "ada")
    work.read_address_book(sent["id"], services)
    listed: Any = user.client.get("/api/address-books", headers=user.headers).json
    found, stored = names_found(user, "ada", "eve"), rows(user)

    deleted = user.client.delete(f"/api/address-books/{sent['id']}", headers=user.headers)

    assert (sent["title"], sent["status"], sent["people"], before) == ("Contacts", "reading", 0, [])
    assert [(book["status"], book["people"], book["left_out"]) for book in listed["address_books"]] == [
        ("ready", 2, 1)
    ]
    assert (found, stored) == (["ada"], [2, 4, 0, 0])
    assert (deleted.status_code, rows(user)) == (204, [0, 0, 0, 0])
    assert actions(user) == ["address_book.create", "address_book.delete"]


def test_a_file_that_was_sent_before_changes_nothing(user: SignedInUser, services: WorkerServices) -> None:
    book_id = read(user, services, cards("Ada Ray"))
    stored = rows(user)

    again = send(user, cards("Ada Ray"), "name=Copy.vcf")
    replaced = replace(user, book_id, cards("Ada Ray"))

    assert [(answer.status_code, answer.json["id"]) for answer in (again, replaced)] == [(200, book_id)] * 2  # type: ignore[index]
    assert (rows(user), actions(user)) == (stored, ["address_book.create"])


def test_the_same_file_with_another_country_is_read_again(
    user: SignedInUser, services: WorkerServices
) -> None:
    content = b"BEGIN:VCARD\nFN:Ada Ray\nTEL:020 7946 0123\nEND:VCARD"
    first = read(user, services, content)

    second: Any = send(user, content, "country=GB&title=British").json
    work.read_address_book(second["id"], services)

    assert (get(user, first)["people"], get(user, second["id"])["people"]) == (0, 1)
    assert second["title"] == "British"


def test_a_newer_file_takes_the_place_of_the_one_before_once_it_is_read(
    user: SignedInUser, services: WorkerServices
) -> None:
    book_id = read(user, services, cards("Ada Ray", "Bob Ray"))
    sent: Any = replace(user, book_id, cards("Bob Ray", "Eve Ray")).json
    meanwhile = names_found(user, "ada", "bob", "eve")

    work.read_address_book(book_id, services)

    assert (sent["status"], sent["people"], meanwhile) == ("reading", 2, ["ada", "bob"])
    assert names_found(user, "ada", "bob", "eve") == ["bob", "eve"]
    assert (rows(user), get(user, book_id)["people"]) == ([2, 4, 0, 0], 2)
    assert actions(user) == ["address_book.create", "address_book.replace"]


def test_a_newer_file_that_cannot_be_read_leaves_the_people_of_the_one_before(
    user: SignedInUser, services: WorkerServices
) -> None:
    book_id = read(user, services, cards("Ada Ray"))
    replace(user, book_id, b"\x89PNG")
    work.read_address_book(book_id, services)
    failed = get(user, book_id)

    sent = send(user, b"\x89PNG")

    assert (failed["status"], failed["detail"][:17]) == ("failed", "This is a picture")
    assert (names_found(user, "ada"), rows(user)[0]) == (["ada"], 1)
    assert sent.status_code == 201  # it may be sent again, for instance after a fix of the service


def test_a_file_of_another_book_is_refused(user: SignedInUser, services: WorkerServices) -> None:
    read(user, services, cards("Ada Ray"))
    other: Any = send(user, cards("Bob Ray"), "title=Other").json

    refused: Any = replace(user, other["id"], cards("Ada Ray")).json

    assert (refused["code"], refused["errors"][0]["pointer"]) == ("validation_error", "/file")
    assert "This file is the address book 'Contacts'" in refused["detail"]


def test_a_file_that_is_replaced_while_it_is_read_is_forgotten(
    user: SignedInUser, services: WorkerServices
) -> None:
    sent: Any = send(user, cards("Ada Ray")).json

    replace(user, sent["id"], cards("Bob Ray"))
    work.read_address_book(sent["id"], services)

    assert (names_found(user, "ada", "bob"), rows(user)) == (["bob"], [1, 2, 0, 0])


def test_a_replay_with_the_same_key_returns_the_first_book(user: SignedInUser) -> None:
    key = {"Idempotency-Key": "one"}
    first = send(user, cards("Ada Ray"), **key)

    replay = send(user, cards("Ada Ray"), **key)
    other = send(user, cards("Bob Ray"), **key)

    assert (replay.status_code, replay.json["id"]) == (200, first.json["id"])  # type: ignore[index]
    assert replay.headers["Idempotent-Replay"] == "true"
    assert other.json["code"] == "idempotency_key_reused"  # type: ignore[index]


def test_a_file_may_be_a_part_of_a_form(user: SignedInUser) -> None:
    form = {"file": (io.BytesIO(cards("Ada Ray")), "exports/My contacts.vcf")}

    response = user.client.post("/api/address-books", data=form, headers=user.headers)

    assert (response.status_code, response.json["title"]) == (201, "My contacts")  # type: ignore[index]


@pytest.mark.parametrize(
    ("content", "kind", "status", "detail"),
    [
        (b"", VCARD, 422, "Choose a vCard or CSV file of contacts; it is the part 'file' of the form."),
        (
            b"{}",
            "application/json",
            415,
            "Send the file as text/vcard, text/x-vcard, text/directory, text/csv, or as",
        ),
        (b"A" * (2 << 20), VCARD, 413, "Send a file of at most 1 MB; split a longer list into several."),
    ],
)
def test_a_body_that_is_not_a_file_is_refused(  # noqa: PLR0917 -- fixtures and parameters
    app: APIFlask, user: SignedInUser, content: bytes, kind: str, status: int, detail: str
) -> None:
    change_settings(app, upload_max_mb=1)

    refused = send(user, content, kind=kind)

    assert (refused.status_code, refused.content_type) == (status, "application/problem+json")
    assert refused.json["detail"].startswith(detail)  # type: ignore[index]


@pytest.mark.parametrize("query", ["country=Atlantis", "title=%20", f"title={'a' * 101}"])
def test_what_is_said_of_a_file_is_checked(user: SignedInUser, query: str) -> None:
    assert send(user, cards("Ada Ray"), query).status_code == 422


def test_a_workspace_has_a_limited_number_of_books(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "MAX_BOOKS", 1)
    send(user, cards("Ada Ray"))

    refused: Any = send(user, cards("Bob Ray")).json

    assert refused["errors"][0]["detail"].startswith("The workspace has 1 address books. Delete one")


@pytest.mark.parametrize("book_id", ["adb_000000000000000000000000", "adb", "lst_000000000000000000000000"])
def test_an_unknown_book_is_not_found(user: SignedInUser, book_id: str) -> None:
    path = f"/api/address-books/{book_id}"

    answers = [
        user.client.get(path, headers=user.headers),
        user.client.delete(path, headers=user.headers),
        replace(user, book_id, cards("Ada Ray")),
    ]

    assert [answer.json["code"] for answer in answers] == ["not_found"] * 3  # type: ignore[index]
