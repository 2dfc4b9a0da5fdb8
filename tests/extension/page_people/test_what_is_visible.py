"""Only what the page shows is read, with clean names, and at most 200 people."""

from __future__ import annotations

from html import escape
from string import ascii_lowercase

import pytest
from chromium_support import BrowserUser
from page_reading import READ, read_people, serve

PEOPLE = "http://people.test/"
SEARCH = "https://www.linkedin.com/search/results/people/"
HIDDEN = {
    "display": "display:none",
    "visibility": "visibility:hidden",
    "opacity": "opacity:0",
    "nearly-transparent": "opacity:0.05",
    "left-of-the-page": "position:absolute;left:-9999px",
    "above-the-page": "position:absolute;top:-9999px",
    "no-size": "width:0;height:0;overflow:hidden",
    "one-pixel": "width:1px;height:1px;overflow:hidden;position:absolute",
    "clip": "position:absolute;clip:rect(0 0 0 0)",
    "clip-path": "clip-path:inset(50%)",
    "scale": "transform:scale(0)",
    "indented": "text-indent:-9999px;overflow:hidden",
    "font-size": "font-size:0",
    "filter": "filter:opacity(0)",
    "content": "content-visibility:hidden",
}
NAMES = {
    "Ada Lovelace": "Ada Lovelace",
    "Ada L.": "Ada L.",
    "Ada Lovelace • 2nd": "Ada Lovelace",
    "Ada Lovelace· 3rd+": "Ada Lovelace",
    "Ada Lovelace 2nd degree connection": "Ada Lovelace",
    "Ada Lovelace (She/Her)": "Ada Lovelace",
    "Jürgen Groß (er/ihm)": "Jürgen Groß",
    "Zoé Lefèvre (elle)": "Zoé Lefèvre",
    "Ada Lovelace she/her": "Ada Lovelace",
    "Ada Lovelace Premium": "Ada Lovelace",
    "Ada Lovelace is online": "Ada Lovelace",
    "(3) Ada Lovelace": "Ada Lovelace",
    "Ada Lovelace 99+": "Ada Lovelace",
    "View Ada Lovelace’s profile": "Ada Lovelace",  # noqa: RUF001 -- as sites write it
    "Profil von Ada Lovelace anzeigen": "Ada Lovelace",
    "Voir le profil de Ada Lovelace": "Ada Lovelace",
    "Ada Lovelace | Countess": "Ada Lovelace",
    "Ada Lovelace 🚀": "Ada Lovelace",
    "Ada\u200b Love\u00adlace": "Ada Lovelace",
    "\u202eAda Lovelace\u202c": "Ada Lovelace",
    "Ada\u0007 Lovelace\ufeff": "Ada Lovelace",
    "Augusta (Ada) King": "Augusta (Ada) King",
    "O'Neil, Mary": "O'Neil, Mary",
    "Gal·la Placídia": "Gal·la Placídia",
    "李小龙": "李小龙",
    "محمد علي": "محمد علي",
    "Мария Иванова": "Мария Иванова",
    "<script>alert(1)</script>": None,
    "https://evil.test/": None,
    "A" * 130: None,
}


READ_WITHIN = """async (milliseconds) => {
  const { LIMITS, runReader } = await import("/page_people.js");
  const { GENERIC_RULES: rules } = await import("/generic_rules.js");
  const [{ id: tabId }] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  const started = performance.now();
  const result = await runReader(tabId, rules.generic, rules.words, { ...LIMITS, milliseconds });
  return { ...result, ms: performance.now() - started };
}"""


def link(slug: str, style: str = "") -> str:
    return f'<p style="{style}"><a href="https://www.linkedin.com/in/{slug}">Ada {slug.title()}</a></p>'


def slugs(read: dict[str, object]) -> list[str]:
    people = read["people"]
    assert isinstance(people, list)
    return [person["linkedin_url"].rpartition("/")[2] for person in people]


def words(count: int) -> list[str]:
    """Return so many different words of letters."""
    letters = [
        first + second + third
        for first in ascii_lowercase
        for second in ascii_lowercase
        for third in "abcdefghijklmnop"
    ]
    return letters[:count]


def rows(count: int) -> str:
    return "".join(f"<li>{link(word)}<p>Engineer</p></li>" for word in words(count))


