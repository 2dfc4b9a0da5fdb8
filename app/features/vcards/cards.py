"""Writes a person as a vCard: version 3.0 (RFC 2426) or 4.0 (RFC 6350)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from nameparser import HumanName

VERSIONS = ("3.0", "4.0")
Version = Literal["3.0", "4.0"]
MAX_OCTETS = 75
"""The length at which a line is folded, without its line break."""
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_ESCAPED = re.compile(r"([\\,;])")
_BREAK = re.compile(r"\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")
_EMAIL_TYPES = {"work": ("WORK", "work"), "personal": ("HOME", "home")}
_PHONE_TYPES = {"mobile": ("CELL", "cell"), "direct": ("WORK", "work"), "work": ("WORK", "work")}
_NAMELESS = "Name not known"


def vcard(person: Mapping[str, Any], version: Version) -> str:
    """Return the card of a person as `OwnedContact.public` has it, with CRLF at the end of each line."""
    return "".join(f"{_folded(line)}\r\n" for line in _lines(person, version))


def _lines(person: Mapping[str, Any], version: Version) -> Iterator[str]:
    is_4 = version == "4.0"
    name = _plain(person["full_name"] or "")
    yield "BEGIN:VCARD"
    yield f"VERSION:{version}"
    yield f"FN:{_escaped(name or _NAMELESS)}"
    yield f"N:{_structured_name(name)}"
    company = person["company"] or {}
    if organization := company.get("name") or company.get("domain"):
        yield f"ORG:{_escaped(organization)}"
    if person["title"]:
        yield f"TITLE:{_escaped(person['title'])}"
    revealed = person["revealed"] or {}
    yield from (_email(value, is_4=is_4) for value in revealed.get("emails", ()))
    yield from (_phone(value, is_4=is_4) for value in revealed.get("phones", ()))
    yield from (_warning(value) for value in revealed.get("phones", ()) if value.get("do_not_call"))
    location = person["location"] or {}
    if location.get("city") or location.get("country"):
        place = [location.get("city") or "", "", "", location.get("country") or ""]
        yield f"ADR;TYPE={'work' if is_4 else 'WORK'}:;;;{';'.join(map(_escaped, place))}"
    if person["linkedin_url"]:
        yield f"URL:{_plain(person['linkedin_url'])}"
    yield f"REV:{_revised(person['updated_at'], is_4=is_4)}"
    yield "END:VCARD"


def _structured_name(name: str) -> str:
    """Return family, given and additional names, prefixes and suffixes.

    A name of one word, or in a script that does not separate them, is a given name, as is what stands for a
    missing one: address books leave out a card without both.
    """
    parsed = HumanName(name)
    family, given, middle = parsed.last, parsed.first, parsed.middle
    parts = (family, given, middle, parsed.title, parsed.suffix)
    if not any(parts):
        parts = ("", name or _NAMELESS, "", "", "")
    return ";".join(map(_escaped, parts))


def _email(value: Mapping[str, Any], *, is_4: bool) -> str:
    old, new = _EMAIL_TYPES.get(value["type"], ("", ""))
    if is_4:
        return f"EMAIL{f';TYPE={new}' if new else ''}:{_escaped(value['email'])}"
    return f"EMAIL;TYPE=INTERNET{f',{old}' if old else ''}:{_escaped(value['email'])}"


def _phone(value: Mapping[str, Any], *, is_4: bool) -> str:
    line = value["type"] if value["line_type"] != "mobile" else "mobile"
    old, new = _PHONE_TYPES.get(line, ("", ""))
    extension = re.sub(r"[^0-9]", "", value.get("extension") or "")
    if is_4:
        types = f'"{new},voice"' if new else "voice"
        return f"TEL;VALUE=uri;TYPE={types}:tel:{value['e164']}{f';ext={extension}' if extension else ''}"
    number = f"{value['e164']} x{extension}" if extension else value["e164"]
    return f"TEL;TYPE={f'{old},' if old else ''}VOICE:{number}"


def _warning(value: Mapping[str, Any]) -> str:
    """Return the note that a number must not be called, by which registers of which days."""
    listed = (one for one in value.get("call_registers", ()) if one["listed"])
    registers = "; ".join(f"{one['name']} of {one['date'][:10]}" for one in listed)
    text = f"Do not call {value['e164']}"
    return f"NOTE:{_escaped(f'{text} ({registers})' if registers else text)}"


def _revised(time: str | None, *, is_4: bool) -> str:
    """Return the time of the last change, in the basic format of ISO 8601 that version 4.0 requires."""
    text = (time or "1970-01-01T00:00:00Z")[:19] + "Z"
    return text.replace("-", "").replace(":", "") if is_4 else text


def _plain(text: str) -> str:
    """Return the text as one line without control characters."""
    return " ".join(_CONTROLS.sub("", _BREAK.sub(" ", unicodedata.normalize("NFC", text))).split())


def _escaped(text: str) -> str:
    return _ESCAPED.sub(r"\\\1", _plain(text))


def _folded(line: str) -> str:
    """Return the line, folded before 75 octets without cutting a character in two."""
    parts: list[str] = []
    octets = 0
    for character in line:
        size = len(character.encode())
        if octets + size > MAX_OCTETS:
            parts.append("\r\n ")
            octets = 1
        parts.append(character)
        octets += size
    return "".join(parts)


def file_name(names: Sequence[str | None]) -> str:
    """Return the name of the file of a card, by the first of the names that has letters."""
    found = next((text for name in names if name and (text := _safe(name))), "contact")
    return f"{found}.vcf"


def _safe(name: str) -> str:
    return re.sub(r"[^\w .-]", "", _plain(name)).strip(" .")[:80]
