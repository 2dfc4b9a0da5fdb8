"""The provider report as text: a table for each field, and the cost of the orders below it."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table

_COLUMNS = ("asked", "hits", "hit rate", "vendor credits", "cost per hit", "p50 ms", "bounces")


def print_report(report: dict[str, Any]) -> None:
    """Print the report of one field."""
    table = Table(title=report["field"], title_justify="left")
    table.add_column("provider")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for figures in report["providers"]:
        table.add_row(
            figures["provider"],
            str(figures["asked"]),
            str(figures["hits"]),
            f"{figures['hit_rate']:.0%}",
            f"{figures['credits']:g}",
            _money(figures["cost_per_hit"]),
            "-" if figures["latency_ms"] is None else str(figures["latency_ms"]),
            str(figures["bounces"]),
        )
    Console().print(table)
    for name in ("configured", "best"):
        click.echo(_order_line(name, report[name], report["found"]))
    if report["never_asked"]:
        click.echo(f"not included in the estimates, because never called: {', '.join(report['never_asked'])}")
    click.echo()


def _order_line(name: str, order: dict[str, Any], found: int) -> str:
    if not order["order"]:
        return f"{name}: no provider is configured for this field."
    return (
        f"{name}: {', '.join(order['order'])}; finds {order['hit_rate']:.0%} "
        f"at {_money(order['cost_per_found'])} each, {_money(order['cost'])} for the {found} found"
    )


def _money(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:.4g}"
