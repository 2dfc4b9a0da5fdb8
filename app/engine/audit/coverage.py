"""What an audit covers: everything, or a part of the jobs, ledger entries and idempotency keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.types import TypeEngine

from app.domain.kinds import KINDS
from app.engine.audit import key_references

Parameters: TypeAlias = Mapping[str, tuple[Any, TypeEngine[Any]]]
"""The values and types of parameters by name."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition on a column, or another expression; the column is named where it is used: `{job:j.id}`."""

    sql: str

    def __format__(self, column: str) -> str:
        return self.sql.replace("?", column)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rows that an audit covers, as conditions on the column that replaces `?`.

    `job` is the condition on the id of a job, `entry` on the id of a ledger entry, `key` on the creation time
    of an idempotency key, `limit` on the id of a spending limit. `workspaces` are those whose sums of the
    whole ledger are compared; None means all.
    """

    job: str = "1 = 1"
    entry: str = "1 = 1"
    key: str = "1 = 1"
    limit: str = "1 = 1"
    parameters: Parameters = field(default_factory=dict)
    workspaces: Collection[str] | None = None

    def bind(self, template: str, parameters: Parameters) -> TextClause:
        """Return the SQL with these conditions and parameters; more parameters may be given than it has."""
        conditions = {name: _Condition(getattr(self, name)) for name in ("job", "entry", "key", "limit")}
        sql = template.format_map(conditions | _kind_expressions() | key_references.expressions())
        given = {**self.parameters, **parameters}
        return text(sql).bindparams(
            *(
                bindparam(name, value, type_=type_)
                for name, (value, type_) in given.items()
                if f":{name}" in sql
            )
        )


def _kind_expressions() -> dict[str, _Condition]:
    """Return the conditions on the kind of a job that charges need, and the field that the kind reveals."""
    kinds = KINDS.values()
    fields = " ".join(f"WHEN '{spec.name}' THEN '{spec.reveals}'" for spec in kinds if spec.reveals)
    return {
        "charged_once": _is_any(spec.name for spec in kinds if spec.price is not None),
        "charged_by_item": _is_any(spec.name for spec in kinds if spec.has_items),
        "revealed_field": _Condition(f"CASE ? {fields} END"),
    }


def _is_any(names: Iterable[str]) -> _Condition:
    return _Condition("? IN ({})".format(", ".join(f"'{name}'" for name in names)))


EVERYTHING = Coverage()
