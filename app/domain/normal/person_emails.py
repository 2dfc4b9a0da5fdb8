"""E-mail addresses of people as lists, requests and providers write them.

`normal_email` is the published normal form of an address. Here, what stands around an address is left out,
and what no person has as an address is refused.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

import idna

from app.domain.errors import InvalidValue
from app.domain.normal.emails import NO_ADDRESS, email_kind, mailbox_name, normal_email
from app.domain.normal.hidden_emails import unhidden
from app.domain.normal.texts.encoded_texts import without_json_codes
from app.domain.normal.texts.lookalikes import has_lookalikes
from app.domain.normal.texts.text_forms import normalized, unescaped
from app.domain.normal.texts.wordlists import lines
from app.domain.normal.websites import may_end_domain

MAX_LENGTH = 1000
"""Characters of a text in which an address is looked for."""

_PLACEHOLDERS = lines("emails/email_placeholders.txt")
_ALWAYS, _LOCAL, _BOTH, _NAMED_SO = (
    frozenset(word for head, *words in _PLACEHOLDERS if head == f"{where}:" for word in words)
    for where in ("always", "local", "both", "named")
)
_DOMAINS = _BOTH | _NAMED_SO
_NAMED = re.compile(r"[<(]([^<>()@]{1,80}@[^<>()@]{1,255})[>)]")
_SCHEME = re.compile(r"(?:mailto|smtp|sips?|e-?mail)\s?:[/\s]*", re.IGNORECASE)
_MARKS = re.compile(
    r"^(?:(?:[-*+]|\d{1,3}[.)])\s+|=(?=\"))?[^\w\x00-\x7f]*|(?<![^\w\x00-\x7f])[^\w\x00-\x7f]++$"
)
"""What a list writes before an address, such as `- `, and pictures beside it."""
_AFTER = re.compile(r"(?<=[^\W_])(?:[?\\]|#(?!#)).*$", re.DOTALL)
"""Parameters and escapes after a domain."""
_NOTE = re.compile(r"([^\s()\[\]]{1,320})\s*[(\[][^()\[\]]{0,200}[)\]]")
_PERCENT = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_AROUND = "\"'<>()[]{},;:|*\u00ab\u00bb\u201c\u201d\u201e \t\r\n"
_ASCII = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u2032", "'") | dict.fromkeys("\u2010\u2011\u2012\u2013", "-")
)
_LEFT_OVER = re.compile(r"u00(?:2[0-9a-f]|3[a-f]|a0)|u20(?:0[0-9a-f]|1[0-9a-f])|20(?!th|st|nd|rd)[a-z]{2}")
r"""What is left of an escaped character before an address: of `\u003e` in JSON, of `%20` in a URL."""
_HASH = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CODE = re.compile(r"[!#$%*/=?^`{|}]")
"""Signs in addresses that programs make, and in texts that are no addresses."""
_NO_MAILBOX = re.compile(r"^www\.|[@.](?:no-?)?reply\.")
"""A website with an @, and a domain that receives no mail, such as that of the commits on GitHub."""


class ImpossibleAddress(InvalidValue):
    """No person has this address, as `noemail@acme.com` and `logo@2x.png`."""


def person_email(text: str) -> str:
    """Return the address of a person in a text, in normal form.

    Raises:
        InvalidValue: the text is not one address at a public domain.
        ImpossibleAddress: no person has it.

    """
    email = wrapped_email(text)
    refuse_impossible(email)
    return email


def wrapped_email(text: str) -> str:
    """Return the address in a text, in normal form, without what stands around it.

    That is a name and brackets, quotes, `mailto:` and its parameters, a note in brackets, punctuation,
    invisible characters, and the codes of HTML and URLs. Full-width letters and typographic apostrophes
    become ASCII.
    """
    return normal_email(_unwrapped(text) if len(text) <= MAX_LENGTH else text)


def refuse_impossible(email: str) -> None:
    """Refuse an address in normal form that no person has.

    Raises:
        ImpossibleAddress: it is a placeholder, a program's, or a text that only looks like an address.
        InvalidValue: it has pictures, or letters of another alphabet that look like those beside them.

    """
    local, _, domain = email.rpartition("@")
    found = _LEFT_OVER.match(local)
    if found and not (found[0].startswith("20") and email_kind(email) == "personal"):
        raise ImpossibleAddress("The address begins with the rest of an escaped character, such as %20.")
    if _HASH.fullmatch(local) or _CODE.search(local) or _NO_MAILBOX.search(email):
        raise ImpossibleAddress("This is an address of a program, not of a person.")
    if not (email.isascii() and "xn--" not in domain) and not _has_letters_only(local, domain):
        raise InvalidValue(NO_ADDRESS)
    word, label = mailbox_name(local), domain.partition(".")[0]
    is_local = word in _ALWAYS or word in _LOCAL
    if is_local or label in _ALWAYS or _are_placeholders(email, word, label):
        raise ImpossibleAddress("This address stands for a missing one.")
    if not may_end_domain(domain.rpartition(".")[2]):
        raise ImpossibleAddress("The end of the address is not a top-level domain, such as com or de.")


def _are_placeholders(email: str, word: str, label: str) -> bool:
    """Return whether mailbox and domain are such words; people named Sem have mailboxes at mail.com."""
    if word in _NAMED_SO:
        return word == label or (label in _DOMAINS and email_kind(email) == "work")
    return word in _BOTH and label in _DOMAINS


def _has_letters_only(local: str, domain: str) -> bool:
    """Return whether what is not ASCII are letters, and none looks like one of another alphabet beside it."""
    if not all(sign.isascii() or unicodedata.category(sign)[0] in "LMN" for sign in local):
        return False
    return not has_lookalikes(local) and not has_lookalikes(idna.decode(domain))


def _unwrapped(text: str) -> str:
    address = _visible(text if text.isascii() else normalized("NFKC", text)).translate(_ASCII)
    address = unhidden(without_json_codes(unescaped(address)))
    if found := _NAMED.search(address):
        address = found[1]
    address = _MARKS.sub("", address.strip()).strip(_AROUND)
    if scheme := _SCHEME.match(address):
        address = address[scheme.end() :].partition("?")[0]
    if _PERCENT.search(address) and "\ufffd" not in (plain := unquote(address)):
        address = plain
    if note := _NOTE.fullmatch(f"{address})") or _NOTE.fullmatch(f"{address}]"):  # its end was taken off
        address = note[1]
    before, at, after = address.strip(_AROUND).rstrip("./!?").rpartition("@")
    return f"{before}{at}{_AFTER.sub('', after)}"


def _visible(text: str) -> str:
    """Return the text without invisible characters, and with control characters as spaces."""
    if text.isprintable():
        return text
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf").replace("\0", " ")
