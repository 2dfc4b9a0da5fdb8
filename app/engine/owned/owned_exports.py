"""Downloads of a workspace's people as rows that the importer can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select

from app.domain.findings import COMPANY_FIELDS, PERSON_FIELDS
from app.engine.contacts import hidden_values
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.ledger.reveals import OWNED, Reveal
from app.engine.lists import exports
from app.engine.owned.owned_contacts import OwnedContact
from app.infra.clock import rfc3339
from app.infra.database.session import Session

MIN_VALUES = 3
"""The fewest e-mails, and the fewest phones, for which a download has columns."""
_PERSON = tuple(name for name in PERSON_FIELDS if name != "member_url")
_OWN = ("lists", "tags", "note", "owner", "revealed_at", "contact_id", "updated_at", "call_registers")


def columns(session: Session, workspace_id: str) -> list[str]:
    """Return the columns of a download; e-mail and phone columns for the revealed contact with the most."""
    names = [*_PERSON, *(f"company_{name}" for name in COMPANY_FIELDS)]
    for field, parts, table in (("email", exports.EMAIL_PARTS, Email), ("phone", exports.PHONE_PARTS, Phone)):
        count = max(_most(session, workspace_id, table), MIN_VALUES)
        names += [name for index in range(count) for name in exports.numbered(field, parts, index)]
    return [*names, *_OWN]


def row(person: OwnedContact, *, with_values: bool) -> dict[str, str]:
    """Return the cells of a person; columns without a value are left out."""
    cells = exports.texts(_PERSON, _person(person)) | _company_cells(person)
    if with_values:
        cells |= exports.value_cells(*person.owned_rows)
    return cells | exports.texts(_OWN, _own(person, with_values=with_values))


def _most(session: Session, workspace_id: str, table: type[Email | Phone]) -> int:
    """Return the number of e-mails or phones of the revealed contact that has the most."""
    revealed = (
        select(Reveal.contact_id).where(Reveal.workspace_id == workspace_id, OWNED).distinct().subquery()
    )
    counts = (
        select(func.count().label("n"))
        .select_from(revealed)
        .join(table, table.contact_id == revealed.c.contact_id)
        .where(hidden_values.is_shown(session.settings.regional_rules, table))
        .group_by(table.contact_id)
        .subquery()
    )
    return session.scalar(select(func.max(counts.c.n))) or 0


def _person(person: OwnedContact) -> list[str | None]:
    row = person.row
    is_renamed = row.saved_full_name not in {None, row.contact_full_name}
    public = person.public(with_values=False)
    parts = (None, None) if is_renamed else (row.contact_first_name, row.contact_last_name)
    return [
        public["full_name"],
        *parts,
        public["title"],
        row.contact_seniority,
        row.contact_department,
        public["linkedin_url"],
        person.location["city"],
        person.location["country"],
    ]


def _company_cells(person: OwnedContact) -> dict[str, str]:
    """Return the cells of the company; what is stored of it only if the workspace saved no other."""
    if person.has_saved_company:
        return {f"company_{name}": value for name, value in person.company.items() if value}
    names = [f"company_{name}" for name in COMPANY_FIELDS]
    return exports.texts(names, [getattr(person.row, name) for name in names])


def _own(person: OwnedContact, *, with_values: bool) -> Sequence[Any]:
    saved: dict[str, Any] = person.saved or {"lists": [], "tags": [], "note": None}
    return [
        "; ".join(entry["name"] for entry in saved["lists"]) or None,
        "; ".join(saved["tags"]) or None,
        saved["note"],
        person.row.owner_name,
        rfc3339(person.row.revealed_at),
        person.row.contact_id,
        rfc3339(person.row.updated_at),
        _registers(person) if with_values else None,
    ]


def _registers(person: OwnedContact) -> str | None:
    """Return the registers that have numbers of the person, with their dates."""
    _emails, phones = person.owned_rows
    texts = [
        f"{phone.e164}: {listing.name} of {listing.date:%Y-%m-%d}"
        for phone in phones
        for listing in phone.listings or ()
        if listing.is_listed
    ]
    return "; ".join(texts) or None
