"""Forms of links that dial a number: which are allowed, and the link of a number.

The schemes and the examples are those for which a public source was found in November 2026: RFC 3966
(`tel:`), RFC 3261 (`sip:`), developer.aircall.io/docs/implement-click-to-dial and
developers.zoom.us/docs/phone/outbound-call (`callto:`, `zoomphonecall:`),
developers.dialpad.com/docs/app-launch-urls (`dialpad:`), developers.ringcentral.com/guide/voice/uri-scheme
(`rcmobile:`, digits alone) and its catalogue of deep links (`rcapp:`), learn.microsoft.com, "Deep link to a
workflow in Teams" (`4:` before a phone number), Apple's URL Scheme Reference (`facetime-audio:`),
help.webex.com (`webextel:`), and doc.acrobits.net, Call URIs (`asoftphone:`, `groundwire:`, `cloudsip:`).
Versions of the programs differ: an admin tries a form before the workspace uses it.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from app.domain.errors import InvalidValue
from app.domain.messages import Message

DEFAULT = "tel:{number}"
NUMBER, DIGITS = "{number}", "{digits}"
MAX_LENGTH = 300
SCHEMES = (
    *("tel", "callto", "sip", "sips", "https", "zoomphonecall", "rcmobile", "rcapp", "dialpad"),
    *("webextel", "facetime-audio", "asoftphone", "groundwire", "cloudsip"),
)
"""The schemes of programs that dial. Others could run code or open files."""
EXAMPLES = (
    (
        "tel:{number}",
        Message("The program that the computer dials with: Aircall, Zoom Phone, a mobile phone"),
    ),
    ("callto:{number}", "Aircall, Zoom Phone"),
    ("sip:{number}@pbx.example.com", Message("A SIP phone")),
    ("dialpad://{number}", "Dialpad"),
    ("zoomphonecall://{number}", "Zoom Phone"),
    ("rcmobile://call?number={digits}", "RingCentral"),
    ("https://app.ringcentral.com/r/call?number={digits}", Message("RingCentral in the browser")),
    ("https://teams.microsoft.com/l/call/0/0?users=4:{number}", "Microsoft Teams"),
    ("https://dialer.example.com/call?n={number}", Message("A dialler with a website")),
)
_UNUSABLE = re.compile(r"[\s\x00-\x20\x7f-\x9f\"'<>\\^`|]")
_PLACEHOLDER = re.compile(r"\{[^}]*\}?")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_NO_PLACEHOLDER = Message("Put {number} (with the +) or {digits} (without it) once where the number goes.")


def parse(text: str) -> str:
    """Return the form of a link.

    Raises:
        InvalidValue: it has no place for the number, or a scheme that does not dial.

    """
    form = text.strip()
    if len(form) > MAX_LENGTH:
        raise InvalidValue(Message("Longer than {max} characters.", max=MAX_LENGTH))
    if _UNUSABLE.search(form) or not form.isascii():
        raise InvalidValue("Use no spaces, quotes, backslashes and letters outside ASCII.")
    if _PLACEHOLDER.findall(form) not in ([NUMBER], [DIGITS]) or "}" in _PLACEHOLDER.sub("", form):
        raise InvalidValue(_NO_PLACEHOLDER)
    scheme = _SCHEME.match(form)
    if scheme is None or scheme[1].lower() not in SCHEMES:
        raise InvalidValue(
            Message("Begin with one of {names}", names=", ".join(f"{each}:" for each in SCHEMES))
        )
    if scheme[1].lower() == "https":
        _require_host(form)
    return f"{scheme[1].lower()}:{form[scheme.end() :]}"


def _require_host(form: str) -> None:
    """Raise InvalidValue unless the host of a website is fixed, and is named without a password."""
    host = form[len("https:") :].removeprefix("//").partition("/")[0].partition("?")[0].partition("#")[0]
    try:
        parts = urlsplit(form)
        is_host = bool(form.lower().startswith("https://") and parts.hostname) and parts.port is None
    except ValueError:
        is_host = False
    if not is_host or "{" in host or "@" in host:
        raise InvalidValue("Name the website, as in https://dialer.example.com/call?n={number}")


def link(form: str, e164: str) -> str:
    """Return the link that dials a number; in a website's address its + is encoded."""
    is_encoded = form.startswith("https:") or "?" in form.partition("{")[0]
    number = quote(e164, safe="") if is_encoded else e164
    return form.replace(NUMBER, number).replace(DIGITS, e164.lstrip("+"))
