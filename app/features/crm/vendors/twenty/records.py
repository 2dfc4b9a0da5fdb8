"""Records of Twenty: dotted names of composite fields, addresses, split numbers, and links.

Sources: twentyhq/twenty, `composite-types` and `record-transformer`: a number is stored as the national
number, the calling code and the country; the host of a link becomes lower-case, and a slash at its end is
removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.errors import InvalidValue
from app.domain.normal.phones.phones import parse_phone
from app.domain.normal.websites import normal_host
from app.features.crm.vendors.exchange import filled, text
from app.features.crm.vendors.notes import Note
from app.features.crm.vendors.person import CrmRecord
from app.features.crm.vendors.properties import Property, options

_NUMBER, _COUNTRY, _CODE = "primaryPhoneNumber", "primaryPhoneCountryCode", "primaryPhoneCallingCode"
_RELATION = "RELATION"
_PARTS = {
    "FULL_NAME": ("firstName", "lastName"),
    "EMAILS": ("primaryEmail",),
    "PHONES": (_NUMBER,),
    "LINKS": ("primaryLinkUrl",),
    "ADDRESS": ("addressStreet1", "addressCity", "addressState", "addressPostcode", "addressCountry"),
}
"""The parts of composite fields that hold one text."""
_WRITABLE = frozenset({"TEXT", "SELECT", "DATE", "DATE_TIME", "UUID", *_PARTS})
"""The types of fields that accept a text."""
_SCHEMES = ("https://", "http://", "")


def nested(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the object of dotted names: `name.firstName` is a part of `name`."""
    body: dict[str, Any] = {}
    for name, value in values.items():
        outer, dot, inner = name.partition(".")
        if dot:
            body.setdefault(outer, {})[inner] = value
        else:
            body[outer] = value
    return body


def as_properties(field: Mapping[str, Any]) -> list[Property]:
    """Return the properties that a field has: those of a composite one are its parts."""
    kind, name, label = field["type"], str(field["name"]), text(field.get("label"))
    is_writable = kind in _WRITABLE and field.get("isActive", True) and not field.get("isSystem")
    if kind == _RELATION:
        return [Property(name=f"{name}Id", label=label, is_writable=not field.get("isSystem"))]
    if kind in _PARTS:
        return [
            Property(name=f"{name}.{part}", label=f"{label}: {part}", is_writable=bool(is_writable))
            for part in _PARTS[kind]
        ]
    accepted = options(field.get("options"), "value", "label")
    return [Property(name=name, label=label, is_writable=bool(is_writable), options=accepted)]


def record(person: Mapping[str, Any], properties: Sequence[str], notes: Sequence[Note] = ()) -> CrmRecord:
    """Return the person with these properties; a number is joined from its parts."""
    return CrmRecord(str(person["id"]), filled({name: _value(person, name) for name in properties}), notes)


def addresses(person: Mapping[str, Any]) -> list[str]:
    """Return the primary and the additional addresses of a person."""
    emails = person.get("emails") or {}
    others = emails.get("additionalEmails")
    if isinstance(others, str):  # JSON, in earlier versions
        others = json.loads(others or "[]")
    return [text(emails.get("primaryEmail")), *map(text, others or ())]


def numbers(person: Mapping[str, Any]) -> list[str]:
    """Return the primary and the additional numbers of a person."""
    phones = person.get("phones") or {}
    others = phones.get("additionalPhones")
    if isinstance(others, str):  # JSON, in earlier versions
        others = json.loads(others or "[]")
    parts = (
        {_NUMBER: one.get("number"), _COUNTRY: one.get("countryCode"), _CODE: one.get("callingCode")}
        for one in others or ()
    )
    return [_number(phones), *map(_number, parts)]


def links(domain: str) -> list[str]:
    """Return the ways in which people write the address of a company's website."""
    return [
        f"{scheme}{www}{domain}{slash}" for scheme in _SCHEMES for www in ("", "www.") for slash in ("", "/")
    ]


def is_website(company: Mapping[str, Any], domain: str) -> bool:
    """Return whether the link of a company leads to this domain."""
    link = text((company.get("domainName") or {}).get("primaryLinkUrl"))
    try:
        return normal_host(link) == domain
    except InvalidValue:
        return False


def _value(person: Mapping[str, Any], name: str) -> object:
    outer, dot, inner = name.partition(".")
    value = person.get(outer)
    if not dot:
        return value
    return _number(value or {}) if inner == _NUMBER else (value or {}).get(inner)


def _number(phones: Mapping[str, Any]) -> str:
    """Return the number in E.164, as it is written; as it is stored if that is not possible."""
    number, country = text(phones.get(_NUMBER)), text(phones.get(_COUNTRY))
    code = text(phones.get(_CODE)).lstrip("+")
    written = f"+{code} {number}" if code and number and not number.startswith("+") else number
    try:
        return parse_phone(written, country).e164
    except InvalidValue:
        return written