def test_what_the_page_hides_is_not_read(user: BrowserUser) -> None:
    user.sign_in()
    hidden = "".join(link(name, style) for name, style in HIDDEN.items())
    transparent = (
        '<a href="https://www.linkedin.com/in/color"><span style="color:transparent">Ada Color</span></a>'
    )
    clipped = (
        f'<div style="overflow:hidden;height:20px"><div style="height:99px">x</div>{link("clipped")}</div>'
    )
    closed = f"<details><summary>More</summary>{link('details')}</details><dialog>{link('dialog')}</dialog>"
    unused = f"<template>{link('template')}</template><noscript>{link('noscript')}</noscript>"
    html = link("first") + hidden + transparent + clipped + closed + unused + link("last")

    read = read_people(user, PEOPLE, html)

    assert slugs(read) == ["first", "last"]


def test_what_can_be_scrolled_to_is_read(user: BrowserUser) -> None:
    user.sign_in()
    inside = f'<div style="overflow:auto;height:40px"><div style="height:200px">x</div>{link("inside")}</div>'
    frame = f'<div style="overflow:hidden;height:300px">{inside}</div>'
    html = f'{link("first")}{frame}<div style="height:5000px"></div>{link("below")}'

    read = read_people(user, PEOPLE, html)

    assert slugs(read) == ["first", "inside", "below"]


def test_names_are_cleaned_and_never_guessed(user: BrowserUser) -> None:
    user.sign_in()
    row = (
        '<div data-view-name="people-search-result"><a data-view-name="search-result-lockup-title" '
        'href="https://www.linkedin.com/in/x{}">{}</a></div>'
    )
    html = "".join(row.format(index, escape(name)) for index, name in enumerate(NAMES))
    hidden = row.format("y", "LinkedIn Member") + row.format("z", "LinkedIn Mitglied")

    read = read_people(user, SEARCH, f"<main>{html}{hidden}</main>")

    found = {person["linkedin_url"].rpartition("/x")[2]: person.get("full_name") for person in read["people"]}
    assert found == {str(index): name for index, name in enumerate(NAMES.values())}


@pytest.mark.parametrize(("count", "left_out"), [(200, 0), (201, 1), (250, 50)], ids=str)
def test_at_most_200_people_are_read_and_the_others_counted(
    user: BrowserUser, count: int, left_out: int
) -> None:
    user.sign_in()

    read = read_people(user, PEOPLE, f"<ul>{rows(count)}</ul>")

    print(f"{count} people: {read['ms']:.0f} ms")  # noqa: T201 -- for the docs
    assert slugs(read) == words(200)
    assert read["left_out"] == left_out
    assert read["people"][0] == {
        "full_name": "Ada Aaa",
        "title": "Engineer",
        "linkedin_url": "https://www.linkedin.com/in/aaa",
    }


@pytest.mark.parametrize(("milliseconds", "people", "left_out"), [(120_000, 200, 9_800), (0, 0, 0)])
def test_a_page_of_10000_people_takes_no_longer_than_it_may(
    user: BrowserUser, milliseconds: int, people: int, left_out: int
) -> None:
    user.sign_in()
    popup = user.click_icon(serve(user, PEOPLE, f"<ul>{rows(10_000)}</ul>"))

    read = popup.evaluate(READ_WITHIN, milliseconds)

    print(f"10,000 people: {read['ms']:.0f} ms")  # noqa: T201 -- for the docs
    assert (len(read["people"]), read["left_out"]) == (people, left_out)


@pytest.mark.parametrize(
    "row",
    [
        "<div class=c><p class=n>{0}</p><p class=t>{1}</p><p class=l>{2}</p></div>",
        "<div class=c><p class=n>{0}</p><p class=l>{2}</p><p class=t>{1}</p></div>",
        "<p><b>{0}</b><br>{1}<br>{2}</p>",
        "<li>{0}, {1}</li>",
        "<h3>{0}</h3><p>{1}</p>",
        "<article><h3><a href='/p'>{0}</a></h3><div><em>{1}</em></div></article>",
        "<div><div><h4 style='text-transform:uppercase'>{0}</h4></div><div><span>{1}</span></div></div>",
    ],
)
def test_a_team_is_read_however_its_page_is_built(user: BrowserUser, row: str) -> None:
    user.sign_in()
    people = [
        ("Ada Lovelace", "Chief Engineer", "New York"),
        ("Grace Hopper", "VP Engineering", "San Francisco"),
        ("Anna Kaufmann", "Controller", "Bad Homburg"),
    ]

    read = read_people(user, PEOPLE, "".join(row.format(*one) for one in people))

    assert [(one["full_name"], one["title"]) for one in read["people"]] == [one[:2] for one in people]
    assert read["rule"] == "team"


