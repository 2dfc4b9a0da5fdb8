"""Plans of PostgreSQL for the statements that a block executes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from app.infra.database.db import Database

FEW = 10


@contextmanager
def explained(database: Database) -> Iterator[list[dict[str, Any]]]:
    """Collect the plans of the statements of the block."""
    plans: list[dict[str, Any]] = []

    def explain(
        _connection: Any,
        cursor: Any,
        sql: str,
        parameters: Any,
        _context: Any,
        is_many: bool,  # noqa: FBT001 -- SQLAlchemy's signature
    ) -> None:
        if sql.startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", parameters[0] if is_many else parameters)
            plans.append(cursor.fetchone()[0][0]["Plan"] | {"sql": sql})

    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", explain)
    yield plans
    for engine in database.engines:
        event.remove(engine, "before_cursor_execute", explain)


def scanned(plan: dict[str, Any]) -> list[str]:
    """Return the tables that the plan reads as a whole; an EXISTS reads only the first row."""
    is_whole = plan["Node Type"] == "Seq Scan" and plan.get("Parent Relationship") != "InitPlan"
    own = [plan["Relation Name"]] if is_whole else []
    return own + [table for child in plan.get("Plans", ()) for table in scanned(child)]


def rescanned(plan: dict[str, Any], *, is_repeated: bool = False) -> list[str]:
    """Return the tables that the plan reads as a whole for each row of another: quadratic time."""
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" and is_repeated else []
    return own + [
        table
        for child in plan.get("Plans", ())
        for table in rescanned(child, is_repeated=is_repeated or _is_repeated(plan, child))
    ]


def _is_repeated(plan: dict[str, Any], child: dict[str, Any]) -> bool:
    """Return whether the child runs for each of many rows: of its parent, or of the outer side of a join."""
    if child["Parent Relationship"] == "SubPlan":
        return plan["Plan Rows"] > FEW
    is_inner = plan["Node Type"] == "Nested Loop" and child["Parent Relationship"] == "Inner"
    return is_inner and plan["Plans"][0]["Plan Rows"] > FEW
