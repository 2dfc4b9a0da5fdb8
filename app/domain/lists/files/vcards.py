r"""Contact cards as phones, mail programs and web services export them: vCard 2.1, 3.0 and 4.0 (RFC 6350).

Real files deviate from all three. Android and Outlook write 2.1 with quoted-printable values that continue on
the next line after a `=`, so that a line with a name may have no colon. Outlook and old phones do not indent
the lines of a picture. Apple names properties `item1.TEL` and their labels `item1.X-ABLabel`. A line may have
another encoding than the rest of the file. Files that were joined lack the line break between two cards, or
have several byte order marks. Others end lines with `\r\r\n`. What is not understood is left out; the rest of
the card is read.
"""

from __future__ import annotations

import codecs
import email
import quopri
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO

from app.domain.lists.files import encodings
from app.domain.lists.files.csv_files import is_encoding
from app.domain.normal.texts.text_forms import unescaped

_BEGIN, _END = b"BEGIN:VCARD", b"END:VCARD"
_BEGINNING = re.compile(rb"(?:\A|[\r\n])[\s\x00]*begin:vcard", re.IGNORECASE)
_BEGINS_WITHIN = 2000
"""Bytes before the first card; a mail or a note may stand there."""
_TRANSFER = b"content-transfer-encoding:"
_ATTACHED_WITHIN = 1 << 16
_TYPES = frozenset({"text/vcard", "text/x-vcard", "text/directory"})
_JOINED = re.compile(rb"(END:VCARD)[ \t]*(?=BEGIN:VCARD)", re.IGNORECASE)
_BREAK = re.compile(rb"\r{0,2}\n|\r")
_AGENT = re.compile(rb"(?:[\w-]+\.)?AGENT(?:;[^:]*)?:\s*")
"""The property whose value is the card of an assistant, which begins after it or in the next line."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNMARKED = ((b"B\0E\0", "utf-16-le"), (b"\0B\0E", "utf-16-be"))
MAX_VALUE = 1 << 13
"""The bytes of a value that are read; longer ones are pictures and notes."""
MAX_PROPERTIES = 500
"""The properties of a card that are read."""
_PROPERTY = re.compile(rb'((?:[^":]|"[^"]*")*+):(.*)', re.DOTALL)
_CUSTOM = re.compile(rb"X-CUSTOM\((?:[^()]*,)?([^(),]*)\)", re.IGNORECASE)
"""The label that Samsung writes: `X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=46=61=78)`."""
_USUAL = "cp1252"
"""The encoding of Outlook in most of Europe and America."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SIGN = re.compile(r"\\(.)|;", re.DOTALL)
_SEPARATOR = "\0"
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});", re.IGNORECASE)
"""A sign as HTML writes it, whose semicolon is not a separator."""
_UNESCAPED = re.compile(rb"(?<!\\);")
_LABEL = re.compile(r"_\$!<(.*)>!\$_")
_QUOTED_PRINTABLE = frozenset({"QUOTED-PRINTABLE", "ENCODING=QUOTED-PRINTABLE", "ENCODING=QUOTED"})
_BASE64 = frozenset({"BASE64", "B", "ENCODING=BASE64", "ENCODING=B"})


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a card: its name and the words of its parameters in upper case, and its components.

    `label` is the group's label, as Apple writes it beside a property.
    """

    name: str
    words: frozenset[str]
    components: Sequence[str] = field(repr=False)
    label: str = ""

    @property
    def text(self) -> str:
        """The value as one text."""
        return ";".join(self.components)


@dataclass(frozen=True, slots=True)
class Card:
    """The properties of a card in their order; `line` is its first line in the file, from 1."""

    line: int
    properties: Sequence[Property] = field(repr=False)

    def all(self, name: str) -> Iterator[Property]:
        """Yield the properties of this name."""
        return (found for found in self.properties if found.name == name)

    def text(self, name: str) -> str:
        """Return the first value of this name, empty if there is none."""
        return next((found.text for found in self.all(name) if found.text.strip()), "")

    def component(self, name: str, place: int) -> str:
        """Return a component of the first property of this name that has it."""
        filled = (found.components for found in self.all(name) if len(found.components) > place)
        return next((components[place] for components in filled if components[place].strip()), "")


def attached(content: bytes) -> bytes:
    """Return the cards that are attached to a mail in another encoding; any other file as it is."""
    start = content[:_ATTACHED_WITHIN].lower()
    if _TRANSFER not in start or start.lstrip().startswith(_BEGIN.lower()):
        return content
    parts = [part for part in email.message_from_bytes(content).walk() if part.get_content_type() in _TYPES]
    decoded = (part.get_payload(decode=True) for part in parts)
    return b"\n".join(each for each in decoded if isinstance(each, bytes)) or content


def is_vcard(content: bytes) -> bool:
    """Return whether a file has contact cards, by how it begins."""
    return _BEGINNING.search(_in_utf_8(content[:_BEGINS_WITHIN])) is not None


def read_cards(content: bytes) -> Iterator[Card]:
    """Yield the cards of a file; a card that does not end is ended by the next one, or by the file."""
    content = _JOINED.sub(rb"\1\n", _in_utf_8(content))
    decode = _Decoder(content)
    start, own, depth, before = 0, list[bytes](), 0, b""
    for number, text in _logical_lines(content):
        line = text.strip().upper()
        if _begins_agent(before, line):
            depth += 1
        elif line == _END and depth:
            depth -= 1
        elif line in {_BEGIN, _END}:
            if start:
                yield Card(start, _labelled(own, decode))
            start, own, depth = (number if line == _BEGIN else 0), [], 0
        elif start and not depth and b":" in text and len(own) < MAX_PROPERTIES:
            own.append(text)
        before = line or before
    if start:
        yield Card(start, _labelled(own, decode))


def _in_utf_8(content: bytes) -> bytes:
    """Return a file without byte order marks; one in UTF-16 or UTF-32 as UTF-8."""
    return _decoded(content).replace(codecs.BOM_UTF8, b"")


def _decoded(content: bytes) -> bytes:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace").encode()
    for beginning, encoding in _UNMARKED:
        if content.upper().startswith(beginning):
            return content.decode(encoding, errors="replace").encode()
    return content


def _logical_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each line with those that continue it, cut if they are long, and its number."""
    parts: list[bytes] = []
    length = first = 0
    is_broken = False
    for number, line in enumerate(_BREAK.split(content), 1):
        if is_broken:
            parts[-1] = parts[-1].rstrip()[:-1]
            following = line
        elif parts and line[:1] in {b" ", b"\t"}:
            following = line[1:]
        else:
            if parts:
                yield first, b"".join(parts)
            parts, length, first, following = [], 0, number, line
        if length < MAX_VALUE:
            parts.append(following[:MAX_VALUE])
            length += len(following)
        is_broken = length < MAX_VALUE and _is_broken(parts[0], following)
    yield first, b"".join(parts)


