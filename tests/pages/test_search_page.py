"""Search, reveal and save on the page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor
from settings_support import change_settings
from sqlalchemy import select
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own, suppress
from users_support import SignedInUser

from app.domain.kinds import Kind
from app.domain.reverse_lookups import ReverseLookupLimits
from app.engine.accounts import workspaces
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.jobs.jobs import Job

ADDRESS = "ada@acme.com"


@pytest.fixture
def ada(user: SignedInUser) -> str:
    """Store a person with an address and a number; return the contact's id."""
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, contact, ADDRESS)
        a_phone(session, contact, "+442079460018")
    return contact.id


def fields_of(page: str, action: str) -> dict[str, Any]:
    """Return the hidden fields of the form with this action."""
    form = re.search(rf'action="{action}">(.*?)</form>', page, re.DOTALL)
    assert form, page
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[1]))


def test_a_search_shows_masked_values_and_their_price(browser: Visitor, ada: str) -> None:
    page = browser.send("/", full_name="Ada Lovelace", company="acme.com")

    assert page.status_code == 200
    assert "a•••••@acme.com" in page.text
    assert ADDRESS not in page.text
    assert "Reveal e-mail · 1 credit" in page.text
    assert 'Engineer · <a href="/companies/' in page.text


def test_a_search_is_free_and_creates_no_request(browser: Visitor, user: SignedInUser, ada: str) -> None:
    browser.send("/", linkedin_url=ADA_URL)

    with user.database.reading() as session:
        assert workspaces.balance(session, user.workspace_id).available == 250
        assert session.scalars(select(Job)).all() == []


def test_the_searched_person_is_not_in_the_url(browser: Visitor, ada: str) -> None:
    page = browser.send("/", email=ADDRESS)

    assert page.request.path == "/"
    assert page.request.query_string == b""
    assert 'method="post"' in page.text


def test_an_unknown_person_can_be_searched_at_the_providers(browser: Visitor) -> None:
    page = browser.send("/", full_name="Grace Hopper", company="Navy")

    assert "Nothing is stored about this person" in page.text
    assert "Find e-mail · 1 credit" in page.text
    assert fields_of(page.text, "/reveal") == {
        "field": "email",
        "full_name": "Grace Hopper",
        "company_name": "Navy",
    }


def test_too_few_fields_are_explained(browser: Visitor) -> None:
    page = browser.send("/")

    assert page.status_code == 422
    assert "or a name with a company" in page.text


def test_a_name_alone_lists_whom_we_know(browser: Visitor, user: SignedInUser, ada: str) -> None:
    with user.database.transaction() as session:
        a_contact(session, a_company(session, "Byron Works", domain="byron.example"), "Ada Byron")

    by_text, by_field = browser.send("/search", q="ada"), browser.send("/search", full_name="Ada")

    for page in (by_text, by_field):
        assert "2 people" in page.text
        assert page.text.count('<button class="link"') == 2
        assert "a•••••@acme.com" in page.text
        assert ADDRESS not in page.text
        assert 'action="/reveal"' not in page.text


def test_a_company_alone_lists_its_people(browser: Visitor, ada: str) -> None:
    page = browser.send("/search", q="acme eng")

    assert "Ada Lovelace" in page.text
    assert "<bdi>Everybody at Acme Engines</bdi></a>" in page.text
    assert 'href="/people?company_domain=acme.com"' in page.text


@pytest.mark.parametrize(
    "typed", [ADDRESS, ADA_URL, "+44 20 7946 0018", "Lovelace, Ada", "ada at acme engines"]
)
def test_one_box_takes_whatever_names_a_person(browser: Visitor, ada: str, typed: str) -> None:
    page = browser.send("/search", q=typed)

    assert page.status_code == 200
    assert "Engineer" in page.text


def test_who_is_owned_comes_first(browser: Visitor, user: SignedInUser, ada: str) -> None:
    with user.database.transaction() as session:
        last = a_contact(session, a_company(session, "Byron", domain="byron.example"), "Ada Zuse")
        an_email(session, last, "ada@byron.example")
        own(session, user.workspace_id, last, "email")

    page = browser.send("/search", q="ada")

    assert re.findall(r'<button class="link" dir="auto">([^<]+)<', page.text) == ["Ada Zuse", "Ada Lovelace"]
    assert "ada@byron.example" in page.text


def test_stored_colleagues_come_before_the_offer_to_ask_providers(browser: Visitor, ada: str) -> None:
    page = browser.send("/search", full_name="Grace Hopper", company="acme.com")

    assert "Nothing is stored" not in page.text
    assert page.text.index('dir="auto">Ada Lovelace</button>') < page.text.index("Find e-mail")
    assert "Somebody else?" in page.text


def test_stored_colleagues_are_listed_for_a_name_that_nobody_has(browser: Visitor, ada: str) -> None:
    page = browser.send("/search", q="Grace Hopper, Acme")

    assert "Nobody of this name is stored." in page.text
    assert 'dir="auto">Ada Lovelace</button>' in page.text
    assert 'value="Grace Hopper"' in page.text


def test_whom_nobody_knows_can_be_asked_for(browser: Visitor) -> None:
    page = browser.send("/search", q="Grace Hopper, Navy")

    assert "Nobody whom this may mean is stored" in page.text
    assert 'value="Grace Hopper"' in page.text
    assert 'value="Navy"' in page.text


