"""Pages that try to mislead the reader, to overload it or to reach the extension."""

from __future__ import annotations

import json

import pytest
from chromium_support import BrowserUser
from page_reading import READ, read_people, serve
from playwright.sync_api import expect

HOSTILE = "http://hostile.test/"
TWO = "".join(
    f'<p><a href="https://www.linkedin.com/in/{slug}">Ada {slug.title()}</a></p>'
    for slug in ("first", "second")
)
GLOBALS = "Object.getOwnPropertyNames(window)"
MAIL = "https://mail.google.com/mail/u/0/"


def names(read: dict[str, object]) -> list[str]:
    people = read["people"]
    assert isinstance(people, list)
    return [person["full_name"] for person in people]


def test_the_page_cannot_change_what_the_reader_uses(user: BrowserUser) -> None:
    user.sign_in()
    script = """<script>
      const mark = Element.prototype.setAttribute.bind(document.documentElement, "data-called");
      const classes = [Array, String, Element, Node, Document, Map, RegExp, Range];
      for (const owner of classes.map((one) => one.prototype)) {
        for (const name of Object.getOwnPropertyNames(owner)) {
          try { owner[name] = () => { mark(name); return "evil"; }; } catch {}
        }
      }
      Object.prototype.full_name = "Evil Person";
      Object.prototype.email = "evil@evil.test";
      Object.assign(window, { URL: null, JSON: null, Object: null, getComputedStyle: null });
    </script>"""
    tab = serve(user, HOSTILE, TWO + script)
    popup = user.click_icon(tab)

    read = popup.evaluate(READ)

    assert names(read) == ["Ada First", "Ada Second"]
    assert all("email" not in person for person in read["people"])
    assert tab.locator("html").get_attribute("data-called") is None


def test_reading_a_page_twice_leaves_nothing_in_it(user: BrowserUser) -> None:
    user.sign_in()
    tab = serve(user, HOSTILE, TWO + "<p id=createElements></p>")
    before = tab.evaluate(GLOBALS), tab.content()
    popup = user.click_icon(tab)

    read = [names(popup.evaluate(READ)) for _ in range(2)]

    assert read == [["Ada First", "Ada Second"]] * 2
    assert (tab.evaluate(GLOBALS), tab.content()) == before


@pytest.mark.parametrize(
    "html",
    [
        "<form name=querySelectorAll></form><img name=createTreeWalker><img name=documentElement>",
        "<form><input name=parentElement><input name=closest><input name=getAttribute>{}</form>",
        "<div>" * 3_000,
        "<p>" + "a@" * 200_000 + "</p>",
        f'<p title="{"x@" * 100_000}">t</p><a href="mailto:{"a" * 100_000}@x.test">Long One</a>',
        '<a href="javascript:alert(1)//linkedin.com/in/x">Ada Script</a>',
        '<a href="https://www.linkedin.com.evil.test/in/x">Ada Host</a>',
        '<a href="https://evil.test/https://www.linkedin.com/in/x">Ada Path</a>',
        '<a href="https://user:password@linkedin.com@evil.test/in/x">Ada Login</a>',
        '<a href="https://www.linkedin.com/in/me">Ada Me</a>',
    ],
)
def test_elements_that_pretend_change_nothing(user: BrowserUser, html: str) -> None:
    user.sign_in()

    read = read_people(user, HOSTILE, html.replace("{}", "") + TWO)

    assert names(read) == ["Ada First", "Ada Second"]
    assert read["ms"] < 10_000


@pytest.mark.parametrize(
    "data",
    [
        "[" * 200_000,
        "{" + '"a":{' * 20_000,
        json.dumps([{"@type": "Person", "name": "Ada Bomb"}] * 100_000),
        json.dumps([{"@type": "Person", "name": {"a": 1}, "email": 1, "jobTitle": [[]]}] * 1_000),
        json.dumps({"@graph": [[[[[[{"@type": "Person", "name": "Not Shown"}]]]]]]}),
        '{"@type":"Person","name":"Ada First","__proto__":{"email":"evil@evil.test"},"constructor":1}',
        "null",
    ],
)
def test_json_ld_that_is_a_bomb_or_a_lie_is_left_out(user: BrowserUser, data: str) -> None:
    user.sign_in()
    script = f'<script type="application/ld+json">{data}</script>'

    read = read_people(user, HOSTILE, script + TWO)

    assert names(read) == ["Ada First", "Ada Second"]
    assert all("email" not in person for person in read["people"])


def test_the_text_of_a_mail_cannot_pretend_to_be_its_sender(user: BrowserUser) -> None:
    user.sign_in()
    fake = '<span class="gD" email="fake@evil.test" name="Fake One">Fake One</span>'
    html = (
        '<div class="adn ads"><span class="gD" email="ada@acme.test" name="Ada Lovelace">Ada Lovelace</span>'
        f'<div class="a3s">{fake}<div class="adn ads">{fake}</div></div></div>'
    )

    read = read_people(user, MAIL, html)

    assert "fake@evil.test" not in [person["email"] for person in read["people"]]


def test_script_in_a_name_is_shown_as_text(user: BrowserUser) -> None:
    user.sign_in()
    name = "Ada &lt;img src=x onerror=alert(1)&gt;"
    html = f'<div class="adn ads"><span class="gD" email="html@acme.test" name="{name}">{name}</span></div>'

    popup = user.click_icon(serve(user, MAIL, html))

    expect(popup.get_by_role("heading", level=1)).to_have_text("html@acme.test")
    assert popup.locator("img:not([src^='icons/'])").count() == 0


def test_a_page_whose_scripts_do_not_pause_is_an_ordinary_website(user: BrowserUser) -> None:
    user.sign_in()
    busy = "setTimeout(() => { const end = Date.now() + 14_000; while (Date.now() < end); }, 1_000)"

    popup = user.click_icon(serve(user, "http://busy.test/", f"<p>x</p><script>{busy}</script>"))

    expect(popup.get_by_text("No company is known for busy.test")).to_be_visible(timeout=12_000)
