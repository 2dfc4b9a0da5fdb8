"""Websites in normal form: whatever a browser would open, down to the registrable domain (contract 2.4)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

import idna
from publicsuffixlist import PublicSuffixList

from app.domain.errors import InvalidValue

MAX_HOST_LENGTH = 253  # RFC 1035, without the root's dot
MAX_AUTHORITY_LENGTH = 2000  # percent-encoding, user and port may come on top

_SUFFIXES = PublicSuffixList()  # the snapshot shipped with the package, private section included
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9_-]{1,63}")
_TOP_LEVEL = re.compile(r"[a-z]{2,}|xn--[a-z0-9-]+")  # never a number (RFC 3696), as IPv4 spellings end in
_DELETED = re.compile(r"[\t\n\r]")
_HTTP = re.compile(r"https?:[/\\]*|[/\\]{2,}", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:[/\\]{2}|[a-z][a-z0-9+-]*:(?![0-9])", re.IGNORECASE)
_NO_AUTHORITY = re.compile(r"[/\\?#]")
_PORT = re.compile(r"(.*?)(?::([0-9]*))?", re.DOTALL)
_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_MAX_PORT = 65_535
_RESERVED_NAMES = ("localhost", "local", "internal", "onion", "invalid", "arpa")


def normal_website(text: str) -> str:
    """Give the registrable domain of a URL or bare host, lower-case and in A-labels.

    The host is read as browsers read it (WHATWG URL), the domain taken by the Public Suffix List with its
    private section, so that `https://shop.acme.co.uk/x` is `acme.co.uk` and `acme.myshopify.com` stays.

    Raises:
        InvalidValue: no website can be there: an IP address, a single label, a bare public suffix, no host.

    """
    return _registrable(split_url(text)[0])


def split_url(text: str) -> tuple[str, str]:
    """Split an http(s) URL or bare address into its host, in A-labels, and all that follows the authority.

    Raises:
        InvalidValue: it is of another scheme, or its host is no public host name.

    """
    text = _DELETED.sub("", text.strip(_C0_AND_SPACE).strip())
    if start := _HTTP.match(text):
        text = text[start.end() :]
    elif _OTHER_SCHEME.match(text):
        raise InvalidValue("A website has an http or https address.")
    authority = _NO_AUTHORITY.split(text, maxsplit=1)[0]
    if len(authority) > MAX_AUTHORITY_LENGTH:
        raise InvalidValue("The address is too long.")
    return _host(authority), text[len(authority) :]


@lru_cache(maxsize=8192)
def _registrable(host: str) -> str:
    """Cut a host down to the public suffix and one label."""
    domain = _SUFFIXES.privatesuffix(host)
    if not domain:
        raise InvalidValue("This is a public suffix, under which others register their websites.")
    return str(domain)


@lru_cache(maxsize=8192)
def _host(authority: str) -> str:
    """Read a host out of `user:password@host:port` the way the WHATWG URL standard does."""
    found = _PORT.fullmatch(authority.rpartition("@")[2])
    if found is None or int((found[2] or "0")[:6]) > _MAX_PORT:
        raise InvalidValue("The address has a port that cannot be.")
    host = _to_ascii(unquote(found[1], errors="replace")).removesuffix(".")
    if len(host) > MAX_HOST_LENGTH or not _HOST.fullmatch(host):
        raise InvalidValue("A website needs a host name such as acme.com.")
    last = host.rpartition(".")[2]
    if not _TOP_LEVEL.fullmatch(last):
        raise InvalidValue("A website needs a name with a top-level domain; an IP address is none.")
    if last in _RESERVED_NAMES:
        raise InvalidValue("This name is kept for machines that are not on the public internet.")
    return host


def _to_ascii(host: str) -> str:
    """Turn a host into A-labels as browsers do: UTS 46, non-transitional, symbols such as ☃ let through.

    An ASCII host is never encoded: `idna.encode` refuses `my_site.acme.com` and `_dmarc.acme.com`.
    """
    if host.isascii():
        return host.lower()
    try:
        mapped = idna.uts46_remap(host, std3_rules=False)
        return ".".join(_a_label(label) for label in mapped.split("."))
    except UnicodeError as error:  # idna.IDNAError is one
        raise InvalidValue("The host name has characters that no domain can have.") from error


def _a_label(label: str) -> str:
    """Encode one mapped label, with the checks of marks, joiners and direction that browsers make."""
    if label.isascii():
        return label
    if unicodedata.category(label[0]).startswith("M"):
        raise UnicodeError("a label cannot begin with a mark")
    idna.check_bidi(label)
    for at, character in enumerate(label):
        if character in "\u200c\u200d" and not idna.valid_contextj(label, at):
            raise UnicodeError("a joiner is out of place")
    return "xn--" + label.encode("punycode").decode("ascii")
