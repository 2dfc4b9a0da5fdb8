"""Profile URLs in normal form: one URL for all spellings used in practice.

A `/pub/` URL from before 2015 has the member's number in three groups of hex digits, lowest last. LinkedIn
redirects `/pub/krzysztof-marzec/a7/576/b50` to `/in/krzysztof-marzec-b50576a7` (README of the npm package
linkedin-canonical-url): the groups in reverse. The last two are padded with zeros to three digits, as public
converters do; the first is not.

Schools and showcases share one namespace with companies, and LinkedIn redirects between the three, so all of
them become `/company/<slug>`. A member's id keeps its capitals (`member_ids`), also from a URL of Sales
Navigator or Recruiter. Redirecting URLs are unwrapped first (`wrapped_urls`).
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.messages import Message
from app.domain.normal.profiles.member_ids import PROFILES, is_member_id
from app.domain.normal.profiles.url_decorations import undecorated
from app.domain.normal.profiles.wrapped_urls import unwrapped
from app.domain.normal.texts.text_forms import normalized
from app.domain.normal.websites import split_url

_HOST = re.compile(r"(?:(?:www|m|mobile|touch|[a-z]{2})\.)*linkedin\.com")
_PLAIN_URL = re.compile(
    r"(?:https?://)?(?:(?:www|[a-z]{2})\.)?linkedin\.com/in/([a-z0-9_-]+)/?", re.IGNORECASE | re.ASCII
)
_HOSTLESS = re.compile(r"/?(?:in|pub|company|school|showcase)/", re.IGNORECASE)
_AFTER_PATH = re.compile(r"[?#]|(?:&(?:amp;)?|;|%3b|%3f|%26)[a-z]\w*(?:=|%3d)|;jsessionid|%23", re.IGNORECASE)
"""The start of a query, a fragment, or parameters that were written after the path by mistake."""
_LINE_BREAK = re.compile(r"[\t\n\r]")
_PLAIN_SLUG = re.compile(r"[a-z0-9_-]+")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_HEX_GROUP = re.compile(r"[0-9a-f]{1,3}")
_PREFIXES = frozenset({"comm", "mwlite", "public-profile"})  # e-mails, mobile site, settings page
_COMPANIES = frozenset({"company", "company-beta", "school", "showcase"})
_PEOPLE = frozenset({"in", "pub"})
_RESERVED_SLUGS = frozenset({"me", "unavailable"}) | _PEOPLE  # the signed-in member; a hidden profile
_EMPTY_SLUGS = frozenset({"null", "undefined", "none", "nan", "unknown"}) | frozenset(
    {"username", "yourname", "your-name", "yourprofile", "your-profile", "firstname-lastname", "first-last"}
)
"""What programs write that put the start of a URL before an empty value, and the examples of forms."""
_TOOLS = frozenset({"sales", "talent", "recruiter"})  # with pages of their own
_FORBIDDEN = frozenset('/\\?#%<>"{}|^`[]@:,;')
_JOINERS = "\u200c\u200d"  # used in Persian words and in emoji
_STRAY_JOINERS = re.compile(rf"(?<![^\0-\x7f])[{_JOINERS}]+|[{_JOINERS}]+(?![^\0-\x7f])")
"""Joiners at an end of a slug or beside an ASCII character, where they join nothing."""
_INTERNAL = Message(
    "This is an internal LinkedIn URL. Open the profile and send the URL that the browser then shows."
)
_RECRUITER = Message("This is a LinkedIn Recruiter URL. Open the public profile and send its URL.")
_SIGN_IN = Message(
    "This is a sign-in page that names no profile. Sign in and send the URL that is then shown."
)
_REDIRECTING = Message(
    "This URL redirects, but does not say where to. Open it and send the URL that it redirects to."
)
_PROFILE_HELP = NotAProfileUrl.help
_COMPANY_HELP = Message(
    "Send the URL of a public company page, such as https://www.linkedin.com/company/<slug>."
)
_FORBIDDEN_CHARACTERS = Message(
    "The URL contains characters that are not allowed in profile URLs. Open the profile and copy its URL."
)
_HELP = {
    "sales": Message(
        "This is a Sales Navigator URL. Open the public profile from its menu and send its URL."
    ),
    "talent": _RECRUITER,
    "recruiter": _RECRUITER,
    "profile": _INTERNAL,
    **dict.fromkeys(("authwall", "login", "signup", "uas", "checkpoint", "cold-join"), _SIGN_IN),
    **dict.fromkeys(("redir", "redirect", "safety", "slink"), _REDIRECTING),
    "company": Message("This is the URL of a company page. The URL of a person's profile contains /in/."),
    "in": Message("This is the URL of a person's profile. The URL of a company page contains /company/."),
}


def is_plain_profile_url(text: str) -> bool:
    """Return whether the text is a usual profile URL of ASCII characters, and nothing stands around it."""
    return _PLAIN_URL.fullmatch(text) is not None


def normal_profile_url(text: str) -> str:
    """Return `https://www.linkedin.com/in/<slug>`, the slug decoded, in NFC and lower-case, or a member's id.

    Raises:
        NotAProfileUrl: the URL is not a person's public profile; the detail states what to send instead.

    """
    if plain := _PLAIN_URL.fullmatch(text):
        kind, names = "in", [plain[1]]
    else:
        kind, names = _read(text, _PROFILE_HELP)
    if kind == "in":
        slug = names[0] if is_member_id(names[0]) else _slug(names[0])
    elif kind == "pub":
        slug = _modern_slug(names)
    else:
        raise NotAProfileUrl(_HELP.get(kind, _PROFILE_HELP))
    if slug in _RESERVED_SLUGS:
        raise NotAProfileUrl(_INTERNAL)
    if slug in _EMPTY_SLUGS:
        raise NotAProfileUrl(_PROFILE_HELP)
    if "&" in slug or "=" in slug:  # a query without its question mark; companies may have "&"
        raise NotAProfileUrl(_FORBIDDEN_CHARACTERS)
    return PROFILES + slug


def normal_company_url(text: str) -> str:
    """Return `https://www.linkedin.com/company/<slug>`, also for schools and showcases.

    Raises:
        NotAProfileUrl: the URL is not a company's public page; the detail states what to send instead.

    """
    kind, names = _read(text, _COMPANY_HELP)
    if kind not in _COMPANIES:
        raise NotAProfileUrl(_HELP.get(kind, _COMPANY_HELP))
    return f"https://www.linkedin.com/company/{_slug(names[0])}"


def _read(text: str, expected: str) -> tuple[str, list[str]]:
    """Split a LinkedIn URL into its first path segment and the segments after it, at least one."""
    url = _undecorated(text)
    if (inner := unwrapped(url)) is not url:
        url = _undecorated(inner)
    path = _AFTER_PATH.split(url, maxsplit=1)[0]
    if "\\" in path or "@" in path:
        raise NotAProfileUrl("The URL contains '@' or a backslash. Send the plain URL of the profile.")
    if _LINE_BREAK.search(path):
        raise NotAProfileUrl("The URL contains a line break or tab. Send one URL in one line.")
    if not _HOSTLESS.match(path):
        path = _path_on_linkedin(path, expected)
    segments = [part for part in path.split("/") if part]
    if segments and segments[0].lower() in _PREFIXES:
        del segments[0]
    if len(segments) < 2:  # noqa: PLR2004 -- the kind and the slug
        raise NotAProfileUrl(_HELP.get(segments[0].lower(), expected) if segments else expected)
    segments = _public(segments)
    if not (_PEOPLE | _COMPANIES).isdisjoint(part.lower() for part in segments[2:]):
        raise NotAProfileUrl("The text contains several URLs. Send one.")
    return segments[0].lower(), segments[1:]


def _public(segments: list[str]) -> list[str]:
    """Return the path of the public page for one in Sales Navigator or Recruiter, if it can be told."""
    if segments[0].lower() not in _TOOLS:
        return segments
    if segments[1].lower() == "company" and len(segments) > 2:  # noqa: PLR2004 -- the tool, the kind and the slug
        return segments[1:]
    ids = (unquote(part).partition(",")[0] for part in segments[1:])
    return next((["in", member_id] for member_id in ids if is_member_id(member_id)), segments)


def _undecorated(text: str) -> str:
    try:
        return undecorated(text)
    except InvalidValue as error:
        raise NotAProfileUrl(str(error)) from error


def _path_on_linkedin(url: str, expected: str) -> str:
    """Return the path of a URL on linkedin.com; similar host names are rejected."""
    try:
        host, path = split_url(url)
    except InvalidValue as error:
        raise NotAProfileUrl(expected) from error
    if not _HOST.fullmatch(host):
        raise NotAProfileUrl("The host is not linkedin.com. Open the URL and send the one it redirects to.")
    return path


def _slug(raw: str) -> str:
    """Decode one path segment, twice if it was encoded twice."""
    slug = raw.lower()
    if _PLAIN_SLUG.fullmatch(slug):
        return slug
    for _ in range(2):
        if _ESCAPE.search(slug):
            slug = unquote(slug, errors="replace")
    slug = _STRAY_JOINERS.sub("", _undecorated(_STRAY_JOINERS.sub("", slug)))
    slug = normalized("NFC", normalized("NFC", slug).lower())
    if not slug or any(_is_forbidden(character) for character in slug):
        raise NotAProfileUrl(_FORBIDDEN_CHARACTERS)
    return slug


def _is_forbidden(character: str) -> bool:
    """Return whether a slug must not contain the character: a delimiter, space or control character."""
    if character in _FORBIDDEN or character == "\ufffd":
        return True
    return unicodedata.category(character)[0] in "CZ" and character not in _JOINERS


def _modern_slug(names: list[str]) -> str:
    """Return the slug to which a /pub/ URL with a name and three groups redirects."""
    groups = [part.lower() for part in names[1:4]]
    if len(groups) < 3 or not all(map(_HEX_GROUP.fullmatch, groups)):  # noqa: PLR2004 -- the groups
        raise NotAProfileUrl(
            "This old URL lacks its three groups of digits. Open it and send the URL it redirects to."
        )
    high, middle, low = groups
    return f"{_slug(names[0])}-{low:0>3}{middle:0>3}{high}"
