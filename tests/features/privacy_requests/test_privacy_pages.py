"""/privacy, with a real mail server on loopback: the walk of a person, and what a stranger learns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from apiflask import APIFlask
from inbox_support import Inbox, running_inbox
from jobs_support import a_workspace
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import event, select, update
from stored_support import ADA_URL, NOW, a_company, a_contact, a_phone, an_email, own
from worker_harness import make_services

from app.engine.audit_log.entries import PendingEntry
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.events import events
from app.engine.privacy import erased_people
from app.features.privacy_requests import mailbox_proofs, pages
from app.features.privacy_requests.mailbox_codes import MailboxCode
from app.features.privacy_requests.mailbox_proofs import MailboxProof
from app.features.privacy_requests.work import mail_code
from app.infra.database.db import Database
from app.server.bulkhead import MAX_ACTIVE
from app.web import admission

ADDRESS = "ada@acme.com"


@dataclass
class Person:
    """Somebody with a browser and a mailbox."""

    app: APIFlask
    browser: Visitor
    inbox: Inbox
    database: Database
    contact_id: str
    workspace_id: str

    def deliver(self) -> None:
        """Send the codes that are due, as the workers do."""
        services = make_services(self.app.extensions["services"].settings, self.database)
        with self.database.reading() as session:
            due = list(session.scalars(select(MailboxCode.id).where(MailboxCode.sent_at.is_(None))))
        for code_id in due:
            mail_code(code_id, services)

    def prove(self, address: str = ADDRESS) -> str:
        """Ask for a code, enter it, and return the page behind it."""
        self.browser.send("/privacy", email=address)
        self.deliver()
        return self.browser.send("/privacy/code", code=self.inbox.code()).text


@pytest.fixture
def ada(app: APIFlask, database: Database) -> Iterator[Person]:
    with database.transaction() as session:
        company = a_company(session)
        contact = a_contact(session, company, linkedin_url=ADA_URL, title="Engineer")
        an_email(session, contact, ADDRESS)
        an_email(session, contact, "wrong@other.com")
        a_phone(session, contact, "+16175550155")
        workspace_id = a_workspace(session)
        own(session, workspace_id, contact, "email", "due_diligence")
        contact_id = contact.id
    with running_inbox() as inbox:
        change_settings(app, smtp_url=inbox.url, mail_from="privacy@lookup.example")
        yield Person(app, visitor(app), inbox, database, contact_id, workspace_id)


def test_who_proves_a_mailbox_sees_every_value_with_its_source_and_who_received_it(ada: Person) -> None:
    page = ada.prove()

    assert str(ada.inbox.messages[0]["To"]) == ADDRESS
    for text in (
        ADDRESS,
        "Ada Lovelace",
        "Engineer",
        "Acme Engines",
        "+16175550155",
        "list",
        ">Acme<",
        "e-mail addresses, revealed; may be in its exports",
        "Purpose: due diligence",
    ):
        assert text in page


def test_a_value_of_a_website_is_shown_with_its_page(ada: Person) -> None:
    with ada.database.transaction() as session:
        row = session.scalars(select(Email).where(Email.domain == "acme.com")).one()
        row.sources = [row.sources[0] | {"provider": "website", "url": "https://acme.com/team"}]

    page = ada.prove()
    download = ada.browser.open("/privacy/data.json").text

    assert "https://acme.com/team" in page
    assert "https://acme.com/team" in download


def test_the_data_can_be_downloaded(ada: Person) -> None:
    ada.prove()

    response = ada.browser.open("/privacy/data.json")

    document = json.loads(response.text)
    assert response.headers["Content-Disposition"] == "attachment; filename=my-data.json"
    assert [(row["workspace"], row["purpose"]) for row in document["recipients"]] == [
        ("Acme", "due_diligence")
    ]
    assert [row["email"] for row in document["contacts"][0]["emails"]] == [ADDRESS, "wrong@other.com"]


def test_a_correction_stays_and_the_recipients_are_notified(ada: Person) -> None:
    ada.prove()

    page = ada.browser.send(
        "/privacy/rectify",
        contact_id=ada.contact_id,
        full_name="Ada King",
        title="Countess",
        city="London",
        country="United Kingdom",
        no_company="1",
        wrong=["wrong@other.com", ADDRESS, "+16175550155"],
    ).text

    assert "Your data was corrected" in page
    for gone in ("wrong@other.com", "+16175550155", "Acme Engines", "Engineer"):
        assert gone not in page
    assert ADDRESS in page
    with ada.database.reading() as session:
        contact = session.get_one(Contact, ada.contact_id)
        [notice] = events.latest(session, ada.workspace_id, limit=5)
    assert (contact.full_name, contact.title, contact.country, contact.company_id) == (
        "Ada King", "Countess", "GB", None,
    )  # fmt: skip
    assert notice.type == "person.rectified"
    assert notice.data["contact_id"] == ada.contact_id
    assert "Ada" not in json.dumps(notice.data)


def test_an_invalid_correction_is_refused_with_the_reason(ada: Person) -> None:
    ada.prove()

    response = ada.browser.send(
        "/privacy/rectify", contact_id=ada.contact_id, full_name="Ada", country="Nowhere"
    )

    assert response.status_code == 422
    assert "two letters of a country" in response.text


@pytest.mark.parametrize("name", ["Bob Ray", "1815", "Ada Lovelace Bob Ray", 'Ada "Bob" Ray'])
def test_nobody_takes_the_name_of_somebody_else(ada: Person, name: str) -> None:
    ada.prove()

    response = ada.browser.send("/privacy/rectify", contact_id=ada.contact_id, full_name=name)

    assert response.status_code == 422
    assert "not a form of the stored name" in response.text
    with ada.database.reading() as session:
        assert session.get_one(Contact, ada.contact_id).full_name == "Ada Lovelace"


def test_several_corrections_do_not_make_the_name_of_somebody_else(ada: Person) -> None:
    ada.prove()

    names = ("Ada Charles", "Charles", "Charles Babbage", "Ada King")
    statuses = [
        ada.browser.send("/privacy/rectify", contact_id=ada.contact_id, full_name=name).status_code
        for name in names
    ]

    assert statuses == [200, 422, 422, 200]
    values = json.loads(ada.browser.open("/privacy/data.json").text)["contacts"][0]["values"]
    [name] = [value for value in values if value["field"] == "full_name"]
    assert (name["value"], name["corrected_from"]) == ("Ada King", "Ada Lovelace")


def test_a_contact_without_a_name_is_corrected_but_not_named(ada: Person) -> None:
    with ada.database.transaction() as session:
        session.execute(update(Contact).values(full_name=None, first_name=None, last_name=None))
    ada.prove()

    named = ada.browser.send("/privacy/rectify", contact_id=ada.contact_id, full_name="Bob Ray")
    corrected = ada.browser.send("/privacy/rectify", contact_id=ada.contact_id, full_name="", title="Poet")

    assert named.status_code == 422
    assert "Your data was corrected" in corrected.text
    with ada.database.reading() as session:
        contact = session.get_one(Contact, ada.contact_id)
        assert (contact.full_name, contact.title) == (None, "Poet")


def test_nobody_corrects_the_contact_of_somebody_else(ada: Person) -> None:
    with ada.database.transaction() as session:
        other = a_contact(session, None, "Bob Ray").id
    ada.prove()

    page = ada.browser.send("/privacy/rectify", contact_id=other, full_name="Eve").text

    assert "Nothing changed" in page


def test_an_erasure_needs_a_confirmation_and_ends_the_access(ada: Person) -> None:
    ada.prove()
    refused = ada.browser.send("/privacy/erase")

    page = ada.browser.send("/privacy/erase", confirm="1").text

    assert (refused.status_code, "Confirm that" in refused.text) == (422, True)
    assert "Your data was erased" in page
    assert "<li>Acme</li>" in page
    assert "Ask for a code first" in ada.browser.open("/privacy/data", follow_redirects=True).text
    with ada.database.reading() as session:
        assert session.scalars(select(Contact.id)).all() == []
        [notice] = events.latest(session, ada.workspace_id, limit=5)
    assert (notice.type, notice.data) == ("person.erased", {"contact_id": ada.contact_id})


@pytest.mark.parametrize("doubt", ["role", "shared", "bounced", "guessed"])
def test_an_address_that_does_not_identify_a_person_shows_and_deletes_only_itself(
    ada: Person, doubt: str
) -> None:
    address = "info@acme.com" if doubt == "role" else "shared@acme.com"
    with ada.database.transaction() as session:
        contact = session.get_one(Contact, ada.contact_id)
        row = an_email(session, contact, address, status="invalid" if doubt == "bounced" else "valid")
        if doubt == "guessed":
            row.sources = [row.sources[0] | {"kind": "pattern"}]
        if doubt == "shared":
            an_email(session, a_contact(session, None, "Bob Ray"), address)

    page = ada.prove(address)
    download = ada.browser.open("/privacy/data.json").text
    ada.browser.send("/privacy/erase", confirm="1")

    for text in (page, download):
        assert "Lovelace" not in text
        assert ADDRESS not in text
    assert "does not show who you are" in page
    with ada.database.reading() as session:
        assert session.get(Contact, ada.contact_id) is not None
        assert address not in {row.email for row in session.scalars(select(Email))}


def test_the_deletion_of_an_address_erases_nobody_when_a_backup_brings_it_back(ada: Person) -> None:
    ada.prove("info@acme.com")
    ada.browser.send("/privacy/erase", confirm="1")
    with ada.database.transaction() as session:
        an_email(session, session.get_one(Contact, ada.contact_id), "info@acme.com")

    erased = erased_people.erase_again(ada.database)

    assert erased["contacts"] == 0
    with ada.database.reading() as session:
        assert session.get(Contact, ada.contact_id) is not None
        assert suppression_checks.suppressed(session, [Identifier("email", "info@acme.com")])


def test_an_unknown_address_gets_a_code_too_and_sees_that_nothing_is_stored(ada: Person) -> None:
    page = ada.prove("nobody@unknown.com")

    assert "Nothing is stored about this address" in page


def test_a_request_is_the_same_work_and_the_same_response_for_every_address(ada: Person) -> None:
    seen: dict[str, tuple[list[str], int, str]] = {}
    for address in (ADDRESS, "nobody@unknown.com"):
        statements: list[str] = []

        def record(
            _connection: object, _cursor: object, sql: str, *_rest: object, kept: list[str] = statements
        ) -> None:
            kept.append(sql)

        for engine in ada.database.engines:
            event.listen(engine, "before_cursor_execute", record)
        response = visitor(ada.app).client.post("/privacy", data={"email": address})
        for engine in ada.database.engines:
            event.remove(engine, "before_cursor_execute", record)
        seen[address] = (statements, response.status_code, response.headers["Location"])

    first, second = seen.values()
    assert first == second
    assert not re.search("contacts|emails|jobs", " ".join(first[0]))


def test_a_code_is_valid_once_and_in_the_browser_that_asked_only(ada: Person) -> None:
    ada.prove()

    again = ada.browser.send("/privacy/code", code=ada.inbox.code())
    elsewhere = visitor(ada.app)
    elsewhere.send("/privacy", email="eve@evil.example")

    assert again.status_code == 422
    assert elsewhere.send("/privacy/code", code=ada.inbox.code()).status_code == 422
    assert "Ask for a code first" in elsewhere.open("/privacy/data", follow_redirects=True).text


def test_after_five_wrong_codes_the_right_one_is_refused(ada: Person) -> None:
    ada.browser.send("/privacy", email=ADDRESS)
    ada.deliver()
    right = ada.inbox.code()
    wrong = "0000 0000 0000" if right != "0000 0000 0000" else "1111 1111 1111"

    attempts = [ada.browser.send("/privacy/code", code=wrong).status_code for _ in range(5)]

    assert attempts == [422] * 5
    assert ada.browser.send("/privacy/code", code=right).status_code == 422


def test_codes_and_access_expire(ada: Person) -> None:
    ada.prove()
    with ada.database.transaction() as session:
        proof = session.scalars(select(MailboxProof)).one()
        proof.expires_at -= timedelta(hours=1)

    assert "Ask for a code first" in ada.browser.open("/privacy/data", follow_redirects=True).text
    with ada.database.transaction() as session:
        mailbox_proofs.purge_expired(session, now=NOW + timedelta(days=9999))
        assert session.scalars(select(MailboxProof)).all() == []


def test_requests_of_a_stranger_neither_fill_the_mailbox_nor_lock_its_owner_out(ada: Person) -> None:
    """The owner asks last, gets no message of their own, and uses the code of the stranger's request."""
    for _ in range(20):
        stranger = visitor(ada.app)
        stranger.send("/privacy", email=ADDRESS)
        ada.deliver()
        assert stranger.send("/privacy/code", code="123456789012").status_code == 422

    asked = ada.browser.client.post("/privacy", data={"email": ADDRESS})
    ada.deliver()
    opened = ada.browser.send("/privacy/code", code=ada.inbox.code())

    assert (asked.status_code, asked.headers["Location"]) == (303, "/privacy/code")
    assert len(ada.inbox.messages) == 1
    assert "Ada Lovelace" in opened.text
    assert stranger.send("/privacy/code", code=ada.inbox.code()).status_code == 422


