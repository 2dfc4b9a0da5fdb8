"""Websites in normal form: the registrable domain of any address a browser would open."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from urllib.parse import unquote

import idna
from publicsuffixlist import PublicSuffixList

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.domain.normal.profiles.url_decorations import undecorated

MAX_HOST_LENGTH = 253  # RFC 1035, without the root's dot
MAX_AUTHORITY_LENGTH = 2000  # longer than a host: percent-encoding, user and port count too

_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9_-]{1,63}")
_TOP_LEVEL = re.compile(r"[a-z]{2,}|xn--[a-z0-9-]+")  # not a number (RFC 3696), as in IPv4 addresses
_DELETED = re.compile(r"[\t\n\r]")
_HTTP = re.compile(r"https?:[/\\]*|[/\\]{2,}", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:[/\\]{2}|[a-z][a-z0-9+-]*:(?![0-9])", re.IGNORECASE)
_NO_AUTHORITY = re.compile(r"[/\\?#]")
_PORT = re.compile(r"(.*?)(?::([0-9]*))?", re.DOTALL)
_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_MAX_PORT = 65_535
NO_HOST = Message("The address has no valid host name, such as acme.com.")
_FOR_TESTS = frozenset({"example", "test"})  # RFC 2606
_RESERVED_NAMES = ("localhost", "local", "internal", "onion", "invalid", "arpa")


def normal_website(text: str) -> str:
    """Return the registrable domain of a URL or bare host, lower-case and in A-labels.

    Quotes, brackets and punctuation around it are removed (`url_decorations`).
    The host is parsed as in browsers (WHATWG URL). The domain is found with the Public Suffix List and its
    private section: `https://shop.acme.co.uk/x` becomes `acme.co.uk`; `acme.myshopify.com` is unchanged.

    Raises:
        InvalidValue: the host is missing, an IP address, a single label or a public suffix.

    """
    return _registrable(split_url(undecorated(text))[0])


def normal_host(text: str) -> str:
    """Return the host of a URL or bare host, lower-case and in A-labels, without `www.`.

    Raises:
        InvalidValue: as for `normal_website`.

    """
    host = split_url(undecorated(text))[0]
    _registrable(host)
    return host.removeprefix("www.")


def parent_domains(host: str) -> tuple[str, ...]:
    """Return a host in normal form and the domains above it, up to the registrable one.

    A host without a registrable domain, such as a public suffix, is returned alone.
    """
    try:
        registrable = _registrable(host)
    except InvalidValue:
        return (host,)
    labels = host.split(".")
    return tuple(".".join(labels[index:]) for index in range(len(labels) - registrable.count(".")))


def is_top_level(label: str) -> bool:
    """Return whether a label is a top-level domain of the Public Suffix List."""
    return _suffixes().publicsuffix(label) is not None


@lru_cache(maxsize=2048)
def may_end_domain(label: str) -> bool:
    """Return whether a label is a top-level domain, or one for examples and tests (RFC 2606)."""
    return label in _FOR_TESTS or is_top_level(label)


def split_url(text: str) -> tuple[str, str]:
    """Split an http(s) URL or bare address into its host, in A-labels, and the text after the authority.

    Raises:
        InvalidValue: the scheme is not http(s), or the host is not a public host name.

    """
    text = _DELETED.sub("", text.strip(_C0_AND_SPACE).strip())
    if start := _HTTP.match(text):
        text = text[start.end() :]
    elif _OTHER_SCHEME.match(text):
        raise InvalidValue("The address must begin with http:// or https://.")
    authority = _NO_AUTHORITY.split(text, maxsplit=1)[0]
    if len(authority) > MAX_AUTHORITY_LENGTH:
        raise InvalidValue("The address is too long.")
    return _host(authority), text[len(authority) :]


@cache
def _suffixes() -> PublicSuffixList:
    """Return the list shipped with the package, with its private section; reading it takes 50 ms."""
    return PublicSuffixList(accept_unknown=False)


@lru_cache(maxsize=8192)
def _registrable(host: str) -> str:
    """Return the public suffix of a host and the label before it."""
    domain = _suffixes().privatesuffix(host)
    if not domain and "." in host and not is_top_level(host.rpartition(".")[2]):
        domain = ".".join(host.split(".")[-2:])  # the rule for a top-level domain that is not in the list
    if not domain:
        raise InvalidValue(
            "This is a public suffix such as co.uk, not a website. Use a domain registered under it."
        )
    return str(domain)


@lru_cache(maxsize=8192)
def _host(authority: str) -> str:
    """Return the host of `user:password@host:port`, parsed as in the WHATWG URL standard."""
    found = _PORT.fullmatch(authority.rpartition("@")[2])
    if found is None or int((found[2] or "0")[:6]) > _MAX_PORT:
        raise InvalidValue("The port must be between 0 and 65535.")
    host = _to_ascii(unquote(found[1], errors="replace")).removesuffix(".")
    if len(host) > MAX_HOST_LENGTH or not _HOST.fullmatch(host):
        raise InvalidValue(NO_HOST)
    last = host.rpartition(".")[2]
    if not _TOP_LEVEL.fullmatch(last):
        raise InvalidValue(
            "The host must be a name with a top-level domain, such as acme.com, not an IP address."
        )
    if last in _RESERVED_NAMES:
        raise InvalidValue("The host has a reserved name, which does not exist on the public internet.")
    return host


def _to_ascii(host: str) -> str:
    """Convert a host to A-labels as browsers do: UTS 46, non-transitional; symbols such as ☃ are allowed.

    An ASCII host is never encoded, because `idna.encode` rejects `my_site.acme.com` and `_dmarc.acme.com`.
    """
    if host.isascii():
        return host.lower()
    try:
        mapped = idna.uts46_remap(host, std3_rules=False)
        return ".".join(_a_label(label) for label in mapped.split("."))
    except UnicodeError as error:  # idna.IDNAError is one
        raise InvalidValue("The host name contains characters that are not allowed in domains.") from error


def _a_label(label: str) -> str:
    """Encode one mapped label after the browsers' checks of marks, joiners and direction."""
    if label.isascii():
        return label
    if unicodedata.category(label[0]).startswith("M"):
        raise UnicodeError("a label begins with a combining mark")
    idna.check_bidi(label)
    for index, character in enumerate(label):
        if character in "\u200c\u200d" and not idna.valid_contextj(label, index):
            raise UnicodeError("a joiner is not allowed at this position")
    return "xn--" + label.encode("punycode").decode("ascii")
