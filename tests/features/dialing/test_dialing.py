"""The form of the links that dial, and where it is used."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import a_company, a_contact, a_phone, own
from users_support import SignedInUser, create_user

from app.domain.errors import InvalidValue
from app.engine.accounts.accounts import Account, Role
from app.features.dialing import link_forms

PATH = "/api/dial-link"
NUMBER = "+442079460123"


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return user


@pytest.fixture
def browser(app: APIFlask, admin: SignedInUser) -> Visitor:
    return visitor(app, admin)


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("tel:{number}", "tel:+442079460123"),
        (" TEL:{digits} ", "tel:442079460123"),
        ("callto:{number}", "callto:+442079460123"),
        ("sip:{number}@pbx.example.com", "sip:+442079460123@pbx.example.com"),
        ("zoomphonecall://{number}", "zoomphonecall://+442079460123"),
        ("rcmobile://call?number={digits}", "rcmobile://call?number=442079460123"),
        ("rcmobile://call?number={number}", "rcmobile://call?number=%2B442079460123"),
        ("dialpad://{number}?confirmPhone=1", "dialpad://+442079460123?confirmPhone=1"),
        (
            "https://teams.microsoft.com/l/call/0/0?users=4:{number}",
            "https://teams.microsoft.com/l/call/0/0?users=4:%2B442079460123",
        ),
        ("https://dialer.example/call/{digits}", "https://dialer.example/call/442079460123"),
    ],
)
def test_a_number_becomes_the_link_of_the_form(form: str, link: str) -> None:
    assert link_forms.link(link_forms.parse(form), NUMBER) == link


@pytest.mark.any_database
def test_every_example_is_accepted() -> None:
    assert [link_forms.parse(form) for form, _what in link_forms.EXAMPLES]


@pytest.mark.any_database
@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("javascript:alert({number})", "Begin with one of"),
        ("JavaScript:alert(1)//{number}", "Begin with one of"),
        ("java\tscript:{number}", "no spaces"),
        ("data:text/html,{number}", "Begin with one of"),
        ("vbscript:{number}", "Begin with one of"),
        ("ms-msdt:{number}", "Begin with one of"),
        ("aircall:{number}", "Begin with one of"),
        ("skype:{number}?call", "Begin with one of"),
        ("file:///{number}", "Begin with one of"),
        ("http://dialer.example/{number}", "Begin with one of"),
        ("{number}", "Begin with one of"),
        ("//dialer.example/{number}", "Begin with one of"),
        ("tel:", "once where the number goes"),
        ("tel:{number}{number}", "once where the number goes"),
        ("tel:{phone}", "once where the number goes"),
        ("tel:{number}}", "once where the number goes"),
        ("tel:{number", "once where the number goes"),
        ('tel:"{number}', "no spaces"),
        ("tel:{number}é", "no spaces"),
        ("https://{number}.evil.example/", "Name the website"),
        ("https://ada:secret@dialer.example/{number}", "Name the website"),
        ("https:{number}", "Name the website"),
        ("https:///{number}", "Name the website"),
        ("https://[/{number}", "Name the website"),
        ("tel:{number}" + "0" * 300, "Longer than"),
    ],
)
def test_a_form_that_could_do_anything_else_is_refused(form: str, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        link_forms.parse(form)


def test_an_admin_chooses_the_form_and_members_and_the_extension_read_it(
    app: APIFlask, admin: SignedInUser
) -> None:
    member, stranger = admin.colleague(), create_user(app, email="grace@other.example")
    before = admin.client.get(PATH, headers=admin.headers).get_json()

    put = admin.client.put(PATH, json={"dial_link": "callto:{number}"}, headers=admin.headers)
    refused = admin.client.put(PATH, json={"dial_link": "sip:{number}"}, headers=member.headers)
    invalid = admin.client.put(PATH, json={"dial_link": "javascript:{number}"}, headers=admin.headers)

    session = admin.client.get("/api/ext/session", headers=member.headers).get_json()
    other = admin.client.get("/api/ext/session", headers=stranger.headers).get_json()
    assert (before, put.get_json()) == ({"dial_link": "tel:{number}"}, {"dial_link": "callto:{number}"})
    assert (refused.status_code, refused.get_json()["code"]) == (403, "admin_required")
    assert (invalid.status_code, invalid.get_json()["errors"][0]["pointer"]) == (422, "/dial_link")
    assert session["workspace"]["dial_link"] == "callto:{number}"
    assert other["workspace"]["dial_link"] == "tel:{number}"


def test_null_restores_the_default(admin: SignedInUser) -> None:
    admin.client.put(PATH, json={"dial_link": "callto:{number}"}, headers=admin.headers)

    restored = admin.client.put(PATH, json={"dial_link": None}, headers=admin.headers).get_json()

    assert restored == admin.client.get(PATH, headers=admin.headers).get_json()
    assert restored == {"dial_link": "tel:{number}"}


def test_the_page_chooses_the_form_and_shows_a_link(browser: Visitor) -> None:
    shown = browser.open("/admin/dial-link").text
    chosen = browser.send("/admin/dial-link", dial_link="https://dialer.example/?n={number}").text
    refused = browser.send("/admin/dial-link", dial_link="javascript:{number}")
    restored = browser.send("/admin/dial-link", dial_link="").text

    assert 'href="tel:+442079460123"' in shown
    assert 'href="https://dialer.example/?n=%2B442079460123"' in chosen
    assert (refused.status_code, "Begin with one of" in refused.text) == (422, True)
    assert 'href="javascript' not in refused.text
    assert 'value="tel:{number}"' in restored


@pytest.mark.parametrize(
    ("form", "attributes"),
    [
        ("callto:{number}", 'href="callto:+12025550143"'),
        (
            "https://dialer.example/?n={number}",
            'href="https://dialer.example/?n=%2B12025550143" target="_blank" rel="noopener noreferrer"',
        ),
    ],
)
def test_revealed_numbers_on_pages_are_dialled_by_the_form(
    browser: Visitor, admin: SignedInUser, form: str, attributes: str
) -> None:
    with admin.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        a_phone(session, contact, "+12025550143")
        a_phone(session, contact, "+12025550144").do_not_call = True
        own(session, admin.workspace_id, contact, "phone")
    browser.send("/admin/dial-link", dial_link=form)

    one, table = browser.open(f"/contacts/{contact.id}").text, browser.open("/contacts").text

    assert attributes in one
    assert attributes in table
    assert one.count('class="dial"') == 1  # none for the number that must not be called
