"""The pages of lists."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from contact_page_support import link, names, reveal, save
from page_support import Visitor, visitor
from users_support import SignedInUser, create_user


def test_marked_contacts_go_to_a_new_list_and_leave_it(browser: Visitor, user: SignedInUser) -> None:
    ada, bob = reveal(user), reveal(user, "Bob Ray")

    added = browser.send("/lists/members", contact=[ada.id, bob.id], name="Hot", next="/contacts")
    list_path = link(added.text, "Hot")
    removed = browser.send(f"{list_path}/remove", contact=[ada.id])

    assert "2 contacts added to the list." in added.text
    assert names(removed.text) == ["Bob Ray"]
    assert "1 contact removed from the list." in removed.text


@pytest.mark.parametrize(
    "fields", [{}, {"contact": "con_x"}, {"name": "Hot"}, {"contact": "con_x", "name": "x" * 501}]
)
def test_an_incomplete_form_adds_nobody(browser: Visitor, user: SignedInUser, fields: dict[str, str]) -> None:
    page = browser.send("/lists/members", **fields)

    assert page.status_code == 200
    assert 'class="notice bad"' in page.text
    assert "No lists yet" in browser.open("/lists").text


def test_a_saved_profile_is_on_its_list(browser: Visitor, user: SignedInUser) -> None:
    save(user, list="Prospects", tags=["fair"])

    lists = browser.open("/lists").text
    page = browser.open(link(lists, "Prospects")).text

    assert names(page) == ["Ada Lovelace"]
    assert "fair" in page
    assert "1 contact," in page


def test_a_list_is_created_renamed_and_deleted(browser: Visitor, user: SignedInUser) -> None:
    created = browser.send("/lists", name="Hot")
    path = created.request.path
    renamed = browser.send(f"{path}/name", name="Warm")

    deleted = browser.send(f"{path}/delete")

    assert ">Hot</h1>" in created.text
    assert ">Warm</h1>" in renamed.text
    assert "No lists yet" in deleted.text


@pytest.mark.parametrize("name", ["", "Cold", "x" * 501])
def test_a_name_that_is_missing_taken_or_long_is_refused(
    browser: Visitor, user: SignedInUser, name: str
) -> None:
    browser.send("/lists", name="Cold")
    path = browser.send("/lists", name="Hot").request.path

    page = browser.send(f"{path}/name", name=name)

    assert page.status_code == 422
    assert 'id="name-error"' in page.text


def test_many_lists_have_pages(browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.features.lists.pages.ROWS", 1)
    for name in ("a", "b"):
        browser.send("/lists", name=name)

    first = browser.open("/lists").text
    second = browser.open(link(first, "Next lists")).text

    assert [re.findall(r'<a href="/lists/lst_[^"]+"[^>]*>(\w)</a>', text) for text in (first, second)] == [
        ["a"],
        ["b"],
    ]


def test_a_list_of_another_workspace_is_missing(app: APIFlask, browser: Visitor) -> None:
    path = browser.send("/lists", name="Hot").request.path
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))

    statuses = {
        stranger.open(path).status_code,
        stranger.open(f"/lists?after={path.rpartition('/')[2]}").status_code,
        *(
            stranger.send(f"{path}/{verb}", name="x", contact="x").status_code
            for verb in ("name", "delete", "remove")
        ),
    }

    assert statuses == {404}
