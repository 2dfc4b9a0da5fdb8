"""Records of Pipedrive: a name in one field, lists of addresses and numbers, and custom fields.

Sources: developers.pipedrive.com/docs/api/v1/Persons (`name` is written, `first_name` and `last_name` are
read; `emails` and `phones` are lists of `{value, primary, label}`) and
pipedrive.readme.io/docs/pipedrive-api-v2-migration-guide (`custom_fields` by keys of 40 hexadecimal digits,
some with their `value` in an object; ids are numbers). A written list takes the place of the whole one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from app.features.crm.vendors.exchange import filled, text
from app.features.crm.vendors.notes import Note
from app.features.crm.vendors.person import CrmRecord
from app.features.crm.vendors.properties import Property, options

NAME = "name"
NAME_PARTS = ("first_name", "last_name")
EMAILS, PHONES = "emails", "phones"
ORGANIZATION = "org_id"
_IDS = frozenset({ORGANIZATION, "owner_id", "visible_to"})
_OF_VERSION_1 = {"email": EMAILS, "phone": PHONES}
_CUSTOM_FIELDS = "custom_fields"
_CUSTOM_FIELD = re.compile(r"[0-9a-f]{40}")
_LABEL = "work"


def record(person: Mapping[str, Any], properties: Sequence[str], notes: Sequence[Note] = ()) -> CrmRecord:
    """Return the person with these properties; of a list, the primary value."""
    return CrmRecord(str(person["id"]), filled({name: _value(person, name) for name in properties}), notes)


def addresses(person: Mapping[str, Any]) -> list[str]:
    """Return all addresses of a person."""
    return [text(entry.get("value")) for entry in person.get(EMAILS) or ()]


def numbers(person: Mapping[str, Any]) -> list[str]:
    """Return all numbers of a person."""
    return [text(entry.get("value")) for entry in person.get(PHONES) or ()]


def is_custom(name: str) -> bool:
    """Return whether a field is one of the company's own."""
    return _CUSTOM_FIELD.fullmatch(name) is not None


def as_property(field: Mapping[str, Any]) -> Property:
    """Return a field as version 1 of the API describes it, by its name in version 2."""
    key = str(field["key"])
    is_standard = _OF_VERSION_1.get(key, key) in {NAME, *NAME_PARTS, EMAILS, PHONES, *_IDS}
    return Property(
        name=_OF_VERSION_1.get(key, key),
        label=text(field.get("name")),
        is_writable=is_standard or bool(field.get("bulk_edit_allowed", True)),
        options=options(field.get("options"), "id", "label"),
    )


def body(
    values: Mapping[str, str], present: Mapping[str, Any], enumerations: Collection[str] = ()
) -> dict[str, Any]:
    """Return the body that writes the values; what else is in the lists and the name of `present` stays.

    An empty text is written as null, which is how a field is cleared. Values of `enumerations` are ids of
    options.
    """
    written: dict[str, Any] = {}
    for name, value in values.items():
        if name in NAME_PARTS:
            written[NAME] = _name(values, present)
        elif name in {EMAILS, PHONES}:
            written[name] = _with_primary(present.get(name) or (), value)
        elif _CUSTOM_FIELD.fullmatch(name):
            stored = _number(value) if name in enumerations else value or None
            written.setdefault(_CUSTOM_FIELDS, {})[name] = stored
        else:
            written[name] = _number(value) if name in _IDS else value or None
    return written


def _number(value: str) -> int | str:
    return int(value) if value.isdecimal() else value


def _value(person: Mapping[str, Any], name: str) -> object:
    if name in {EMAILS, PHONES}:
        return _primary(person.get(name) or ()).get("value")
    fields = (person.get(_CUSTOM_FIELDS) or {}) if _CUSTOM_FIELD.fullmatch(name) else person
    value = fields.get(name)
    return value.get("value") if isinstance(value, dict) else value


def _primary(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the primary entry of a list, else the first; an empty one without any."""
    listed = list(entries)
    return next((entry for entry in listed if entry.get("primary")), listed[0] if listed else {})


def _with_primary(entries: Sequence[Mapping[str, Any]], value: str) -> list[dict[str, Any]]:
    """Return the list with another value in the primary entry."""
    old = _primary(entries)
    others = [entry for entry in entries if entry is not old and not _is_superfluous(entry, value)]
    primary = {"value": value, "primary": True, "label": text(old.get("label")) or _LABEL}
    return [primary, *({**entry, "primary": False} for entry in others)]


def _is_superfluous(entry: Mapping[str, Any], value: str) -> bool:
    return text(entry.get("value")).strip().casefold() in {"", value.casefold()}


def _name(values: Mapping[str, str], present: Mapping[str, Any]) -> str:
    parts = (text(values.get(part, present.get(part))).strip() for part in NAME_PARTS)
    return " ".join(filter(None, parts))
