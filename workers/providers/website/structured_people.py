"""People in formats for programs: JSON-LD and microdata of schema.org, microformats (h-card, hCard)."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.emails import email_reasons
from app.domain.normal.names.names import PersonName
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.normal.websites import normal_website
from app.domain.single_lines import UNSHOWN
from workers.providers.website import addresses
from workers.providers.website.names_on_page import MAX_TITLE_LENGTH, agrees, is_title, name_of

MAX_SCRIPT_LENGTH = 300_000
MAX_SCRIPTS = 20
MAX_VALUES = 20_000
"""Values of all JSON-LD of a page."""
MAX_CARDS = 300

_EMPLOYED = frozenset({"employee", "employees", "founder", "founders", "member", "contactpoint"})
_OTHERS = frozenset({
    "about", "actor", "actors", "alumni", "attendee", "author", "blogpost", "children", "citation",
    "colleague", "comment", "comments", "contributor", "creator", "customer", "director", "editor",
    "funder", "haspart", "illustrator", "itemreviewed", "knows", "mentions", "parent", "performer",
    "performers", "publisher", "review", "reviewedby", "reviews", "sibling", "speaker", "sponsor",
    "spouse", "subjectof", "translator",
})  # fmt: skip
"""Properties whose people are not of the company, or not as such: writers, reviewers, guests, relatives."""
_ORGANIZATIONS = frozenset({"organization", "corporation", "localbusiness", "newsmediaorganization"})
_FOUNDED = frozenset({"founder", "founders"})
_UNSHOWN = re.compile(f"[{UNSHOWN}]")
_START = re.compile(r"\s*(?:(?://|/\*)?\s*<!\[CDATA\[\s*(?:\*/)?)?(?:<!--)?[^\[{]{0,200}")
"""What stands before the JSON in a script: comments for browsers that knew no scripts."""
_ASIDE_PROPERTIES = re.compile(
    r"\b(?:author|review|reviewedBy|comment|performer|creator|actor|customer)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A person on a page as found: with a name and values, the address being at the company's domain."""

    name: PersonName
    title: str | None = None
    email: str | None = None
    phone: str | None = None
    linkedin_url: str | None = None
    is_labelled: bool = False


def read(page: LexborHTMLParser, domain: str) -> list[Candidate]:
    """Return the people of the company in JSON-LD, microdata and microformats."""
    return [*_json_ld(page, domain), *_microdata(page, domain), *_cards(page, domain)]


def _json_ld(page: LexborHTMLParser, domain: str) -> Iterator[Candidate]:
    remaining = MAX_VALUES
    for script in page.css('script[type*="ld+json"]')[:MAX_SCRIPTS]:
        # a value, its property, whether it is the company's
        stack: list[tuple[Any, str, bool]] = [(_parsed(script.text() or ""), "", True)]
        while stack and remaining > 0:
            remaining -= 1
            value, relation, is_own = stack.pop()
            if isinstance(value, list):
                stack.extend((item, relation, is_own) for item in reversed(value))
            elif isinstance(value, dict):
                types = _types(value)
                if "person" in types and is_own and (found := _person(value, relation, domain)):
                    yield found
                is_own = is_own and not (types & _ORGANIZATIONS and _is_elsewhere(value, domain))
                stack.extend(
                    (item, name.lower(), is_own and name.lower() not in _OTHERS)
                    for name, item in reversed(list(value.items()))
                    if isinstance(item, dict | list)
                )


def _parsed(text: str) -> object:
    """Return the JSON in a script, without comments around it; None if it is not JSON, or too long."""
    if len(text) > MAX_SCRIPT_LENGTH:
        return None
    plain = _START.sub("", text, count=1)
    for json_text in (plain, html.unescape(plain)):
        try:
            return json.JSONDecoder(strict=False).raw_decode(json_text)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _types(value: dict[str, Any]) -> set[str]:
    raw = value.get("@type")
    names = raw if isinstance(raw, list) else [raw]
    return {name.rpartition("/")[2].rpartition(":")[2].lower() for name in names if isinstance(name, str)}


def _is_elsewhere(value: dict[str, Any], domain: str) -> bool:
    """Return whether an organization has another website than the company."""
    sites = [site for site in (_text(value, "url"), _text(value, "@id")) if site and "://" in site]
    return any(_domain(site) not in {domain, None} for site in sites[:1])


