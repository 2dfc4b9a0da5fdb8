"""The people that are read of each site, in three languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import page_structures as pages
import pytest
from chromium_support import BrowserUser
from page_reading import read_people
from page_structures import LANGUAGES, Language, Someone

Fields = tuple[str, ...]
LINKEDIN = "https://www.linkedin.com"
BASIC: Fields = ("full_name", "title", "linkedin_url")
LOCATED: Fields = (*BASIC, "location")
LEAD: Fields = ("full_name", "title", "company_name", "location", "member_url")
REACHABLE: Fields = ("full_name", "email", "phone")
LISTS: dict[str, tuple[str, Callable[[Language], str], Fields]] = {
    "linkedin-search": (f"{LINKEDIN}/search/results/people/?keywords=x", pages.linkedin_search, LOCATED),
    "linkedin-search of 2026": (
        *(f"{LINKEDIN}/search/results/people/", pages.linkedin_search_of_2026),
        LOCATED,
    ),
    "linkedin-company-people": (f"{LINKEDIN}/company/acme/people/", pages.linkedin_company_people, BASIC),
    "sales-navigator": (f"{LINKEDIN}/sales/search/people?page=1", pages.sales_navigator, LEAD),
    "sales-navigator list": (f"{LINKEDIN}/sales/lists/people/77", pages.sales_navigator_list, LEAD),
    "recruiter": (f"{LINKEDIN}/talent/hire/5/discover/recruiterSearch", pages.recruiter, LEAD),
    "json-ld": ("http://ld.test/team", pages.json_ld, BASIC),
    "microdata": ("http://micro.test/team", pages.microdata, ("full_name", "title", "email", "phone")),
    "h-card": ("http://card.test/", pages.h_card, ("full_name", "title", "company_name", "email")),
    "contact-links": ("http://links.test/", pages.contact_links, ("full_name", "title", "email", "phone")),
    "profile-links": ("http://event.test/speakers", pages.profile_links, BASIC),
    "team": ("http://team.test/about", pages.team, ("full_name", "title")),
    "addresses": ("http://addresses.test/", pages.addresses, ("full_name", "email")),
}
PERSONS: dict[str, tuple[str, Callable[[Language], str], int, Fields]] = {
    "gmail": ("https://mail.google.com/mail/u/0/#inbox/abc", pages.gmail, 2, ("full_name", "email")),
    "outlook": ("https://outlook.office.com/mail/inbox/id/1", pages.outlook, 2, ("full_name", "email")),
    "google-calendar": (
        *("https://calendar.google.com/calendar/u/0/r", pages.google_calendar),
        *(2, ("full_name", "email")),
    ),
    "outlook-calendar": (
        *("https://outlook.live.com/calendar/view/week", pages.outlook_calendar),
        *(2, ("full_name", "email")),
    ),
    "roundcube": ("https://webmail.acme.test/?_task=mail", pages.roundcube, 2, ("full_name", "email")),
    "webmail": ("https://mail.acme.test/message/1", pages.unknown_webmail, 1, ("full_name", "email")),
    "webmail-path": ("https://www.acme.test/SOGo/so/me", pages.unknown_webmail, 1, ("full_name", "email")),
    "hubspot-contact": (
        *("https://app-eu1.hubspot.com/contacts/1/record/0-1/2", pages.hubspot),
        *(1, (*REACHABLE, "title")),
    ),
    "salesforce": (
        *("https://acme.lightning.force.com/lightning/r/Contact/003/view", pages.salesforce),
        *(1, (*REACHABLE, "title", "company_name")),
    ),
    "pipedrive": (
        *("https://acme.pipedrive.com/person/7", pages.pipedrive),
        *(1, (*REACHABLE, "company_name")),
    ),
    "twenty": (
        *("https://crm.acme.test/object/person/1b", pages.twenty),
        *(1, (*REACHABLE, "company_name", "linkedin_url")),
    ),
    "sales-navigator-lead": (f"{LINKEDIN}/sales/lead/ACwAAAada000,x", pages.sales_navigator_lead, 1, LEAD),
}
BY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)


def expected(someone: Someone, fields: Fields) -> dict[str, Any]:
    everything = {
        "full_name": someone.name,
        "title": someone.title,
        "company_name": someone.company,
        "location": someone.place,
        "linkedin_url": f"{LINKEDIN}/in/{someone.slug}",
        "email": someone.email,
        "phone": someone.phone,
    }
    return {field: everything[field] for field in fields if field in everything}


@BY_LANGUAGE
@pytest.mark.parametrize("site", LISTS)
def test_the_people_of_a_list(user: BrowserUser, site: str, language: Language) -> None:
    user.sign_in()
    url, build, fields = LISTS[site]

    read = read_people(user, url, build(language))

    urls = [person.pop("member_url", "") for person in read["people"]]
    assert read["people"] == [expected(someone, fields) for someone in language.people]
    assert (read["kind"], read["rule"], read["left_out"]) == ("list", site.split(maxsplit=1)[0], 0)
    if "member_url" in fields:
        assert [someone.slug in url for someone, url in zip(language.people, urls, strict=True)] == [True] * 3
        assert not [url for url in urls if "?" in url or not url.startswith(LINKEDIN)]


@BY_LANGUAGE
@pytest.mark.parametrize("site", PERSONS)
def test_the_person_that_a_page_is_about(user: BrowserUser, site: str, language: Language) -> None:
    user.sign_in()
    url, build, count, fields = PERSONS[site]

    read = read_people(user, url, build(language))

    for person in read["people"]:
        person.pop("member_url", None)
    assert read["people"] == [expected(someone, fields) for someone in language.people[:count]]
    assert (read["kind"], read["rule"]) == ("person", site)
    assert read["page"]["kind"] == ("profile" if site == "sales-navigator-lead" else "nothing")
