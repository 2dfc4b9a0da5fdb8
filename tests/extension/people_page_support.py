"""Pages of several people, which a tab serves, and what a workspace and the vendors have of them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from chromium_support import BrowserUser, copy_extension
from company_support import Company
from crm_index_support import a_crm, in_crm
from fake_crms import TOKEN, FakeTwenty
from polling import wait_until
from vendors_support import FakeVendors, prospeo_finds
from werkzeug import Request

from app.domain.findings import EmailStatus, FoundContact, FoundEmail, Source, SourceKind
from app.engine.contacts import contacts
from app.infra import clock

READER = """export async function readPeople() {
  const { on_page: found } = await chrome.storage.session.get("on_page");
  return found ?? { kind: "none", rule: "", people: [], left_out: 0 };
}
"""
SEARCH_PAGE = "https://www.linkedin.com/search/results/people/"
"""A page whose people are listed at once; on a website they are offered."""
PAGE = "<!doctype html><html lang=en><title>People</title><main><ul>{rows}</ul></main>"
ROW = '<li class="reusable-search__result-container"><a href="{url}">{name}</a></li>'
FIRST_NAMES = "Ada Bob Cleo Dora Emil Fay Gus Hedy Ivo Jana Kurt Lena Milo Nora Otto Pia Quin Rosa Sven Tilda"
LAST_NAMES = "Adler Brandt Celik Duarte Engel Fabre Greco Horvat Ibsen Jansen"


@dataclass(frozen=True, slots=True)
class Somebody:
    """A person on a page: name, profile, and the address that a vendor finds."""

    name: str
    profile: str
    email: str


def somebodies(count: int) -> list[Somebody]:
    """Return people whom nobody knows."""
    tag = secrets.token_hex(4)
    firsts, lasts = FIRST_NAMES.split(), LAST_NAMES.split()
    names = [
        f"{firsts[number % len(firsts)]} {lasts[number // len(firsts) % len(lasts)]}"
        for number in range(count)
    ]
    return [
        Somebody(
            name, f"https://www.linkedin.com/in/person-{number}-{tag}", f"person-{number}-{tag}@northwind.dev"
        )
        for number, name in enumerate(names)
    ]


def serve_people(user: BrowserUser, people: Sequence[Somebody], url: str = SEARCH_PAGE) -> str:
    """Serve a page with the names and profiles of people in the first tab, until that tab is closed."""
    rows = "".join(ROW.format(url=escape(one.profile), name=escape(one.name)) for one in people)
    html = PAGE.format(rows=rows)
    user.tabs()[0].route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
    return url


def without_reader(folder: Path) -> None:
    """Copy the extension to the folder of a browser, with what a test sets in place of what pages show."""
    (copy_extension(folder) / "page_people.js").write_text(READER)


def on_page(user: BrowserUser, *people: dict[str, str], kind: str = "list", left_out: int = 0) -> None:
    """Set what all pages show, for a browser without a reader."""
    found = {"kind": kind, "rule": "test", "people": people, "left_out": left_out}
    user.set_storage("session", on_page=found)
    serve_people(user, [])


def of_company(company: Company) -> list[Somebody]:
    """Return the people of a company of `create_company`, as a page names them."""
    names = {"Ada": "Ada Lovelace", "Bob": "Bob Babbage", "Cleo": "Cleo Clarke"}
    return [
        Somebody(names[first], profile, company.emails.get(first, ""))
        for first, profile in company.profiles.items()
    ]


def store(user: BrowserUser, people: Sequence[Somebody], *, title: str = "Recruiter") -> None:
    """Store people with their addresses."""
    source = Source("people.csv", SourceKind.IMPORT, clock.now())
    with user.stack.database.transaction() as session:
        for one in people:
            address = FoundEmail(email=one.email, type="work", status=EmailStatus.VALID, source=source)
            found = FoundContact(
                source=source,
                full_name=one.name,
                title=title,
                linkedin_url=one.profile,
                emails=(address,),
            )
            contacts.upsert(session, found, now=clock.now())


def own(user: BrowserUser, people: Sequence[Somebody]) -> None:
    """Store people, and reveal their addresses to the workspace."""
    store(user, people)
    reveal(user, people)


def reveal(user: BrowserUser, people: Sequence[Somebody]) -> None:
    """Reveal the addresses of stored people to the workspace."""
    for one in people:
        body = {"subject": {"linkedin_url": one.profile}}
        response = user.stack.call("POST", "/api/ext/reveal/email", body, Authorization=user.token)
        assert response.body["result"]["emails"], response.body


def put_into_crm(user: BrowserUser, people: Sequence[Somebody], **fields: Any) -> None:
    """Put people into the workspace's HubSpot, without an address unless `fields` has some."""
    (witness,) = somebodies(1)
    with user.stack.database.transaction() as session:
        known = [{"profiles": [one.profile]} | fields for one in (*people, witness)]
        in_crm(session, a_crm(session, user.workspace), *known)
    wait_until_skipped(user, witness)