def test_people_who_have_opted_out_are_not_listed(browser: Visitor, user: SignedInUser, ada: str) -> None:
    with user.database.transaction() as session:
        suppress(session, "linkedin_url", ADA_URL)

    page = browser.send("/search", q="ada")

    assert '<button class="link"' not in page.text
    assert "Nobody whom this may mean is stored" in page.text


@pytest.mark.parametrize("typed", ["12345678", "a@b", "https://linkedin.com/in/", "x" * 400])
def test_what_is_no_value_of_its_kind_is_explained(browser: Visitor, typed: str) -> None:
    page = browser.send("/search", q=typed)

    assert page.status_code in {200, 422}
    assert 'aria-invalid="true"' in page.text or "is stored" in page.text


def test_an_invalid_field_is_marked(browser: Visitor) -> None:
    page = browser.send("/", phone="12")

    assert page.status_code == 422
    assert re.search(r'id="phone"[^>]*aria-invalid="true"', page.text)
    assert 'id="phone-error"' in page.text


def test_a_suppressed_person_is_not_shown(browser: Visitor, user: SignedInUser, ada: str) -> None:
    with user.database.transaction() as session:
        suppress(session, "email", ADDRESS)

    page = browser.send("/", linkedin_url=ADA_URL)

    assert "has opted out" in page.text
    assert "Reveal" not in page.text


def test_a_reveal_leads_to_its_receipt_and_holds_its_price(
    browser: Visitor, user: SignedInUser, ada: str
) -> None:
    found = browser.send("/", full_name="Ada Lovelace", company="Acme Engines").text

    page = browser.send("/reveal", **fields_of(found, "/reveal"))

    with user.database.reading() as session:
        (job,) = session.scalars(select(Job)).all()
        balance = workspaces.balance(session, user.workspace_id)
    assert page.request.path == f"/search/{job.id}"
    assert 'Engineer · <a href="/companies/' in page.text
    assert "In progress" in page.text
    assert '<meta http-equiv="refresh"' in page.text
    assert (job.kind, job.request["subject"], job.request["min_status"]) == (
        Kind.REVEAL_EMAIL,
        {"contact_id": ada},
        "valid",
    )
    assert (balance.available, balance.held) == (249, 1)


def test_two_clicks_are_one_request(browser: Visitor, user: SignedInUser, ada: str) -> None:
    fields = fields_of(browser.send("/", linkedin_url=ADA_URL).text, "/reveal")

    pages = [browser.send("/reveal", **fields) for _ in range(2)]

    with user.database.reading() as session:
        assert len(session.scalars(select(Job)).all()) == 1
    assert pages[0].request.path == pages[1].request.path


def test_without_credits_nothing_is_charged(app: APIFlask, browser: Visitor, ada: str) -> None:
    change_settings(app, prices={"reveal.email": 1000, "reveal.phone": 1})

    page = browser.send("/reveal", field="email", contact_id=ada)

    assert page.status_code == 402
    assert "Not enough credits" in page.text
    assert "Nothing was charged" in page.text


def test_a_profile_is_saved_with_list_and_tags(browser: Visitor, user: SignedInUser, ada: str) -> None:
    page = browser.send(
        "/save",
        linkedin_url=ADA_URL,
        full_name="Ada Lovelace",
        list="Prospects",
        tags="engines, poetry,",
        note="",
    )

    with user.database.reading() as session:
        (profile,) = session.scalars(select(SavedProfile)).all()
    assert "Saved in the list Prospects" in page.text
    assert (profile.list_name, profile.tags, profile.note) == ("Prospects", ["engines", "poetry"], None)
    assert (profile.workspace_id, profile.saved_by) == (user.workspace_id, user.account_id)


def test_names_are_escaped(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_contact(session, a_company(session), "<b>Ada</b> Lovelace", linkedin_url=ADA_URL)

    page = browser.send("/", linkedin_url=ADA_URL)

    assert "<b>Ada" not in page.text
    assert "&lt;b&gt;Ada" in page.text


@pytest.fixture
def guesses(user: SignedInUser, ada: str) -> list[str]:
    """Try as many addresses at the domain of the stored person as are confirmed in a day."""
    assert ada
    addresses = [f"nobody{number}@acme.com" for number in range(ReverseLookupLimits().per_domain)]
    body = {"subjects": [{"email": address} for address in addresses]}
    user.client.post("/api/ext/lookup", json=body, headers=user.headers)
    return addresses


@pytest.mark.usefixtures("guesses")
def test_the_page_confirms_no_guess_above_the_limit(browser: Visitor) -> None:
    stored, unknown = (browser.send("/", email=address).text for address in (ADDRESS, "eve@acme.com"))

    assert "Nothing is stored about this person" in stored
    assert re.sub(r'value="[^"]*"', "", stored) == re.sub(r'value="[^"]*"', "", unknown)


def test_an_address_searched_on_the_page_is_counted(browser: Visitor, user: SignedInUser, ada: str) -> None:
    for number in range(ReverseLookupLimits().per_domain):
        browser.send("/", email=f"nobody{number}@acme.com")

    body = {"subject": {"email": ADDRESS}}
    answer = user.client.post("/api/ext/lookup", json=body, headers=user.headers).get_json()

    assert (answer["outcome"], bool(ada)) == ("none", True)
