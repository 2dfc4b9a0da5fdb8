"""The URL that a redirecting URL leads to, if it says so itself; no request is made.

Mail gateways, search engines, archives and sign-in pages put the URL into a parameter, the path or the host.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Collection
from urllib.parse import unquote, unquote_plus

from app.domain.normal.profiles.member_ids import is_member_id

MAX_DEPTH = 3
"""How many redirecting URLs may be within each other."""
_PARTS = re.compile(
    r"(?:https?:)?/{0,2}([a-z0-9._-]{1,253})(?::\d{1,5})?(/[^?#]*)(?:\?([^#]*))?(?:#.*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_LINKEDIN = r"(?:[a-z]{1,8}\.)?linkedin\.com/(?:comm/)?"
_SIGN_IN = "authwall|login|signup|uas|checkpoint|cold-join|start|reg|redir|redirect|safety|m"
_REDIRECTORS = tuple(
    (re.compile(place), frozenset(names.split()))
    for place, names in (
        (rf"{_LINKEDIN}(?:{_SIGN_IN})\b", "session_redirect sessionredirect url"),
        (r"(?:www\.)?google\.[a-z.]{2,6}/url\b", "q url"),
        (r"translate\.google\.[a-z.]{2,6}/translate\b", "u"),
        (r"[a-z0-9-]+\.safelinks\.protection\.(?:outlook\.com|office365\.us)/", "url"),
        (r"urldefense(?:\.proofpoint)?\.com/v1/url\b", "u"),
        (r"lm?\.(?:facebook|instagram)\.com/", "u"),
        (r"(?:www\.)?youtube\.com/redirect\b", "q"),
        (r"duckduckgo\.com/l/", "uddg"),
        (r"slack-redir\.net/link\b", "url"),
    )
)
"""Hosts with the start of the path, and the parameters that contain the URL, in lower case."""
_BING = re.compile(r"(?:www\.)?bing\.com/ck/a\b")
_BING_PREFIX = "a1"
_MEMBER_PAGE = re.compile(rf"{_LINKEDIN}profile/view\b")
_PROOFPOINT = re.compile(r"urldefense(?:\.proofpoint)?\.com/v2/url\b")
_PROOFPOINT_ESCAPES = str.maketrans("-_", "%/")
_PROOFPOINT_3 = re.compile(r"(?:https?:)?/{0,2}urldefense\.(?:proofpoint\.)?com/v3/__", re.IGNORECASE)
_ARCHIVED = re.compile(
    r"/web/\d{4,14}\*?(?:[a-z]{2}_)?/(?=https?:|www\.|[a-z.]{0,9}linkedin\.com/)", re.IGNORECASE
)
_TRANSLATED = ".translate.goog"
_APP = re.compile(
    r"android-app://com\.linkedin\.android/(?:https?/)?|intent://|linkedin://(?=in/|www\.)"
    r"|(linkedin://profile/)(?!\d+(?:[/?#]|\Z))",
    re.IGNORECASE,
)


def unwrapped(url: str) -> str:
    """Return the URL that a redirecting URL leads to; any other text as it is."""
    for _ in range(MAX_DEPTH):
        inner = _in_app(url) or _in_url(url)
        if inner is None:
            break
        url = inner
    return url


def _in_app(url: str) -> str | None:
    """Return the URL or the path that a link to an app, or one of Proofpoint's third version, contains."""
    if found := _APP.match(url):
        return ("in/" if found[1] else "") + url[found.end() :]
    if found := _PROOFPOINT_3.match(url):
        return url[found.end() :].partition("__;")[0]
    return None


def _in_url(url: str) -> str | None:
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return None
    host, path, query = parts[1].lower(), parts[2], parts[3] or ""
    if host.endswith(_TRANSLATED):
        return _original_host(host) + path
    if host == "web.archive.org" and (found := _ARCHIVED.match(path)):
        return path[found.end() :]
    return _in_query(host + path.lower(), query)


def _in_query(place: str, query: str) -> str | None:
    if _MEMBER_PAGE.match(place):
        member_id = _parameter(query, ("id",)) or ""
        return f"in/{member_id}" if is_member_id(member_id) else None
    if _BING.match(place):
        return _in_base64(_parameter(query, ("u",)) or "")
    if _PROOFPOINT.match(place):
        return unquote((_parameter(query, ("u",)) or "").translate(_PROOFPOINT_ESCAPES)) or None
    return next((_parameter(query, names) for pattern, names in _REDIRECTORS if pattern.match(place)), None)


def _in_base64(value: str) -> str | None:
    """Return the URL that Bing writes in Base64 behind `a1`."""
    code = value.removeprefix(_BING_PREFIX).translate(str.maketrans("-_ ", "+/+"))
    try:
        return b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except ValueError:  # no Base64, or no UTF-8
        return None


def _original_host(host: str) -> str:
    """Return the host that Google Translate shows under its own: each dot is written as a hyphen."""
    labels = host.removesuffix(_TRANSLATED).replace("--", "\0")
    return labels.replace("-", ".").replace("\0", "-")


def _parameter(query: str, names: Collection[str]) -> str | None:
    """Return the decoded value of the first of these parameters that is not empty."""
    for pair in query.replace("&amp;", "&").split("&"):
        name, _, value = pair.partition("=")
        if value and name.lower() in names:
            return unquote_plus(value)
    return None