def connect_twenty(user: BrowserUser, crm: FakeTwenty, people: Sequence[Somebody] = ()) -> None:
    """Connect a Twenty with these people, by their profiles only, and wait until it has been read."""
    (witness,) = somebodies(1)
    for one in (*people, witness):
        first, last = one.name.split()
        crm.people[str(uuid4())] = {
            "name": {"firstName": first, "lastName": last},
            "linkedinLink": {"primaryLinkUrl": one.profile},
            "updatedAt": clock.rfc3339(clock.now()),
        }
    body = {"vendor": "twenty", "token": TOKEN, "base_url": crm.url}
    response = user.stack.call("POST", "/api/crm/connections", body, Authorization=user.token)
    assert response.status == 201, response.body
    wait_until_skipped(user, witness)


def wait_until_skipped(user: BrowserUser, witness: Somebody) -> None:
    """Wait until a worker skips a person of the workspace's CRM whom no page shows.

    The server and the workers remember for a few seconds that no workspace has a system of its own, for
    lookups and for prices.
    """
    subject = {"linkedin_url": witness.profile}
    call = partial(user.stack.call, "POST", Authorization=user.token)
    wait_until(lambda: call("/api/ext/lookup", {"subject": subject}).body["crm"])
    attempts = count(1)

    def ask(**options: Any) -> Any:
        item = {"subject": subject, "client_reference": str(next(attempts))}
        request = {"entity": "person", "fields": ["email"], "items": [item], "skip": ["crm"], **options}
        return call("/api/ext/enrichment-request", request).body

    wait_until(lambda: ask(dry_run=True)["estimate"]["skipped"])
    wait_until(lambda: ask()["result"]["items"][0]["outcome"] == "skipped")


@dataclass
class FindsEverybody:
    """Prospeo with the address of everybody in `people`; it finds nobody else."""

    vendors: FakeVendors
    people: dict[str, Somebody] = field(default_factory=dict)

    def know(self, people: Sequence[Somebody]) -> None:
        self.people |= {one.profile: one for one in people}
        self.vendors.responders["prospeo"] = self.reply

    def reply(self, request: Request) -> tuple[int, Any]:
        known = self.people.get(request.get_json()["data"].get("linkedin_url", ""))
        if known is None:
            return 400, {"error": True, "error_code": "NO_MATCH"}
        return prospeo_finds(known.email)(request)


def hunter_finds_people(
    domain: str, organization: str, names: Sequence[str] = ("Dora Engel", "Emil Fabre", "Fay Greco")
) -> tuple[int, Any]:
    """Return Hunter's answer to a search for the people of a domain."""
    emails = [_on_hunter(domain, *name.split()) for name in names]
    return 200, {"data": {"domain": domain, "organization": organization, "emails": emails}}


def _on_hunter(domain: str, first: str, last: str) -> dict[str, Any]:
    return {
        "value": f"{first.lower()}@{domain}",
        "type": "personal",
        "confidence": 95,
        "first_name": first,
        "last_name": last,
        "position": "Engineer",
        "verification": {"status": "valid"},
    }