def test_a_network_is_limited(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PER_NETWORK", "1/hour")

    statuses = [ada.browser.send("/privacy", email=f"a{n}@acme.com").status_code for n in range(3)]

    assert statuses[-1] == 429


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("send", "/privacy/rectify", "CORRECTIONS_PER_PROOF"),
        ("send", "/privacy/rectify", "PER_NETWORK"),
        ("send", "/privacy/erase", "PER_NETWORK"),
        ("open", "/privacy/data", "VIEWS_PER_NETWORK"),
        ("open", "/privacy/data.json", "VIEWS_PER_NETWORK"),
    ],
)
def test_what_a_proof_opens_is_limited_too(
    ada: Person, monkeypatch: pytest.MonkeyPatch, method: str, path: str, limit: str
) -> None:
    ada.prove()
    monkeypatch.setattr(pages, limit, "1/hour")

    statuses = [getattr(ada.browser, method)(path).status_code for _ in range(3)]

    assert statuses[-1] == 429


def test_who_has_proved_a_mailbox_waits_for_a_turn_among_other_requests(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.prove()
    active = ada.app.extensions["services"].bulkhead.active
    monkeypatch.setattr(admission, "MAX_SECONDS", 0.01)
    free = ada.browser.open("/privacy/data.json").status_code
    holders = ["a", "b"] * (MAX_ACTIVE // 2)
    taken = [active.acquire(holder, 0) for holder in holders]

    refused = ada.browser.open("/privacy/data.json").status_code
    for holder in holders:
        active.release(holder)

    assert all(taken)
    assert (free, refused, ada.browser.open("/privacy/data.json").status_code) == (200, 503, 200)


def test_the_audit_log_names_the_request_of_a_correction_and_of_an_erasure(ada: Person) -> None:
    ada.prove()

    ada.browser.send("/privacy/rectify", contact_id=ada.contact_id, full_name="Ada Lovelace", title="Poet")
    ada.browser.send("/privacy/erase", confirm="1")

    with ada.database.reading() as session:
        entries = session.scalars(select(PendingEntry).where(PendingEntry.action.startswith("person."))).all()
    assert {entry.action: entry.actor_kind for entry in entries} == {
        "person.rectify": "unknown",
        "person.erase": "unknown",
    }
    assert all(entry.request_id for entry in entries)


def test_an_invalid_address_is_refused_with_the_reason(ada: Person) -> None:
    response = ada.browser.send("/privacy", email="ada")

    assert response.status_code == 422
    assert "not an e-mail address" in response.text


def test_leaving_ends_the_access(ada: Person) -> None:
    ada.prove()

    page = ada.browser.send("/privacy/leave").text

    assert "You have left" in page
    assert "Ask for a code first" in ada.browser.open("/privacy/data.json", follow_redirects=True).text
    assert "You have left" in ada.browser.send("/privacy/leave").text


@pytest.mark.parametrize("path", ["rectify", "erase"])
def test_without_a_proof_nothing_is_changed(ada: Person, path: str) -> None:
    assert "Ask for a code first" in ada.browser.send(f"/privacy/{path}", confirm="1").text


@pytest.mark.parametrize("method", ["open", "send"])
def test_without_a_request_the_form_for_the_code_leads_to_the_start(ada: Person, method: str) -> None:
    response = (
        getattr(ada.browser, method)("/privacy/code", follow_redirects=True)
        if method == "open"
        else (ada.browser.send("/privacy/code", code="1"))
    )

    assert "Send the code" in response.text


def test_without_a_mail_server_the_page_names_the_address_to_write_to(ada: Person) -> None:
    change_settings(ada.app, smtp_url="", privacy_contact="dpo@lookup.example")

    page = ada.browser.open("/privacy").text
    refused = ada.browser.send("/privacy", email=ADDRESS)

    assert "dpo@lookup.example" in page
    assert "Send the code" not in page
    assert refused.status_code == 503