def test_a_person_whom_several_rules_find_is_one(user: BrowserUser) -> None:
    user.sign_in()
    card = (
        '<li><h3>{0}</h3><p>Engineer</p><a href="mailto:{1}@x.test">Mail</a>'
        '<a href="https://www.linkedin.com/in/{1}">in</a></li>'
    )
    names = [("Ada Lovelace", "ada"), ("Grace Hopper", "grace"), ("Mary Somerville", "mary")]

    read = read_people(user, PEOPLE, "".join(card.format(*name) for name in names))

    assert read["people"] == [
        {
            "full_name": name,
            "title": "Engineer",
            "email": f"{slug}@x.test",
            "linkedin_url": f"https://www.linkedin.com/in/{slug}",
        }
        for name, slug in names
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Nothing</p>",
        "<h3>Our Products</h3><p>Great</p>" * 9,
        "<div><h3>Blue Widget</h3><p>Great Value</p><p>9 €</p></div>" * 9,
        '<a href="mailto:info@acme.test">info@acme.test</a> <a href="mailto:sales@acme.test">Sales Team</a>',
        f"{link('alone')}<footer><a href='https://www.linkedin.com/company/acme'>Acme</a></footer>",
        "<article><h2>The New Things</h2><p>by Ada Lovelace</p></article>" * 5,
        "<p>Ada Lovelace: ada@acme.test</p>",
        "".join(
            f"<div><h3>{name}</h3><p>Our office</p></div>" for name in ("New York", "Los Angeles", "Bad Ems")
        ),
        "".join(
            f"<div><h3>{job}</h3><p>New York</p></div>" for job in ("Data Engineer", "Sales Lead", "Writer")
        ),
    ],
)
def test_a_page_without_several_people_is_no_list(user: BrowserUser, html: str) -> None:
    user.sign_in()

    read = read_people(user, "http://www.acme.test/", html)

    assert (read["kind"], read["people"], read["page"]["kind"]) == ("none", [], "site")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/friends",
        "https://web.whatsapp.com/",
        "https://www.linkedin.com/feed/",
        "https://www.linkedin.com/messaging/thread/1",
        "https://docs.google.com/document/d/1",
    ],
)
def test_pages_for_other_purposes_are_not_read(user: BrowserUser, url: str) -> None:
    user.sign_in()

    read = read_people(user, url, link("first") + link("second"))

    assert (read["kind"], read["people"]) == ("none", [])


def test_a_page_that_changes_while_it_is_read_is_read_as_it_was_at_one_moment(user: BrowserUser) -> None:
    user.sign_in()
    script = """<script>setInterval(() => {
      const list = document.querySelector("ul");
      list.append(...[...list.children].reverse().map((one) => one.cloneNode(true)));
      for (const row of [...list.children].slice(0, -60)) row.remove();
    }, 1)</script>"""
    popup = user.click_icon(serve(user, PEOPLE, f"<ul>{rows(60)}</ul>{script}"))

    reads = [popup.evaluate(READ) for _ in range(5)]

    assert {len(read["people"]) for read in reads} == {60}
    assert {frozenset(slugs(read)) for read in reads} == {frozenset(words(60))}


def test_another_page_in_the_tab_is_not_read(user: BrowserUser) -> None:
    user.sign_in()
    tab = serve(user, PEOPLE, link("first") + link("second"))
    popup = user.click_icon(tab)
    page = popup.evaluate(READ)["page"]
    serve(user, "http://other.test/", link("third") + link("fourth"))

    read = popup.evaluate(
        'async (page) => (await import("/page_people.js")).readPeople(page)', page | {"host": "people.test"}
    )

    assert read == {"kind": "none", "rule": "", "people": [], "left_out": 0}
