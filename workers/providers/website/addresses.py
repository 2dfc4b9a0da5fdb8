"""E-mail addresses on a page, in the forms in which sites hide them from simple harvesters.

Only encodings that a reader of the page sees as an address are decoded; nothing is executed.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from app.domain.errors import InvalidValue
from app.domain.normal.hidden_emails import AT_WORD, DOT_WORD
from app.domain.normal.person_emails import person_email
from app.domain.normal.websites import parent_domains

MAX_ADDRESSES = 20
"""Addresses of one link or line."""

_LOCAL = r"[\w.%+'\u2019-]{1,64}"
_DOMAIN = r"(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24}"
_ADDRESS = re.compile(rf"(?<![\w.+-]){_LOCAL}@{_DOMAIN}(?![\w@-])")
_OPEN, _CLOSE = r"\s{0,3}[\[({<]\s{0,2}", r"\s{0,2}[\])}>]\s{0,3}"
_AT = re.compile(rf"{_OPEN}{AT_WORD}{_CLOSE}|(?<=\w)[-_]at[-_](?=\w)|(?<=\w)\s?@\s?(?=\w)", re.IGNORECASE)
_DOT = re.compile(rf"{_OPEN}{DOT_WORD}{_CLOSE}", re.IGNORECASE)
_SPELT = re.compile(
    rf"({_LOCAL})\s{{1,3}}{AT_WORD}\s{{1,3}}([\w-]{{1,63}}(?:\s{{1,3}}{DOT_WORD}\s{{1,3}}[\w-]{{2,63}}){{1,4}})",
    re.IGNORECASE,
)
"""An address in words: ada at acme dot com. Without `dot` it is a sentence: meet us at acme.com."""
_SPELT_DOT = re.compile(rf"\s{{1,3}}{DOT_WORD}\s{{1,3}}", re.IGNORECASE)
_SPLIT = re.compile(r"[,;]")
_TYPO3 = re.compile(
    r"""(?:linkTo_UnCryptMailto|UnCryptMailto)\((?:%27|%22|['"])([^'"]{6,400}?)(?:%27|%22|['"])(?:\s*,\s*(-?\d{1,2}))?"""
)
_SHIELD_PATH = "/cdn-cgi/l/email-protection#"
_RANGES = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))
"""The ranges in which TYPO3 moves characters: signs and digits, capitals, small letters."""
_NO_REPLY_TRAP = re.compile(r"no-?spam|remove-?this|antispam", re.IGNORECASE)


def in_link(href: str) -> list[str]:
    """Return the addresses of a `mailto:` link, of TYPO3's encrypted one, and of Cloudflare's."""
    href = href.strip()
    if _SHIELD_PATH in href:
        address = unshielded(href.partition(_SHIELD_PATH)[2])
        return in_text(address) if address else []
    if href[:7].lower() == "mailto:":
        recipients = href[7:].partition("?")[0]
        if "@" not in recipients and "%40" not in recipients:
            return in_text(unquote(recipients))
        found = [_address(unquote(part)) for part in _SPLIT.split(recipients)[:MAX_ADDRESSES]]
        return list(dict.fromkeys(filter(None, found)))
    if match := _TYPO3.search(href[:600]):
        return in_link(_moved(unquote(match[1]), match[2]))
    return []


def in_text(text: str) -> list[str]:
    """Return the addresses in a text, also `ada [at] acme [dot] com`."""
    text = text.replace("\uff20", "@")
    found = [_address(match[0]) for match in _ADDRESS.finditer(text)][:MAX_ADDRESSES]
    if not any(found):
        plain = _SPELT.sub(_joined, _AT.sub("@", _DOT.sub(".", text)))
        found = [_address(match[0]) for match in _ADDRESS.finditer(plain)][:MAX_ADDRESSES]
    return list(dict.fromkeys(filter(None, found)))


def unshielded(code: str) -> str:
    """Return the text behind Cloudflare's hexadecimal code, whose first byte is the key of the others."""
    try:
        key, *hidden = bytes.fromhex(code.partition("?")[0].strip()[:512])
        return bytes(byte ^ key for byte in hidden).decode()
    except ValueError:  # no hexadecimal number, an empty one, or no UTF-8
        return ""


def is_at(email: str, domain: str) -> bool:
    """Return whether an address is at a domain or below it."""
    return domain in parent_domains(email.rpartition("@")[2])


def _joined(found: re.Match[str]) -> str:
    return f"{found[1]}@{_SPELT_DOT.sub('.', found[2])}"


def _address(text: str) -> str | None:
    if _NO_REPLY_TRAP.search(text):
        return None
    try:
        return person_email(text.strip().strip(".'\u2019"))
    except InvalidValue:
        return None


def _moved(text: str, offset: str | None) -> str:
    """Return the link behind TYPO3's code: each character is moved within its range.

    The link says the offset since TYPO3 11; before, the one that makes it a `mailto:` is the site's.
    """
    offsets = [int(offset), -int(offset)] if offset else range(-26, 27)
    readings = ("".join(_move(sign, steps) for sign in text) for steps in offsets)
    return next((reading for reading in readings if reading.startswith("mailto:")), "")


def _move(sign: str, steps: int) -> str:
    code = ord(sign)
    for first, last in _RANGES:
        if first <= code <= last:
            return chr(first + (code - first + steps) % (last - first + 1))
    return sign
