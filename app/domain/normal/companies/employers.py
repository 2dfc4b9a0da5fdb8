"""Words that stand in the place of an employer's name and name none, such as Freelance and N/A."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.companies.company_domains import SharedHost, company_domain, is_named_after
from app.domain.normal.profiles.url_decorations import undecorated
from app.domain.normal.texts.text_folding import fold
from app.domain.normal.texts.text_forms import normalized
from app.domain.normal.texts.wordlists import entries, words
from app.domain.normal.websites import is_top_level, normal_website

NO_EMPLOYER_ERROR = Message(
    "The company's name says that there is no employer, or does not name it, so it identifies nobody. "
    "Send company_domain, linkedin_url or email."
)

MAX_LENGTH = 80
"""Longer texts are names of companies or descriptions."""
_NOW = re.compile(
    r"\s*(?:currently|presently|now|actively|derzeit|aktuell|zurzeit|actuellement|actualmente|attualmente"
    r"|atualmente|momenteel|obecnie)\s",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\s*(?:ex-(?=[^\W\d_])|(?:formerly|previously|ehemals|anciennement)[:\s]|(?:past|former|ex)\s?:|ehem\.)"
    r"|.*\((?:former|formerly|previous|past|ex|ehemalig|ehemals|ancien)\)\s*$",
    re.IGNORECASE | re.DOTALL,
)
"""An employer before today's: ex-Acme, Acme (former). But Beta (formerly Acme) is an employer."""
_SEPARATORS = re.compile(r"[/|;,()\[\]&+:\u2022\u00b7\u2013\u2014]|\s-\s")
_ADDRESS = re.compile(r"https?:[/\\]|www\.[^\W_]|[^\s@]+@[^\s@]+\.[^\s@]+$", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}/?")
_STEALTH = "stealth"
_KINDS_OF_STARTUP = words("companies/startup_words.txt")
"""What people write beside Stealth: Stealth AI Startup."""


class GivenEmployer(NamedTuple):
    """The domain and name that identify an employer, and a sentence about what was left out of the two."""

    domain: str | None
    name: str | None
    left_out: str


def given_employer(website: str | None, name: str | None) -> GivenEmployer:
    """Return what identifies the employer in a request; the website is one that `normal_website` reads.

    A website or an address in the place of the name is taken for the website, if there is no other.
    """
    if not website and name and is_website(name):
        website, name = name, None
    domain, left_out = None, ""
    if website:
        try:
            domain = company_domain(website, name, may_be_host=True)
        except SharedHost as error:
            left_out = str(error)
    known = employer_name(name, domain)
    return GivenEmployer(domain, known, left_out or ("" if known == name else NO_EMPLOYER_ERROR))


def is_website(name: str) -> bool:
    """Return whether a company's name is a website or e-mail address, as in `www.acme.com` and `acme.com`.

    A bare host is one if it is in lower case and below a top-level domain: `E.ON` and `node.js` are names.
    """
    text = name.strip()
    is_host = _BARE_HOST.fullmatch(text) and is_top_level(text.rstrip("/").rpartition(".")[2])
    if not (is_host or _ADDRESS.match(text)):
        return False
    try:
        normal_website(undecorated(text if "/" in text else text.rpartition("@")[2]))
    except InvalidValue:
        return False
    return True


def employer_name(name: str | None, domain: str | None) -> str | None:
    """Return the name, or None if it names no employer and is not the domain's."""
    if name is None or names_employer(name) or (domain and is_named_after(domain, name)):
        return name
    return None


@lru_cache(maxsize=8192)
def names_employer(text: str) -> bool:
    """Return whether the text names an employer; Freelance, N/A and ex-Acme do not.

    A text in parts, such as `Freelance / Self-employed`, names one if any part does.
    """
    if len(text) > MAX_LENGTH:
        return True
    if _key(text) in _words() or not _key(text).strip("0") or _FORMER.match(text):
        return False
    parts = [part for part in _SEPARATORS.split(text) if _key(part)]
    return any(not (_key(part) in _words() or _is_stealth(part)) for part in parts)


def _is_stealth(text: str) -> bool:
    words = set(fold(text).split())
    return _STEALTH in words and _KINDS_OF_STARTUP.issuperset(words - {_STEALTH})


@cache
def _words() -> frozenset[str]:
    return frozenset(
        _key(word) for _language, items in entries("companies/no_employers.txt") for word in items
    )


def _key(text: str) -> str:
    """Return the letters and digits of a text, without case, accents, and a word for now before it."""
    plain = _NOW.sub("", text, count=1).casefold() if _NOW.match(text) else text.casefold()
    return "".join(filter(str.isalnum, plain if plain.isascii() else normalized("NFKD", plain)))
