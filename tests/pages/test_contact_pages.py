"""The pages of contacts."""

from __future__ import annotations

import csv
import io
import re

import pytest
from apiflask import APIFlask
from contact_page_support import link, names, reveal
from page_support import Visitor, visitor
from sqlalchemy import delete, select
from stored_support import exclude
from users_support import SignedInUser, create_user
from worker_harness import deliver, make_services

from app.domain.ids import new_id
from app.engine.contacts.emails import Email
from app.engine.ledger.reveals import AT_ONCE, Reveal, RevealedValue
from app.engine.owned import common_names
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal as reveal_jobs

REGISTERED = (reveal_jobs,)


@pytest.fixture
def services(app: APIFlask) -> WorkerServices:
    api = app.extensions["services"]
    return make_services(api.settings, api.database)


def test_contacts_are_listed_with_their_values(browser: Visitor, user: SignedInUser) -> None:
    reveal(user)

    page = browser.open("/contacts")

    assert names(page.text) == ["Ada Lovelace"]
    assert "ada@acme.com" in page.text
    assert "+1 202-555-0143</bdi>" in page.text
    assert 'data-copy="+12025550143"' in page.text


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


@pytest.mark.parametrize(
    ("is_common", "said", "order"),
    [(True, "These are the latest.", ["Bob Ray", "Ann Ray"]), (False, ", by name.", ["Ann Ray", "Bob Ray"])],
)
def test_of_a_name_that_very_many_have_the_latest_are_shown(
    browser: Visitor,
    user: SignedInUser,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_common: bool,
    said: str,
    order: list[str],
) -> None:
    end = AT_ONCE if is_common else None
    monkeypatch.setattr(common_names, "MANY", 0)
    monkeypatch.setattr(common_names, "end_of", lambda *_arguments, **_named: end)
    for name in ("Ann Ray", "Bob Ray"):
        reveal(user, name)

    page = browser.send("/contacts", q="ray")

    assert said in page.text
    assert names(page.text) == order


@pytest.mark.parametrize("query", ["status=nice", "order=shoe", "after=x", "list=x", "tag=%00x", "owner=x"])
def test_an_unknown_filter_is_no_error(browser: Visitor, user: SignedInUser, query: str) -> None:
    assert browser.open(f"/contacts?{query}").status_code == 200


def test_a_contact_is_shown_with_sources_and_receipts(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)

    page = browser.open(f"/contacts/{contact.id}")

    assert "Ada Lovelace</h1>" in page.text
    assert re.search(
        r'<th scope="row"><bdi dir="ltr">ada@acme.com</bdi></th><td[^>]*>file</td><td[^>]*>import</td>',
        page.text,
    )


def test_a_value_of_a_website_is_shown_with_its_page(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)
    with user.database.transaction() as session:
        row = session.scalars(select(Email).where(Email.contact_id == contact.id)).one()
        row.sources = [row.sources[0] | {"provider": "website", "url": "https://acme.com/team"}]

    page = browser.open(f"/contacts/{contact.id}")

    assert ">website<br>https://acme.com/team</td>" in page.text


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


def test_a_list_leads_to_the_push_of_its_contacts(browser: Visitor, user: SignedInUser) -> None:
    contact = reveal(user)
    added = browser.send("/lists/members", contact=contact.id, name="Hot", next="/contacts")
    path = link(added.text, "Hot")

    assert f"/crm/push?list={path.rpartition('/')[2]}" in browser.open(path).text


def test_a_field_is_revealed_where_the_contact_stays(
    browser: Visitor, user: SignedInUser, services: WorkerServices
) -> None:
    contact = reveal(user)
    with user.database.transaction() as session:
        session.execute(delete(Reveal).where(Reveal.field == "phone"))
        session.execute(delete(RevealedValue).where(RevealedValue.field == "phone"))
    masked = browser.open(f"/contacts/{contact.id}").text

    asked = browser.send("/reveal", field="phone", contact_id=contact.id, person=contact.id)
    deliver(services, asked.request.args["receipt"])
    found = browser.open(f"/contacts/{contact.id}?receipt={asked.request.args['receipt']}").text

    assert "Reveal phone" in masked
    assert (asked.request.path, "In progress" in asked.text) == (f"/contacts/{contact.id}", True)
    assert "data-live" in asked.text
    assert "ada@acme.com" in asked.text
    assert "+1 202-555-0143" in found
    assert "<dt>Charged</dt><dd>1 credit</dd>" in found
    assert "data-live" not in found


def test_a_receipt_of_another_workspace_is_missing_below_a_contact(
    browser: Visitor, user: SignedInUser
) -> None:
    contact = reveal(user)

    assert browser.open(f"/contacts/{contact.id}?receipt={new_id('job')}").status_code == 404


def test_an_excluded_contact_keeps_what_is_owned_and_offers_nothing(
    browser: Visitor, user: SignedInUser
) -> None:
    contact = reveal(user)
    with user.database.transaction() as session:
        exclude(session, user.workspace_id, "email", "ada@acme.com")

    page = browser.open(f"/contacts/{contact.id}").text

    assert "Excluded" in page
    assert "ada@acme.com" in page
    assert 'action="/reveal"' not in page
