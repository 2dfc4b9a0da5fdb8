"""E-mail addresses that people write so that programs do not find them, or with a comma for the dot."""

from __future__ import annotations

import re

from app.domain.normal.websites import may_end_domain

AT_WORD = (
    r"(?:at|@|a|\u00e4t|aet|arroba|chez|arobase|chiocciola|klammeraffe|kukac|malpa|ma\u0142pa|zavin\u00e1\u010d"
    r"|zavinac|snabela|apenstaartje|\u0441\u043e\u0431\u0430\u043a\u0430|\u03b1\u03c4)"
)
DOT_WORD = r"(?:dot|punkt|point|punto|ponto|punt|kropka|tecka|te\u010dka|prik|piste|pont|\.)"
"""What is written for the signs of an address."""
_OPEN, _CLOSE = r"\s{0,3}[\[({<]\s{0,3}", r"\s{0,3}[\])}>]\s{0,3}"
_BRACKETED_AT = re.compile(rf"{_OPEN}{AT_WORD}{_CLOSE}", re.IGNORECASE)
_BRACKETED_DOT = re.compile(rf"{_OPEN}{DOT_WORD}{_CLOSE}", re.IGNORECASE)
_SPELT_OUT = re.compile(r"[\w.+-]{1,64} at [\w-]{1,63}(?: dot [\w-]{1,63}){1,4}", re.IGNORECASE)
_COMMA = re.compile(r"([^\s@,;]{1,64}@[a-z0-9-]{1,63}),([a-z]{2,12})", re.IGNORECASE)


def unhidden(text: str) -> str:
    """Return the address that is meant by `ada (at) acme (dot) com`, `ada at acme dot com` or `ada@acme,com`.

    Any other text is unchanged.
    """
    if found := _COMMA.fullmatch(text.strip()):
        return f"{found[1]}.{found[2]}" if may_end_domain(found[2].lower()) else text
    if "@" in text and not _BRACKETED_AT.search(text):
        return text
    if _BRACKETED_AT.search(text):
        return _BRACKETED_DOT.sub(".", _BRACKETED_AT.sub("@", text))
    if _SPELT_OUT.fullmatch(text.strip()):
        return re.sub(r" dot ", ".", re.sub(r" at ", "@", text, flags=re.IGNORECASE), flags=re.IGNORECASE)
    return text
