"""A lead and a profile of one person: both are read only if they are certainly of the same person."""

from __future__ import annotations

from html import escape

import pytest
from chromium_support import BrowserUser
from page_reading import read_people

LINKEDIN = "https://www.linkedin.com"
SEARCH = f"{LINKEDIN}/sales/search/people?page=1"
LEAD = f"{LINKEDIN}/sales/lead/ACwAAAada000,NAME_SEARCH,x1"
ADA = f"{LINKEDIN}/in/ada-lovelace"
BOB = '<a href="/in/bob-byron">Bob Byron</a>'


def a_row(*further: str, name: str = "Ada Lovelace", lead: str = LEAD) -> str:
    return (
        f'<li class="artdeco-list__item"><a href="{lead}">'
        f'<span data-anonymize="person-name">{escape(name)}</span></a>'
        f'<span data-anonymize="title">Engineer</span>{"".join(further)}</li>'
    )


def read_rows(user: BrowserUser, *rows: str) -> list[dict[str, str]]:
    html = f"<!doctype html><html lang=en><title>Leads</title><main><ol>{''.join(rows)}</ol></main>"
    people: list[dict[str, str]] = read_people(user, SEARCH, html)["people"]
    return people


@pytest.mark.parametrize(
    "profile",
    [
        f'<a href="{ADA}">Ada Lovelace</a>',
        f'<a href="{ADA}/?trk=x" aria-label="Profile of Ada Lovelace"><svg width=20 height=20></svg></a>',
        f'<a href="{ADA}">LinkedIn</a>',
        f'<a href="{ADA}">Ada Lovelace</a><a href="{LEAD.replace("x1", "x2")}">Ada Lovelace</a>',
        f'<a href="{ADA}">LinkedIn</a><a href="/company/acme">Acme</a><a href="/in/me">You</a>',
    ],
)
def test_a_lead_and_the_profile_of_the_same_person_are_both_read(user: BrowserUser, profile: str) -> None:
    user.sign_in()

    [one] = read_rows(user, a_row(profile))

    assert one["linkedin_url"] == ADA
    assert one["member_url"].startswith(f"{LINKEDIN}/sales/lead/ACwAAAada000,")


@pytest.mark.parametrize(
    "further",
    [
        BOB,  # a shared connection
        f'<a href="{ADA}">Ada Lovelace</a>{BOB}',
        f'<a href="{ADA}">Ada Lovelace</a><a href="{ADA}-2">Ada Lovelace</a>',
        f'<a href="{ADA}">Ada Lovelace</a><a href="/sales/lead/ACwAAAbob000,x">Ada Lovelace</a>',
        '<a href="/in/bob-byron">LinkedIn</a>',
        '<a href="/in/ada-lovelace">Bob Byron</a>',
        '<a href="/in/ada-byron-king">LinkedIn</a>',
        f'<a href="{ADA}" style="opacity:0">Ada Lovelace</a>',
        '<a href="https://www.linkedin.com.evil.test/in/ada-lovelace">Ada Lovelace</a>',
        "<span>https://www.linkedin.com/in/ada-lovelace Ada Lovelace</span>",
        '<a href="/in/me">Ada Lovelace</a>',
    ],
)
def test_a_lead_is_read_alone_beside_what_may_be_of_somebody_else(user: BrowserUser, further: str) -> None:
    user.sign_in()

    [one] = read_rows(user, a_row(further))

    assert one["member_url"] == LEAD
    assert "linkedin_url" not in one


def test_a_profile_beside_several_leads_is_nobodys(user: BrowserUser) -> None:
    user.sign_in()
    profile = f'<a href="{ADA}">Ada Lovelace</a>'
    other = LEAD.replace("ada000", "xyz000")

    people = read_rows(user, a_row(profile), a_row(profile, lead=other))

    assert [sorted(one) for one in people] == [["full_name", "member_url", "title"]] * 2


@pytest.mark.parametrize(
    ("card", "has_both"),
    [
        (f'<a href="{ADA}">LinkedIn</a>', True),
        (f'<a href="{ADA}">Ada Lovelace</a>', True),
        (f'<a href="{ADA}">Ada Lovelace</a>{BOB}', False),
        (BOB, False),
    ],
)
def test_on_the_page_of_a_lead_its_address_is_the_lead(
    user: BrowserUser,
    card: str,
    has_both: bool,  # noqa: FBT001 -- a case
) -> None:
    user.sign_in()
    html = (
        '<!doctype html><html lang=en><title>Lead</title><main><section id="profile-card-section">'
        f'<h1 data-anonymize="person-name">Ada Lovelace</h1>{card}</section></main>'
    )

    [one] = read_people(user, LEAD, html)["people"]

    assert ("member_url" in one and "linkedin_url" in one) is has_both


def test_a_website_cannot_link_a_lead_to_a_profile(user: BrowserUser) -> None:
    user.sign_in()
    rows = "".join(
        f'<li><a href="{LINKEDIN}/in/{slug}">{name}</a>'
        f'<a href="{LINKEDIN}/sales/lead/ACwAAA{slug}0,x">{name}</a></li>'
        for slug, name in (("ada-lovelace", "Ada Lovelace"), ("bob-byron", "Bob Byron"))
    )
    html = f"<!doctype html><html lang=en><title>Speakers</title><main><ul>{rows}</ul></main>"

    people = read_people(user, "http://event.test/speakers", html)["people"]

    assert not [one for one in people if "linkedin_url" in one and "member_url" in one]
