"""Everybody whom filters match is put on a list, or taken off: asked for with a count, done in rounds."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from contact_page_support import link, names, reveal
from page_support import Visitor, visitor
from users_support import SignedInUser, create_user

from app.engine.owned import owned_contacts
from app.features.lists import matching


def fields_of(page: str) -> dict[str, str]:
    """Return the hidden fields of the form that confirms or continues."""
    form = re.search(r'action="/lists/matching"[^>]*>(.*?)</form>', page, re.DOTALL)
    assert form, page
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[1]))


def test_all_that_match_are_added_once_their_number_is_confirmed(
    browser: Visitor, user: SignedInUser
) -> None:
    for number in range(3):
        reveal(user, f"Ada Low{'abc'[number]}", title="CTO")
    reveal(user, "Bob Ray")

    asked = browser.send("/lists/matching", q="low", name="Hot")
    added = browser.send("/lists/matching", **fields_of(asked.text))

    assert ": <strong>3 contacts</strong>." in asked.text
    assert "Add 3 contacts" in asked.text
    assert "3 contacts added to the list." in added.text
    assert "1 contact" not in browser.open(link(browser.open("/lists").text, "Hot")).text


def test_nothing_is_done_before_it_is_confirmed(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)

    browser.send("/lists/matching", name="Hot")

    assert "No lists yet" in browser.open("/lists").text


def test_many_are_done_in_rounds_that_say_how_far_they_are(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "MAX_SECONDS", -1.0)
    monkeypatch.setattr(matching, "BATCH", 2)
    for letter in "abc":
        reveal(user, f"Ada Low{letter}")

    asked = browser.send("/lists/matching", name="Hot")
    first = browser.send("/lists/matching", **fields_of(asked.text))
    repeated = browser.send("/lists/matching", **fields_of(asked.text))
    second = browser.send("/lists/matching", **fields_of(first.text))

    assert "data-continue" in first.text
    assert '<progress value="2" max="3"' in first.text
    assert fields_of(repeated.text)["matched"] == "2"
    assert "3 contacts added to the list." in second.text


@pytest.mark.parametrize(("read", "batch"), [(9, 2), (2, 2), (2, 1), (3, 3)])
def test_a_round_has_several_batches(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch, read: int, batch: int
) -> None:
    monkeypatch.setattr(matching, "MAX_READ", read)
    monkeypatch.setattr(matching, "BATCH", batch)
    for letter in "abc":
        reveal(user, f"Ada Low{letter}")

    added = browser.send("/lists/matching", **fields_of(browser.send("/lists/matching", name="Hot").text))

    assert "3 contacts added to the list." in added.text


def test_the_message_says_if_the_number_changed_meanwhile(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)
    asked = browser.send("/lists/matching", name="Hot")
    reveal(user, "Bob Ray")

    added = browser.send("/lists/matching", **fields_of(asked.text))

    assert "2 contacts added to the list." in added.text
    assert "When you confirmed, 1 matched; in the end, 2 did." in added.text


def test_who_is_on_the_list_already_is_not_counted(browser: Visitor, user: SignedInUser) -> None:
    ada = reveal(user)
    reveal(user, "Bob Ray")
    browser.send("/lists/members", contact=[ada.id], name="Hot")

    added = browser.send("/lists/matching", **fields_of(browser.send("/lists/matching", name="Hot").text))

    assert "1 contact added to the list. 1 was on it already" in added.text


def test_all_that_match_are_taken_off_a_list(browser: Visitor, user: SignedInUser) -> None:
    for name in ("Ada Low", "Bob Ray"):
        reveal(user, name)
    browser.send("/lists/matching", **fields_of(browser.send("/lists/matching", name="Hot").text))
    path = link(browser.open("/lists").text, "Hot")
    list_id = path.rpartition("/")[2]

    asked = browser.send(f"/lists/matching?remove={list_id}", list=list_id, next=path)
    removed = browser.send("/lists/matching", **fields_of(asked.text))

    assert "removed from" in asked.text
    assert removed.request.path == path
    assert "2 contacts removed from the list." in removed.text
    assert names(browser.open("/contacts").text) == ["Bob Ray", "Ada Low"]


@pytest.mark.parametrize("fields", [{}, {"name": "x" * 501}])
def test_without_a_list_nothing_is_asked(browser: Visitor, fields: dict[str, str]) -> None:
    page = browser.send("/lists/matching", **fields)

    assert page.request.path == "/contacts"
    assert 'class="notice bad"' in page.text


def test_nobody_who_matches_is_nothing_to_confirm(browser: Visitor) -> None:
    page = browser.send(
        "/lists/matching", name="Hot", company="nowhere", tag="x", status="valid", owner="acc_x"
    )

    assert "Nobody matches." in page.text
    assert "Add 0" not in page.text


def test_a_wrong_place_starts_at_the_beginning(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)
    fields = fields_of(browser.send("/lists/matching", name="Hot").text) | {"after": "x", "matched": "y"}

    assert "1 contact added to the list." in browser.send("/lists/matching", **fields).text


def test_a_list_of_another_workspace_is_missing(app: APIFlask, browser: Visitor, user: SignedInUser) -> None:
    reveal(user)
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))
    stranger.send("/lists", name="Theirs")
    theirs = link(stranger.open("/lists").text, "Theirs").rpartition("/")[2]

    asked = browser.send("/lists/matching", list_id=theirs)
    done = browser.send("/lists/matching", list_id=theirs, confirmed="1")

    assert (asked.status_code, done.status_code) == (404, 404)


def test_a_number_that_is_too_large_is_said_to_be_more(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned_contacts, "MAX_COUNTED", 1)
    for name in ("Ada Low", "Bob Ray"):
        reveal(user, name)

    assert "more than 1 contact" in browser.send("/lists/matching", name="Hot").text
