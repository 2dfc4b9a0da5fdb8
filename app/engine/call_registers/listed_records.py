"""What do-not-call registers say about the numbers in records of the workspace's own systems.

Lookups show what a CRM or an address book of the workspace has of a person, which is treated as what was
bought: a number that is hidden is left out, and one that must not be called is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from app.domain.call_registers import is_hidden
from app.engine.call_registers import listings
from app.engine.call_registers.listings import Listings, Numbers
from app.infra.database.session import Session

PHONES, NOT_TO_CALL = "phones", "do_not_call_phones"


class Reader(NamedTuple):
    """A workspace, and whether an admin of it reads the records."""

    workspace_id: str
    as_admin: bool


def shown(
    session: Session, readers: Sequence[Reader], fields: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the fields of each reader's person, whose records have the numbers that the reader may see.

    Numbers in a register are also in `do_not_call_phones`. Fields that are not lists of records are
    unchanged.
    """
    wanted = [
        Numbers(reader.workspace_id, {number for record in _records(of_one) for number in record[PHONES]})
        for reader, of_one in zip(readers, fields, strict=True)
    ]
    found = listings.find_all(session, wanted)
    return [
        {name: _value(value, listed, as_admin=reader.as_admin) for name, value in of_one.items()}
        for reader, of_one, listed in zip(readers, fields, found, strict=True)
    ]


def _records(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in fields.values():
        if _are_records(value):
            yield from value


def _are_records(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and PHONES in one for one in value)


def _value(value: object, listed: Listings, *, as_admin: bool) -> object:
    if not isinstance(value, list) or not _are_records(value):
        return value
    return [_record(record, listed, as_admin=as_admin) for record in value]


def _record(record: Mapping[str, Any], listed: Listings, *, as_admin: bool) -> dict[str, Any]:
    phones = [number for number in record[PHONES] if not is_hidden(listed.get(number, ()), as_admin=as_admin)]
    return {
        **record,
        "has": _kinds(record, phones),
        PHONES: phones,
        NOT_TO_CALL: [number for number in phones if any(one.is_listed for one in listed.get(number, ()))],
    }


def _kinds(record: Mapping[str, Any], phones: Sequence[str]) -> list[str]:
    """Return the kinds of values in the record, without numbers if all of them are hidden."""
    kinds: Iterable[str] = record["has"]
    return [kind for kind in kinds if kind != "phone" or phones or not record[PHONES]]
