"""By what the people of a page are looked up, and what of them leaves the browser."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from chromium_support import Browser, BrowserUser, launch_browser
from e2e_stack import Stack
from people_page_support import SEARCH_PAGE, on_page, somebodies, store, without_reader
from playwright.sync_api import Locator, Page, Playwright, expect
from proxy_support import RecordingProxy

LOOKUP = "/api/ext/lookup"
ACME = {"company_name": "Acme Engines"}
LEAD = "https://www.linkedin.com/sales/lead/ACwAAAbcdEFGhijk,NAME_SEARCH,x1"
MEMBER = "https://www.linkedin.com/in/ACwAAAbcdEFGhijk"
ADA = "https://www.linkedin.com/in/ada-of-the-list"


@pytest.fixture(scope="module")
def _browser_without_reader(
    playwright: Playwright, _session_proxy: RecordingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("without-reader")
    without_reader(folder)
    with launch_browser(playwright, folder, _session_proxy) as started:
        yield started


@pytest.fixture
def reader(_browser_without_reader: Browser, proxy: RecordingProxy, stack: Stack) -> Iterator[BrowserUser]:
    """Return a signed-in user whose pages show what the test sets."""
    user = BrowserUser(_browser_without_reader, proxy, stack, *stack.create_workspace())
    user.sign_in()
    yield user
    _browser_without_reader.reset()


def row(page: Page, name: str) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(name, exact=True))


def looked_up(user: BrowserUser) -> list[Any]:
    return [sent.json.get("subjects") or [sent.json["subject"]] for sent in user.proxy.api_requests(LOOKUP)]


@pytest.mark.parametrize(
    ("person", "subject"),
    [
        ({"linkedin_url": f"{ADA}/?trk=x", "member_url": LEAD}, {"linkedin_url": ADA, "member_url": MEMBER}),
        ({"member_url": LEAD, "full_name": "Ada L."}, {"linkedin_url": MEMBER}),
        (
            {"linkedin_url": ADA, "full_name": "Ada Lovelace", "title": "Engineer", "location": "London"}
            | ACME,
            {"linkedin_url": ADA, "full_name": "Ada Lovelace"} | ACME,
        ),
        ({"full_name": "Ada Lovelace", "email": "ada@a.test"} | ACME, {"full_name": "Ada Lovelace"} | ACME),
        (
            {"full_name": "Ada Lovelace", "email": "ADA@a.test", "phone": "+44 20 7946 0861"},
            {"email": "ada@a.test", "full_name": "Ada Lovelace"},
        ),
        ({"full_name": "Ada L.", "phone": "+44 20 7946 0861"} | ACME, {"phone": "+44 20 7946 0861"}),
        ({"full_name": "\u738b\u4f1f"} | ACME, {"full_name": "\u738b\u4f1f"} | ACME),
    ],
)
def test_a_person_is_looked_up_by_the_best_identifiers_and_nothing_else(
    reader: BrowserUser, person: dict[str, str], subject: dict[str, str]
) -> None:
    on_page(reader, person)

    popup = reader.open_popup_on(SEARCH_PAGE)

    expect(popup.get_by_text("Not known yet")).to_be_visible()
    assert looked_up(reader) == [[subject]]


@pytest.mark.parametrize(
    "person",
    [
        {"full_name": "Ada Lovelace"},
        {"full_name": "Ada"} | ACME,
        *(
            {"full_name": name} | ACME
            for name in ("Ada L.", "Ada L", "Ada L., MBA", "Ada L. PhD", "Ada \u2022\u2022\u2022")
        ),
        {"full_name": "Ada L. (She/Her)"} | ACME,
        {"phone": "020 7946 0123"},
        {"linkedin_url": "https://acme.test/ada", "title": "Engineer"},
    ],
    ids=str,
)
def test_a_person_of_whom_not_enough_is_known_is_neither_sent_nor_picked(
    reader: BrowserUser, person: dict[str, str]
) -> None:
    on_page(reader, person, {"linkedin_url": ADA, "full_name": "Bob Babbage"})

    popup = reader.open_popup_on(SEARCH_PAGE)

    expect(row(popup, "Bob Babbage")).to_contain_text("Not known yet")
    unknown = popup.get_by_role("listitem").filter(has_text="Not enough is known")
    expect(unknown.get_by_role("checkbox")).to_be_disabled()
    popup.get_by_label("Pick all").check()
    expect(popup.get_by_text("1 person picked")).to_be_visible()
    assert [subject["linkedin_url"] for subject in looked_up(reader)[0]] == [ADA]


def test_a_person_whom_the_server_refuses_does_not_keep_the_others_from_being_looked_up(
    reader: BrowserUser,
) -> None:
    on_page(reader, {"full_name": "LinkedIn Member"} | ACME, {"full_name": "Bob Babbage"} | ACME)

    popup = reader.open_popup_on(SEARCH_PAGE)

    expect(row(popup, "Bob Babbage")).to_contain_text("Not known yet")
    expect(row(popup, "LinkedIn Member")).to_contain_text("Not enough is known")
    expect(row(popup, "LinkedIn Member").get_by_role("checkbox")).to_be_disabled()


def test_a_person_who_is_twice_on_the_page_is_once_in_the_list(reader: BrowserUser) -> None:
    on_page(
        reader, {"linkedin_url": ADA, "full_name": "Ada Lovelace"}, {"linkedin_url": f"{ADA}?x=1"}, left_out=3
    )

    popup = reader.open_popup_on(SEARCH_PAGE)

    expect(popup.get_by_role("listitem")).to_have_count(1)
    expect(popup.get_by_text("3 more people are on the page than a list takes.")).to_be_visible()


def test_the_person_of_a_page_is_opened_instead_of_the_website(reader: BrowserUser) -> None:
    sender = {"full_name": "Ada Lovelace", "email": "ada@mail.test"}
    on_page(reader, sender, {"full_name": "Bob Babbage", "email": "bob@mail.test"}, kind="person")

    popup = reader.open_popup_on("http://mail.test/")

    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    assert looked_up(reader) == [[sender]]
    popup.get_by_role("button", name="2 people on this page").click()
    expect(row(popup, "Bob Babbage")).to_contain_text("Not known yet")


def test_other_people_of_a_profile_are_offered_and_not_looked_up_until_then(reader: BrowserUser) -> None:
    on_page(reader, {"linkedin_url": ADA, "full_name": "Ada Lovelace"}, {"full_name": "Bob Babbage"} | ACME)

    popup = reader.open_popup_on(reader.serve_profile("zoe-of-the-list", "Zoe Zed"))

    expect(popup.get_by_role("heading", level=1)).to_have_text("Zoe Zed")
    assert [list(subjects[0]) for subjects in looked_up(reader)] == [["linkedin_url"]]
    popup.get_by_role("button", name="2 people on this page").click()
    expect(row(popup, "Bob Babbage")).to_be_visible()


def test_names_with_markup_are_shown_as_text(reader: BrowserUser) -> None:
    name = "<img src=x onerror=alert(1)> Lovelace"
    on_page(reader, {"linkedin_url": ADA, "full_name": name, "title": "<b>Engineer</b>" * 400})

    popup = reader.open_popup_on(SEARCH_PAGE)

    expect(row(popup, name)).to_contain_text("<b>Engineer</b>")
    expect(popup.locator("main img, main b")).to_have_count(0)


def test_a_lead_that_was_bought_with_its_profile_is_found_alone_by_this_workspace_only(
    reader: BrowserUser,
) -> None:
    (ada,) = somebodies(1)
    store(reader, [ada])
    lead = f"https://www.linkedin.com/sales/lead/ACwAAA{secrets.token_hex(8)},NAME_SEARCH,x1"
    on_page(reader, {"full_name": ada.name, "linkedin_url": ada.profile, "member_url": lead})
    popup = reader.open_popup_on(SEARCH_PAGE)
    row(popup, ada.name).get_by_role("checkbox").check()
    popup.get_by_role("button", name="Find contacts").click()
    popup.get_by_role("button", name="Find 1 person").click()
    expect(row(popup, ada.name).get_by_role("link", name=ada.email)).to_be_visible()
    _workspace, stranger = reader.stack.create_workspace()

    def found(token: str) -> Any:
        body = {"subject": {"linkedin_url": lead}}
        return reader.stack.call("POST", LOOKUP, body, Authorization=token).body

    assert [value["email"] for value in found(reader.token)["revealed"]["emails"]] == [ada.email]
    assert found(stranger)["outcome"] == "none"
