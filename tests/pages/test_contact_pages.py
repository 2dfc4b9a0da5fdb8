"""The pages of contacts and lists."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own
from users_support import SignedInUser, create_user

from app.domain.ids import new_id
from app.engine.contacts.contacts import Contact


def reveal(user: SignedInUser, name: str = "Ada Lovelace", **changes: Any) -> Contact:
    """Store a contact of which the workspace owns e-mail and phone."""
    with user.database.transaction() as session:
        contact = a_contact(
            session, a_company(session, domain=f"{new_id('com')[4:]}.example"), name, **changes
        )
        an_email(session, contact, f"{name.split(maxsplit=1)[0].lower()}@acme.com")
        a_phone(session, contact, "+12025550143")
        for field in ("email", "phone"):
            own(session, user.workspace_id, contact, field)
        return contact


def save(user: SignedInUser, **body: Any) -> str:
    profile = {"linkedin_url": ADA_URL, "full_name": "Ada Lovelace"}
    answer = user.client.post(
        "/api/ext/linkedin-save", json={"profile": profile} | body, headers=user.headers
    )
    return str(answer.get_json()["saved_profile"]["id"])


def names(text: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="/contacts/[^"]+">([^<]+)</a>', text)


def link(text: str, label: str) -> str:
    """Return the address of the link with this text."""
    found = re.search(rf'href="([^"]+)">{label}</a>', text)
    assert found, label
    return found[1].replace("&amp;", "&")


def test_contacts_are_listed_with_their_values(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)

    page = browser.open("/contacts")

    assert names(page.text) == ["Ada Lovelace"]
    assert "ada@acme.com" in page.text
    assert "+12025550143" in page.text


def test_another_workspace_sees_none_of_them(app: APIFlask, user: SignedInUser) -> None:
    contact = reveal(user)
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))

    page = stranger.open("/contacts")
    foreign, missing = (
        stranger.client.get(f"/contacts/{some}", headers={"Accept": "text/html", "X-Request-Id": "same"})
        for some in (contact.id, new_id("con"))
    )

    assert "No contacts yet" in page.text
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text == missing.text


def test_filters_stay_in_the_next_page_and_the_download(
    browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.pages.contact_table.ROWS", 1)
    for name in ("Bob Ray", "Ada Lovelace"):
        reveal(user, name)
    reveal(user, "Cleo Clarke", title="No title")

    first = browser.open("/contacts?order=name&status=valid").text
    second = browser.open(link(first, "Next contacts")).text
    file = browser.open(link(first, "Download as CSV"))

    assert (names(first), names(second)) == (["Ada Lovelace"], ["Bob Ray"])
    assert "Lovelace" not in link(first, "Next contacts")
    assert file.text.startswith('\ufeff"full_name",')
    assert [row[0] for row in csv.reader(io.StringIO(file.text))][1:] == [
        "Ada Lovelace",
        "Bob Ray",
        "Cleo Clarke",
    ]


def test_a_name_is_searched_by_a_form_and_in_no_url(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)
    reveal(user, "Bob Ray")

    page = browser.send("/contacts", q="lovel")

    assert names(page.text) == ["Ada Lovelace"]
    assert not re.search(r'(href|action)="[^"]*lovel', page.text)


@pytest.mark.parametrize("query", ["status=nice", "order=shoe", "after=x", "list=x", "tag=%00x", "owner=x"])
def test_an_unknown_filter_is_no_error(browser: Visitor, user: SignedInUser, query: str) -> None:
    assert browser.open(f"/contacts?{query}").status_code == 200


def test_a_contact_is_shown_with_sources_and_receipts(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)

    page = browser.open(f"/contacts/{contact.id}")

    assert "<h1>Ada Lovelace</h1>" in page.text
    assert re.search(r'<th scope="row">ada@acme.com</th><td>file</td><td>import</td>', page.text)


def test_tags_and_a_note_are_saved(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)

    page = browser.send(f"/contacts/{contact.id}/notes", tags="hot,  fair ,", note="Met <her> there.")

    assert 'value="hot, fair"' in page.text
    assert "Met &lt;her&gt; there.</textarea>" in page.text


def test_invalid_tags_are_reported(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)

    page = browser.send(f"/contacts/{contact.id}/notes", tags="x" * 101, note="")

    assert page.status_code == 422
    assert 'id="tags-error"' in page.text


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

    assert "<h1>Hot</h1>" in created.text
    assert "<h1>Warm</h1>" in renamed.text
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
    monkeypatch.setattr("app.pages.lists.ROWS", 1)
    for name in ("a", "b"):
        browser.send("/lists", name=name)

    first = browser.open("/lists").text
    second = browser.open(link(first, "Next lists")).text

    assert [re.findall(r'<a href="/lists/lst_[^"]+">(\w)</a>', text) for text in (first, second)] == [
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
