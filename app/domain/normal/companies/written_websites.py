"""Websites as lists have them: with a damaged scheme, in a link or a formula, or in a redirecting URL."""

from __future__ import annotations

import re
from urllib.parse import unquote

from app.domain.normal.profiles.url_decorations import linked_url
from app.domain.normal.profiles.wrapped_urls import unwrapped
from app.domain.normal.texts.text_forms import unescaped
from app.domain.normal.websites import is_top_level

_MAX_LENGTH = 2000
_ENCODED = re.compile(r"https?%3a%2f%2f", re.IGNORECASE)
_SCHEME = re.compile(
    r"(?:view-source:)?(?:(?:www\.)?(?:h?t{1,3}ps?|hxxps?)[:;]?[/\\]{1,3}){1,3}(?=[^/\\])", re.IGNORECASE
)
"""One that is cut, doubled or made harmless: `htp://`, `https//`, `http://https://`, `hxxps://`."""
_HIDDEN_DOT = re.compile(r"\s?[\[({](?:dot|\.)[\])}]\s?|\s\.\s", re.IGNORECASE)
_SPELT_OUT = re.compile(r"[\w-]+(?: dot [\w-]+){1,3}", re.IGNORECASE)
_COMMA = re.compile(r"((?:www[.,])?[\w-]+),([a-z]{2,10})/?", re.IGNORECASE)
_SEPARATED_WWW = re.compile(r"www[, ]\s?(?=[\w-]+\.)", re.IGNORECASE)


def written_website(text: str) -> str:
    """Return the URL that is meant by a text; any other text, also one with several URLs, as it is.

    No request is made: of a redirecting URL, the one that it contains is returned.
    """
    if len(text) > _MAX_LENGTH:
        return text
    url = linked_url(unescaped(text).strip().replace("\\/", "/"))
    if _ENCODED.match(url):
        url = unquote(url)
    url = _SEPARATED_WWW.sub("www.", _HIDDEN_DOT.sub(".", url))
    if _SPELT_OUT.fullmatch(url):
        url = re.sub(" dot ", ".", url, flags=re.IGNORECASE)
    if (found := _COMMA.fullmatch(url)) and is_top_level(found[2].lower()):
        url = f"{found[1].replace(',', '.')}.{found[2]}"
    if scheme := _SCHEME.match(url):
        url = f"https://{url[scheme.end() :]}"
    return unwrapped(url)
