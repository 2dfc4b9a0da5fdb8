"""Ownership: the fields and values that a workspace may see in full.

A value that the workspace owns is free under every contact that has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    CompoundSelect,
    ScalarSelect,
    Select,
    String,
    bindparam,
    cast,
    column,
    literal,
    null,
    or_,
    select,
    table,
    union_all,
)

from app.engine.ledger.reveals import STORED, Reveal, RevealedValue, stored_index
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of

_WORKSPACE: BindParameter[Any] = bindparam("workspace_id")
# A partial definition: the module of contacts imports this one, not the other way round.
_CONTACTS = table(
    "contacts", column("id", String), column("linkedin_url", String), column("member_url", String)
)


class OwnedField(NamedTuple):
    """A field of a contact that a workspace owns."""

    contact_id: str
    field: str


@dataclass(frozen=True, slots=True)
class Ownership:
    """What a workspace owns of some contacts.

    `fields` are pairs of contact id and field. `values` are pairs of field and value: the contacts' values
    that the workspace owns under any contact.
    """

    fields: frozenset[OwnedField] = frozenset()
    values: frozenset[tuple[str, str]] = frozenset()


def owned_value(
    field: str, value: ColumnElement[Any], workspace_id: ColumnElement[str] = _WORKSPACE
) -> ScalarSelect[str]:
    """Return the field of a `RevealedValue` with this value of the workspace, or null.

    A subquery per value reads one row of an index. With a join, PostgreSQL reads all values of the workspace
    as long as the tables have no statistics.
    """
    return (
        select(RevealedValue.field)
        .where(
            RevealedValue.workspace_id == workspace_id,
            RevealedValue.field == field,
            RevealedValue.value_index == value,
        )
        .correlate_except(RevealedValue)
        .scalar_subquery()
    )


def owned_fields(dialect: str, workspace_id: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Return the query of the fields that workspaces own of contacts, the parameter `contact_ids`.

    `workspace_id` is the condition for `Reveal.workspace_id`.
    """
    is_wanted = any_of(dialect, Reveal.contact_id, "contact_ids")
    return select(Reveal.contact_id, Reveal.field).where(
        workspace_id, is_wanted, Reveal.refunded_at.is_(None)
    )


def _owned(dialect: str) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the query of owned fields, whose `value` is null, and of owned values."""
    fields = owned_fields(dialect, Reveal.workspace_id == _WORKSPACE)
    fields = fields.add_columns(cast(null(), String).label("value"))
    values = (
        select(stored.c.contact_id, literal(field).label("field"), stored_index(field).label("value"))
        .where(any_of(dialect, stored.c.contact_id, "contact_ids"))
        .where(owned_value(field, stored_index(field)).is_not(None))
        for field, stored in STORED.items()
    )
    return union_all(fields, *values)


class _OwnedRow(NamedTuple):
    contact_id: str
    field: str
    value: str | None


_OWNED = Statement(_OwnedRow, _owned)


OWNED_FIELD = {
    name: bindparam(name, type_=String) for name in ("owned_field", "owned_contact_id", "owned_linkedin_url")
}
"""The parameters of `is_field_owned`; see `field_parameters`."""


def is_field_owned(
    workspace_id: ColumnElement[str], parameters: Mapping[str, ColumnElement[Any]] = OWNED_FIELD
) -> ColumnElement[bool]:
    """Return the condition that a workspace owns a field of a contact.

    Columns of a table with many requests can stand for the parameters.
    """
    profile = parameters["owned_linkedin_url"]
    by_key = or_(
        _CONTACTS.c.id == parameters["owned_contact_id"],
        _CONTACTS.c.linkedin_url == profile,
        _CONTACTS.c.member_url == profile,
    )
    owned_field = (
        select(Reveal.field)
        .where(
            Reveal.workspace_id == workspace_id,
            Reveal.contact_id == _CONTACTS.c.id,
            Reveal.field == parameters["owned_field"],
            Reveal.refunded_at.is_(None),
        )
        .correlate_except(Reveal)
        .scalar_subquery()
    )
    return select(_CONTACTS.c.id).where(by_key, owned_field.is_not(None)).exists()


def field_parameters(
    field: str | None = None, *, contact_id: str | None = None, linkedin_url: str | None = None
) -> dict[str, str | None]:
    """Return the parameters of `is_field_owned`: the contact by id or profile; without any, none is owned."""
    return {"owned_field": field, "owned_contact_id": contact_id, "owned_linkedin_url": linkedin_url}


def owned(session: Session, workspace_id: str, contact_ids: Collection[str]) -> Ownership:
    """Return what the workspace owns of these contacts, in one query."""
    if not contact_ids:
        return Ownership()
    rows = _OWNED.all(session, {"workspace_id": workspace_id, "contact_ids": list(contact_ids)})
    return Ownership(
        fields=frozenset(OwnedField(row.contact_id, row.field) for row in rows if row.value is None),
        values=frozenset((row.field, row.value) for row in rows if row.value is not None),
    )
