"""The page of address books, and what the pages of people say of them."""

from __future__ import annotations

import io

import pytest
from address_book_support import a_book, cards
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import ADA_URL, a_company, a_contact, an_email, own
from users_support import SignedInUser
from worker_harness import deliver, make_services

from app.features.address_books import work
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings


@pytest.fixture
def member(app: APIFlask, user: SignedInUser) -> Visitor:
    return visitor(app, user)


def a_file(content: bytes, name: str = "My contacts.vcf") -> tuple[io.BytesIO, str]:
    return io.BytesIO(content), name


def book_ids(user: SignedInUser) -> list[str]:
    books = user.client.get("/api/address-books", headers=user.headers).get_json()["address_books"]
    return [book["id"] for book in books]


def test_a_member_adds_replaces_and_deletes_an_address_book(
    member: Visitor, user: SignedInUser, settings: Settings, database: Database
) -> None:
    empty = member.open("/address-books").text
    added = member.send("/address-books", file=a_file(cards("Ada Ray"))).text
    again = member.send("/address-books", file=a_file(cards("Ada Ray"))).text
    (book_id,) = book_ids(user)
    work.read_address_book(book_id, make_services(settings, database))
    read = member.open("/address-books").text
    same = member.send(f"/address-books/{book_id}/file", file=a_file(cards("Ada Ray"))).text
    replaced = member.send(f"/address-books/{book_id}/file", file=a_file(b"\x89PNG")).text
    work.read_address_book(book_id, make_services(settings, database))
    failed = member.open("/address-books").text
    deleted = member.send(f"/address-books/{book_id}/delete").text

    assert "No address books yet" in empty
    assert "The file is being read." in added
    assert "This file is an address book of yours already." in again
    assert '<th scope="row" dir="auto">My contacts</th>' in read
    assert "Ready" in read
    assert "The address book has this file already." in same
    assert "The file is being read." in replaced
    assert "This is a picture" in failed
    assert "The address book is deleted." in deleted


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"country": "Atlantis"}, "country"),
        ({"file": a_file(b"")}, "This file is empty. Choose another one."),
    ],
)
def test_what_cannot_be_added_is_explained(member: Visitor, fields: dict[str, object], message: str) -> None:
    page = member.send("/address-books", **({"file": a_file(cards("Ada Ray"))} | fields))

    assert page.status_code == 422
    assert message in page.text


@pytest.mark.parametrize("fields", [{"file": a_file(b"")}, {"country": "Atlantis"}])
def test_what_cannot_replace_a_file_is_explained(
    member: Visitor, user: SignedInUser, fields: dict[str, object]
) -> None:
    member.send("/address-books", file=a_file(cards("Ada Ray")))
    (book_id,) = book_ids(user)

    page = member.send(f"/address-books/{book_id}/file", **({"file": a_file(cards("Bob Ray"))} | fields))

    assert page.status_code == 422


def test_search_and_the_page_of_a_contact_say_who_is_in_an_address_book(
    member: Visitor, user: SignedInUser
) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
        own(session, user.workspace_id, contact, "email")
        contact_id = contact.id
        a_book(session, user.workspace_id, {"profiles": [ADA_URL], "emails": ["ada@home.example"]})

    pages = [member.send("/", linkedin_url=ADA_URL).text, member.open(f"/contacts/{contact_id}").text]

    line = "<strong>In your address book</strong> Contacts · has e-mail: ada@home.example"
    assert [line in page for page in pages] == [True, True]


def test_a_receipt_names_an_address_book_and_not_its_id(
    member: Visitor, user: SignedInUser, settings: Settings, database: Database
) -> None:
    with user.database.transaction() as session:
        ada = {"profiles": [ADA_URL], "phones": ["+447400123456"], "changed_at": clock.now()}
        book_id = a_book(session, user.workspace_id, ada).id
    body = {"subject": {"linkedin_url": ADA_URL}}
    headers = user.headers | {"Prefer": "respond-async"}
    job_id = user.client.post("/api/ext/reveal/phone", json=body, headers=headers).get_json()["job"]["id"]
    deliver(make_services(settings, database), job_id)

    receipt = member.open(f"/history/{job_id}").text

    assert '<th scope="row">address book' in receipt
    assert "From address book, last seen" in receipt
    assert book_id not in receipt
