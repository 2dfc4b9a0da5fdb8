"""The page of the search for stored people."""

from __future__ import annotations

import re

import pytest
from page_support import Visitor
from stored_support import a_company, a_contact, a_phone, an_email, exclude, own, suppress
from users_support import SignedInUser

from app.engine.contacts.contacts import Contact
from app.engine.lookups import people_finder, people_index


def store(user: SignedInUser, *names: str, **changes: str) -> list[Contact]:
    """Store people of a company in London, each with an e-mail address."""
    with user.database.transaction() as session:
        company = a_company(session)
        values = {"title": "VP Sales", "seniority": "vp", "department": "sales"} | changes
        people = [a_contact(session, company, name, **values) for name in names]
        for person in people:
            an_email(session, person, f"{person.id}@acme.com")
    return people


def listed(text: str) -> list[str]:
    return re.findall(r'<button class="link" dir="auto">([^<]*)<', text)


def test_people_are_listed_with_masked_values_and_a_way_to_reveal_them(
    browser: Visitor, user: SignedInUser
) -> None:
    [ada] = store(user, "Ada Lovelace")

    page = browser.open("/people?title=vice+president")

    assert listed(page.text) == ["Ada Lovelace"]
    assert "c•••••@acme.com" in page.text
    assert f'<input type="hidden" name="contact_id" value="{ada.id}">' in page.text
    assert '<h2 id="found">1 person' in page.text


def test_criteria_stay_chosen_and_have_their_numbers_of_people(browser: Visitor, user: SignedInUser) -> None:
    store(user, "Ada Lovelace", "Grace Hopper")

    page = browser.open("/people?seniority=vp&country=GB")

    assert re.search(r'value="vp" checked> <span>Vp <span class="hint">2</span>', page.text)
    assert re.search(r'value="GB" checked> <span>United Kingdom <span class="hint">2</span>', page.text)
    assert 'value="founder"> <span>Founder</span>' in page.text


def test_owned_values_are_shown_in_full_and_excluded_people_are_marked(
    browser: Visitor, user: SignedInUser
) -> None:
    [ada] = store(user, "Ada Lovelace")
    with user.database.transaction() as session:
        a_phone(session, ada, "+442079460123")
        own(session, user.workspace_id, ada, "phone")
        exclude(session, user.workspace_id, "domain", "acme.com")

    page = browser.open("/people")

    assert "+442079460123" in page.text
    assert "Excluded: customer" in page.text
    assert "•" not in page.text


def test_pages_follow_one_another_with_the_criteria_and_without_names(
    browser: Visitor, user: SignedInUser
) -> None:
    people = store(user, *(f"Ada {letter}avelace" for letter in "BCDFGHJKLMNPQRSTVWXYZbcdfgh"))

    first = browser.open("/people?department=sales")
    link = re.search(r'href="([^"]+)">Next people', first.text)
    assert link is not None
    second = browser.open(link[1].replace("&amp;", "&"))

    assert (len(listed(first.text)), len(listed(second.text))) == (25, len(people) - 25)
    assert re.fullmatch(r"/people[?]department=sales&amp;cursor=con_[0-9a-v]{24}", link[1])
    assert '<a class="button" href="/people?department=sales">First people</a>' in second.text


def test_a_wrong_criterion_is_named_and_stays_in_the_form(browser: Visitor) -> None:
    page = browser.open("/people?country=Atlantis&title=CTO")

    assert page.status_code == 422
    assert 'value="Atlantis" checked' in page.text
    assert 'id="country-error"' in page.text
    assert 'value="CTO"' in page.text


def test_a_wrong_cursor_is_reported(browser: Visitor) -> None:
    page = browser.open("/people?cursor=nonsense")

    assert page.status_code == 422
    assert "next_cursor" in page.text or "first page" in page.text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/people", "Nobody is stored yet"),
        ("/people?title=CTO", "Nobody who is stored meets all of this"),
        ("/people?industry=%00", "Nobody is stored yet"),
    ],
)
def test_an_empty_result_says_what_to_do_next(browser: Visitor, path: str, text: str) -> None:
    page = browser.open(path)

    assert page.status_code == 200
    assert text in page.text


def test_a_page_of_people_who_have_opted_out_says_so(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(user, "Ada Lovelace")
    monkeypatch.setattr("app.engine.lookups.people_search.MAX_CHECKED", 0)
    with user.database.transaction() as session:
        suppress(session, "domain", "acme.com")

    page = browser.open("/people")

    assert "have opted out" in page.text
    assert "Ada" not in page.text.partition("<main")[2]


def test_a_search_that_finds_too_many_says_how_to_narrow_it(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(user, "Ada Lovelace", "Grace Hopper", "Jean Bartik")
    for module in (people_finder, people_index):
        monkeypatch.setattr(module, "MAX_FOUND", 2)

    page = browser.open("/people")

    assert "2 people and more" in page.text
    assert "Add criteria to see others." in page.text


def test_the_navigation_links_the_page(browser: Visitor) -> None:
    page = browser.open("/people")

    assert re.search(r'<a href="/people" aria-current="page">.*People</a>', page.text)