def _person(value: dict[str, Any], relation: str, domain: str) -> Candidate | None:
    name = name_of(_text(value, "name") or f"{_text(value, 'givenName')} {_text(value, 'familyName')}")
    title = _text(value, "jobTitle") or _text(value, "roleName")
    if title is None and relation in _FOUNDED:
        title = "Founder"
    employers = value.get("worksFor") or value.get("affiliation")
    for employer in employers if isinstance(employers, list) else [employers]:
        if isinstance(employer, dict) and (
            _is_elsewhere(employer, domain) or _is_named_otherwise(employer, domain)
        ):
            return None
    if name is None or not (title or relation in _EMPLOYED):
        return None
    profiles = value.get("sameAs")
    return _candidate(
        name,
        domain,
        title=title,
        email=_text(value, "email"),
        phone=_text(value, "telephone"),
        profiles=profiles if isinstance(profiles, list) else [profiles],
    )


def _is_named_otherwise(employer: dict[str, Any], domain: str) -> bool:
    """Return whether an employer without a website has a name that is not like the company's domain."""
    name = company_key(_text(employer, "name") or "").replace(" ", "")
    label = domain.partition(".")[0].replace("-", "")
    return bool(name) and not _text(employer, "url") and label not in name and name not in label


def _microdata(page: LexborHTMLParser, domain: str) -> Iterator[Candidate]:
    for item in page.css('[itemtype*="schema.org/Person" i]')[:MAX_CARDS]:
        if _is_of_others(item):
            continue
        values = {
            name: _property(found)
            for name in ("name", "jobTitle", "email", "telephone")
            if (found := item.css_first(f'[itemprop~="{name}"]'))
        }
        name, title = name_of(values.get("name", "")), values.get("jobTitle")
        if name and title:
            links = [link.attributes.get("href") for link in item.css("a[href]")[:MAX_SCRIPTS]]
            yield _candidate(
                name,
                domain,
                title=title,
                email=values.get("email"),
                phone=values.get("telephone"),
                profiles=links,
            )


def _is_of_others(item: LexborNode) -> bool:
    node: LexborNode | None = item
    for _ in range(12):
        if node is None:
            return False
        if _ASIDE_PROPERTIES.search(node.attributes.get("itemprop") or ""):
            return True
        node = node.parent
    return False


def _cards(page: LexborHTMLParser, domain: str) -> Iterator[Candidate]:
    """Read h-card and hCard; a card without a title may be an organization's or a reader's."""
    for card in page.css(".h-card, .vcard")[:MAX_CARDS]:
        name = name_of(_first(card, ".p-name, .fn"))
        title = _first(card, ".p-job-title, .p-role, .title, .role")
        organization = _first(card, ".p-org, .org")
        label = domain.partition(".")[0].replace("-", "")
        is_elsewhere = organization and label not in company_key(organization).replace(" ", "")
        if name is None or not title or not is_title(title) or is_elsewhere:
            continue
        links = [link.attributes.get("href") for link in card.css("a[href]")[:MAX_SCRIPTS]]
        yield _candidate(
            name,
            domain,
            title=title,
            email=_property(found) if (found := card.css_first(".u-email, .email")) else None,
            phone=_property(found) if (found := card.css_first(".p-tel, .tel")) else None,
            profiles=links,
        )


def _candidate(
    name: PersonName,
    domain: str,
    *,
    title: str | None,
    email: str | None,
    phone: str | None,
    profiles: list[Any],
) -> Candidate:
    """Return the person with the address if it is the person's own, at the company."""
    found = [*addresses.in_link(email or ""), *addresses.in_text(email or "")]
    own = [address for address in dict.fromkeys(found) if addresses.is_at(address, domain)]
    address = (
        own[0] if len(own) == 1 and "role" not in email_reasons(own[0]) and agrees(own[0], name) else None
    )
    urls = [url for url in map(_profile, profiles) if url]
    title = " ".join(_UNSHOWN.sub(" ", title).split())[:MAX_TITLE_LENGTH] if title else None
    return Candidate(
        name=name,
        title=title or None,
        email=address,
        phone=(phone or "").removeprefix("tel:") or None,
        linkedin_url=urls[0] if len(set(urls)) == 1 else None,
        is_labelled=True,
    )


def _profile(url: object) -> str | None:
    if not isinstance(url, str) or "linkedin.com/in/" not in url.lower():
        return None
    try:
        return normal_profile_url(url)
    except (InvalidValue, NotAProfileUrl):
        return None


def _property(node: LexborNode) -> str:
    attributes = node.attributes
    for name in ("content", "href"):
        if value := attributes.get(name):
            return value
    return node.text(separator=" ").strip()[:300]


def _first(node: LexborNode, selector: str) -> str:
    found = node.css_first(selector)
    return " ".join(found.text(separator=" ").split())[:300] if found else ""


def _text(value: dict[str, Any], name: str) -> str | None:
    found = value.get(name)
    if isinstance(found, list) and found:
        found = found[0]
    return found.strip()[:300] or None if isinstance(found, str) else None


def _domain(url: str) -> str | None:
    try:
        return normal_website(url)
    except InvalidValue:
        return None
