"""Who is shown a hidden number over HTTP: admins in a session, and neither members nor keys of programs."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from registers_support import DAY, a_register
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own
from users_support import SignedInUser, bearer

from app.domain.call_registers import Effect
from app.engine.accounts.accounts import Account, Role
from app.engine.contacts.contacts import Contact

LISTED, FREE = "+447860338653", "+447860338654"


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return user


@pytest.fixture
def contact_id(admin: SignedInUser) -> str:
    """A contact of whom the workspace owns the numbers, of which a register hides one from members."""
    with admin.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, "ada@acme.com")
        a_phone(session, contact, LISTED, type="mobile")
        a_phone(session, contact, FREE)
        own(session, admin.workspace_id, contact, "phone")
        a_register(session, LISTED, effect=Effect.HIDE_FOR_MEMBERS)
        return contact.id


CHANNELS: dict[str, Any] = {
    "lookup": ("POST", "/api/ext/lookup", {"subject": {"linkedin_url": ADA_URL}}),
    "contacts": ("GET", "/api/contacts", None),
    "contacts as CSV": ("GET", "/api/contacts?format=csv", None),
    "contacts as JSON": ("GET", "/api/contacts?format=json", None),
    "contact": ("GET", "/api/contacts/{contact_id}", None),
    "vCard": ("GET", "/api/contacts/{contact_id}/vcard", None),
}
PAGES = ("/contacts/{contact_id}", "/contacts/{contact_id}/vcard", "/contacts/download?format=csv")


@pytest.mark.parametrize("channel", CHANNELS)
def test_an_admin_reads_it_and_neither_a_member_nor_a_key_of_the_admin_does(
    admin: SignedInUser, contact_id: str, channel: str
) -> None:
    method, path, body = CHANNELS[channel]
    callers = (admin.headers, admin.colleague().headers, bearer(admin.make_key()))

    texts = [
        admin.client.open(
            path.format(contact_id=contact_id), method=method, json=body, headers=headers
        ).get_data(as_text=True)
        for headers in callers
    ]

    assert [LISTED in text for text in texts] == [True, False, False]
    assert all(FREE in text for text in texts)


@pytest.mark.parametrize("path", PAGES)
def test_the_pages_of_a_member_do_not_have_it(
    app: APIFlask, admin: SignedInUser, contact_id: str, path: str
) -> None:
    member = admin.colleague()

    shown = [
        visitor(app, one).open(path.format(contact_id=contact_id)).text.replace(" ", "")
        for one in (admin, member)
    ]

    assert [LISTED[3:] in text for text in shown] == [True, False]
    assert all(FREE[3:] in text for text in shown)


def test_a_number_in_a_register_has_no_link_that_dials_it(
    app: APIFlask, admin: SignedInUser, contact_id: str
) -> None:
    page = visitor(app, admin).open(f"/contacts/{contact_id}").text

    assert (f"tel:{LISTED}" in page, f"tel:{FREE}" in page) == (False, True)
    assert "Do not call" in page


def test_the_page_names_the_register_before_the_number_is_revealed(
    app: APIFlask, admin: SignedInUser
) -> None:
    with admin.database.transaction() as session:
        contact: Contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        a_phone(session, contact, LISTED, type="mobile")
        a_register(session, LISTED)
    browser: Visitor = visitor(app, admin)

    page = browser.send("/search", linkedin_url=ADA_URL).text

    assert "Reveal phone" in page
    masked = page[page.index('class="masked">+44') : page.index("Reveal phone")]
    assert ("Do not call" in masked, f"TPS, {DAY:%Y-%m-%d}" in masked, LISTED[3:] in page) == (
        True,
        True,
        False,
    )


def test_the_page_offers_no_number_that_the_reader_would_not_see(app: APIFlask, admin: SignedInUser) -> None:
    with admin.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        a_phone(session, contact, LISTED, type="mobile")
        a_register(session, LISTED, effect=Effect.HIDE_FOR_MEMBERS)

    of_admin, of_member = (
        visitor(app, one).send("/search", linkedin_url=ADA_URL).text for one in (admin, admin.colleague())
    )

    assert ("Reveal phone" in of_admin, "Reveal phone" in of_member) == (True, False)
    assert "Asks the data providers; charged only if something is found." in of_member