def _is_broken(first: bytes, line: bytes) -> bool:
    """Return whether a quoted-printable value goes on in the next line (RFC 2045, section 6.7)."""
    return line.rstrip().endswith(b"=") and b"QUOTED" in first.partition(b":")[0].upper()


def _begins_agent(before: bytes, line: bytes) -> bool:
    """Return whether the card of an assistant begins in a line, after the last one that is not empty."""
    if not line.endswith(_BEGIN):
        return False
    return _AGENT.fullmatch(before if line == _BEGIN else line.removesuffix(_BEGIN)) is not None


class _Decoder:
    """Decodes values: most are UTF-8; others are in the encoding that they name or that their words show."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._guessed = ""

    def __call__(self, value: bytes, charset: str) -> str:
        for encoding in ("utf-8", charset if is_encoding(charset) else "ascii"):
            try:
                return value.decode(encoding)
            except UnicodeError:
                continue
        return value.decode(self._encoding(), errors="replace")

    def _encoding(self) -> str:
        if not self._guessed:
            sample = encodings.sample_of(BytesIO(self._content))
            is_unsaid = sample.isascii()  # the other letters are quoted-printable
            self._guessed = _USUAL if is_unsaid else encodings.detect(sample, lambda _text: 0).encoding
        return self._guessed


def _labelled(lines: Sequence[bytes], decode: _Decoder) -> list[Property]:
    """Return the properties with the labels of their groups."""
    grouped = [found for line in lines if (found := _property(line, decode))]
    labels = {group: found.text for group, found in grouped if group and found.name == "X-ABLABEL"}
    return [
        Property(found.name, found.words, found.components, _LABEL.sub(r"\1", labels.get(group, "")))
        for group, found in grouped
    ]


def _property(line: bytes, decode: _Decoder) -> tuple[str, Property] | None:
    """Return the group and the property of a line; None for pictures and what is not a property."""
    match = _PROPERTY.fullmatch(line)
    head, value = match.groups() if match else line.partition(b":")[::2]
    head = _CUSTOM.sub(lambda custom: quopri.decodestring(custom[1]), head)
    name, *parameters = decode(head, "").upper().replace('"', "").split(";")
    words = [
        "=".join(map(str.strip, word.split("="))) for parameter in parameters for word in parameter.split(",")
    ]
    if not value or not _BASE64.isdisjoint(words):
        return None
    charset = next((word.partition("=")[2] for word in words if word.startswith("CHARSET=")), "")
    if _QUOTED_PRINTABLE.isdisjoint(words):
        text = _REFERENCE.sub(lambda found: unescaped(found[0]), decode(value, charset))
        components = _SIGN.sub(_read_sign, text.replace(_SEPARATOR, "")).split(_SEPARATOR)
    else:
        parts = (decode(quopri.decodestring(part), charset) for part in _UNESCAPED.split(value))
        components = [_ESCAPE.sub(_read_sign, part) for part in parts]
    group, _dot, plain = name.strip().rpartition(".")
    types = frozenset(word.partition("=")[2] if word.startswith("TYPE=") else word for word in words)
    return group, Property(plain, types, [" ".join(text.split()) for text in components])


def _read_sign(match: re.Match[str]) -> str:
    """Return what an escaped sign stands for (RFC 6350, section 3.4), or the mark between two components."""
    if match[1] is None:
        return _SEPARATOR
    return "\n" if match[1] in "nN" else match[1]
