"""What a workspace has written to its CRM: the property of each field, and constant values of others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from app.domain.errors import FieldError, InvalidValue
from app.domain.messages import Message
from app.features.crm.vendors.person import CrmField, Person
from app.features.crm.vendors.properties import Property
from app.features.crm.vendors.vendor import Crm

MAX_CONSTANTS = 20
MAX_VALUE = 255
_SHOWN_OPTIONS = 20
_CONSTANT = "="
"""Before the name of a property that has a constant value: the name of its field in a push."""


def validate(crm: Crm, mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping without fields that have no property, in the order of the fields.

    Raises:
        InvalidValue: a property is not the name of one, is used twice, or the address has another one.

    """
    chosen = {field.value: mapping[field].strip() for field in CrmField if mapping.get(field, "").strip()}
    for field, name in chosen.items():
        if not _is_name(crm, name):
            raise InvalidValue(
                Message(
                    "The property of {field} is not a name such as {value}.",
                    field=field,
                    value=crm.mapping[CrmField.EMAIL],
                )
            )
    if len(set(chosen.values())) < len(chosen):
        raise InvalidValue("Each property can be written from one field only.")
    if chosen.get(CrmField.EMAIL) != crm.mapping[CrmField.EMAIL]:
        raise InvalidValue(
            Message(
                "The property of email must be {value}: people are found by it.",
                value=crm.mapping[CrmField.EMAIL],
            )
        )
    return chosen


def validate_constants(crm: Crm, mapping: Mapping[str, str], constants: Mapping[str, str]) -> dict[str, str]:
    """Return the constants without empty ones; `mapping` has the properties that are written from fields.

    Raises:
        InvalidValue: a property is not the name of one or is in the mapping, or there are too many.

    """
    chosen = {name.strip(): value.strip() for name, value in constants.items() if value.strip()}
    if len(chosen) > MAX_CONSTANTS:
        raise InvalidValue(Message("At most {max} properties can have a constant value.", max=MAX_CONSTANTS))
    for name in chosen:
        if not _is_name(crm, name):
            raise InvalidValue(
                Message(
                    "A constant's property is not a name such as {value}.", value=crm.mapping[CrmField.TITLE]
                )
            )
        if name in mapping.values():
            raise InvalidValue(
                Message("{name} is written from a field already. Remove it there, or here.", name=name)
            )
    return chosen


def mistakes(
    crm: Crm, known: Mapping[str, Property], mapping: Mapping[str, str], constants: Mapping[str, str]
) -> Iterator[FieldError]:
    """Yield what the CRM does not accept of these entries, by its own properties, if they are known."""
    for field, name in mapping.items() if known else ():
        if reason := _unwritable(crm, known, name):
            yield FieldError(f"/mapping/{field}", reason)
        elif field == CrmField.MARKS and known[name].options:
            yield FieldError(
                f"/mapping/{field}",
                Message("{name} accepts some values only. Name a property of text.", name=name),
            )
    for name, value in constants.items() if known else ():
        accepted = known[name].values if name in known else []
        if reason := _unwritable(crm, known, name):
            yield FieldError(f"/constants/{name}", reason)
        elif accepted and value not in accepted:
            yield FieldError(
                f"/constants/{name}",
                Message(
                    "{name} does not accept {value}. It accepts {accepted}.",
                    name=name,
                    value=value,
                    accepted=_shown(accepted),
                ),
            )


def applied(
    mapping: Mapping[str, str], constants: Mapping[str, str], person: Person
) -> tuple[dict[str, str], Person]:
    """Return the mapping and the person with each constant as a field more, for a push."""
    fields = {f"{_CONSTANT}{name}": name for name in constants}
    values = {field: constants[name] for field, name in fields.items()}
    return {**mapping, **fields}, replace(person, values={**person.values, **values})


def _is_name(crm: Crm, name: str) -> bool:
    return re.fullmatch(crm.property_name, name, re.ASCII) is not None


def _unwritable(crm: Crm, known: Mapping[str, Property], name: str) -> str | None:
    if name not in known:
        return (
            f"{crm.title} has no property {name}, or the credentials may not see it. If it is new, check the "
            "connection first."
        )
    return None if known[name].is_writable else f"{name} cannot be written in {crm.title}."


def _shown(accepted: list[str]) -> str:
    more = len(accepted) - _SHOWN_OPTIONS
    return ", ".join(accepted[:_SHOWN_OPTIONS]) + (f" and {more} more" if more > 0 else "")
