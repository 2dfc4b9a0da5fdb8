"""From the bytes of a page to a document: its character encoding, and markup that no parser takes long for.

The parser's time grows with the square of the depth of elements, and unclosed formatting elements are
repeated in every paragraph (WHATWG HTML, 13.2.4.3): a megabyte of `<div>` takes minutes. A page is cut where
it is nested deeper than pages are; browsers have such limits, too.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

MAX_PAGE_BYTES = 1_048_576
MAX_TAGS = 60_000
MAX_DEPTH = 256
MAX_OPEN_FORMATS = 16
SNIFFED_BYTES = 4096
"""Bytes at the start in which a declared encoding is looked for; browsers take 1,024, pages more."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([a-z0-9_:.-]{2,40})""", re.IGNORECASE)
_ENCODINGS = {
    # labels of the WHATWG Encoding Standard whose codec has another name in Python, or reads more
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms932": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "utf8": "utf-8",
    "utf-16": "utf-16-le",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
}
_KNOWN = re.compile(
    r"utf-8|utf-16-?[lb]e|iso-8859-(?:[2-8]|1[03-6])|windows-(?:125[0-8]|874)|cp125[0-8]|koi8-[ru]|ibm866|"
    r"big5|big5-hkscs|euc-jp|iso-2022-jp|gb18030"
)
_TAG = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][a-zA-Z0-9:-]*))")
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta",
    "param", "source", "track", "wbr",
})  # fmt: skip
_IMPLIED = frozenset({
    "p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "tfoot", "option", "optgroup", "html",
    "head", "body",
})  # fmt: skip
"""Elements whose end tags pages leave out, because the next one closes them (WHATWG HTML, 13.1.2.4)."""
_FORMATS = frozenset({
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
_OPAQUE = frozenset({
    "svg", "math", "style", "template", "iframe", "object", "select", "textarea", "noframes", "xmp",
    "plaintext",
})  # fmt: skip
_DATA_SCRIPT = re.compile(r"""type\s*=\s*["']?\s*application/ld\+json""", re.IGNORECASE)


def document(html: bytes, charset: str | None) -> LexborHTMLParser:
    """Parse a page; what is beyond MAX_PAGE_BYTES is left out."""
    text = decoded(html[:MAX_PAGE_BYTES], charset)
    return LexborHTMLParser("".join(_bounded(text.replace("\0", ""))))


def decoded(html: bytes, charset: str | None) -> str:
    """Return the text of a page by its byte order mark, its header, its own declaration, or as UTF-8.

    A declaration that the bytes contradict is dropped: pages in UTF-8 are sent with the default header of
    their server. Bytes that are not text in the encoding become U+FFFD.
    """
    for mark, name in _BOMS:
        if html.startswith(mark):
            return html[len(mark) :].decode(name, errors="replace")
    head = html[:SNIFFED_BYTES]
    match = _DECLARED.search(head) or _XML.search(head)
    declared = _codec(match[1].decode("ascii")) if match else None
    if declared and declared.startswith("utf-16"):
        declared = "utf-8"  # it was read as ASCII
    named = _codec(charset or "")
    if named == "utf-16-le" and b"\0" not in head:
        named = None
    for encoding in (named, declared, "utf-8"):
        if encoding and _is_text(html, encoding):
            return html.decode(encoding, errors="replace")
    return html.decode(named or declared or "cp1252", errors="replace")


def _is_text(html: bytes, encoding: str) -> bool:
    """Return whether the bytes are text in the encoding; the last ones may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(html)
    except UnicodeError:
        return False
    return True


def _codec(label: str) -> str | None:
    """Return Python's codec for an encoding label; None for an unknown one, or one that is not of text."""
    label = label.strip("\"' \t").lower()
    if found := _ENCODINGS.get(label):
        return found
    return label if _KNOWN.fullmatch(label) else None


def _bounded(text: str) -> Iterator[str]:
    """Yield the markup without what has no text, up to where it is nested too deep or has too many tags."""
    start = position = depth = formats = 0
    for _ in range(MAX_TAGS):
        found = _TAG.search(text, position)
        if found is None:
            yield text[start:]
            return
        name = "!--" if found[1] else found[3].lower()
        position = found.end()
        if name in {"!--", "script"} or name in _OPAQUE:
            if found[2]:
                continue
            yield text[start : found.start()]
            end = _end_of(text, name, position)
            if name == "script" and end and _DATA_SCRIPT.search(text, position, min(position + 200, end)):
                yield text[found.start() : end]
            if not end:
                return
            start = position = end
        elif name not in _VOID and name not in _IMPLIED:
            step = -1 if found[2] else 1
            depth = max(depth + step, 0)
            formats = max(formats + step, 0) if name in _FORMATS else formats
            if depth > MAX_DEPTH or formats > MAX_OPEN_FORMATS:
                yield text[start : found.start()]
                return
    yield text[start:position]


def _end_of(text: str, name: str, position: int) -> int:
    """Return the position after the end of a comment or an element that is left out; 0 if it has none."""
    if name == "!--":
        found = text.find("-->", position)
        return found + len("-->") if found >= 0 else 0
    end = re.compile(rf"</{name}[^>]{{0,200}}>", re.IGNORECASE).search(text, position)
    return end.end() if end else 0
