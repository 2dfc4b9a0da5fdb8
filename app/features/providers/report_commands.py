"""`flask providers report`: results and cost of each provider, and the estimated cost of the best order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from sqlalchemy.exc import ProgrammingError

from app import settings as app_settings
from app.domain.errors import Unavailable
from app.domain.providers import provider_ranking
from app.domain.providers.provider_ranking import Expected
from app.engine.providers import provider_stats
from app.engine.providers.provider_stats import ProviderStats
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings, SettingsError
from cli.groups.command_group import unusable
from cli.options.country_codes import parse_country
from workers.providers.base import Provider, ProviderField
from workers.providers.registry import load
from workers.resolve.provider_order import best, configured_order, refresh, stats

_COLUMNS = ("asked", "hits", "hit rate", "vendor credits", "cost per hit", "p50 ms", "bounces")
MAX_DAYS = 3650


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """The fields, the ISO country (None: all) and the number of days to report on."""

    fields: tuple[ProviderField, ...]
    country: str | None
    days: int


@click.command()
@click.option(
    "--field",
    "fields",
    multiple=True,
    type=click.Choice([field.value for field in ProviderField]),
    help="Only this field; may be repeated.",
)
@click.option("--country", callback=parse_country, metavar="CC", help="Only people in this country.")
@click.option(
    "--days",
    type=click.IntRange(1, MAX_DAYS),
    default=90,
    show_default=True,
    help="Number of days to report on.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")  # fmt: skip
def report(fields: tuple[str, ...], country: str | None, days: int, *, as_json: bool) -> None:
    """Report the results and cost of each provider, and the estimated cost of the best order.

    Cost per hit is in your currency: vendor credits times <NAME>_CREDIT_PRICE. Estimates assume that the
    providers' hit rates are independent.
    """
    report_filter = ReportFilter(
        tuple(ProviderField(name) for name in fields) or tuple(ProviderField), country, days
    )
    try:
        settings = app_settings.load()
        reports = _reports(settings, report_filter)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    except (Unavailable, ProgrammingError) as error:
        raise click.ClickException(unusable(error)) from error
    if as_json:
        click.echo(json.dumps({"country": country, "days": days, "fields": reports}))
        return
    for field_report in reports:
        _print(field_report)
    if not reports:
        click.echo(f"No provider was called in the last {days} days.")


def _reports(settings: Settings, report_filter: ReportFilter) -> list[dict[str, Any]]:
    """Return a report for each field with provider calls."""
    database = Database(settings.database_url, seconds=None)
    period = timedelta(days=report_filter.days)
    reports = []
    try:
        with database.reading() as session:
            for field in report_filter.fields:
                since = database_clock.value(session) - period
                measured = provider_stats.of_field(
                    session, field.value, since=since, country=report_filter.country
                )
                configured = configured_order(settings, field, report_filter.country)
                counts = refresh(session, field, report_filter.country, back=period)
                if measured:
                    figures = _provider_figures(settings, configured, measured)
                    reports.append(
                        {"field": field.value, **figures, **_orders(configured, field, measured, counts)}
                    )
    finally:
        database.close()
    return reports


def _provider_figures(
    settings: Settings, configured: Sequence[Provider], measured: Mapping[str, ProviderStats]
) -> dict[str, Any]:
    """Return the figures of each provider in the configured order, providers no longer configured last."""
    names = [provider.name for provider in configured]
    ranked = sorted(measured, key=lambda name: (names.index(name) if name in names else len(names), name))
    return {"providers": [_figures(settings, name, measured[name]) for name in ranked]}


def _figures(settings: Settings, name: str, measured: ProviderStats) -> dict[str, Any]:
    """Return the figures of one provider; a provider that no longer exists has no price."""
    provider = load(settings).get(name)
    spent = None if provider is None else measured.credits * provider.terms.credit_price
    return {
        "provider": name,
        "asked": measured.asked,
        "hits": measured.hits,
        "hit_rate": round(measured.hits / measured.asked, 4),
        "credits": round(measured.credits, 6),
        "cost_per_hit": None if spent is None or not measured.hits else round(spent / measured.hits, 6),
        "latency_ms": measured.latency_ms,
        "bounces": measured.bounces,
    }


def _orders(
    configured: Sequence[Provider],
    field: ProviderField,
    measured: Mapping[str, ProviderStats],
    counts: Mapping[str, ProviderStats],
) -> dict[str, Any]:
    """Return the estimated hit rate and cost of the configured and of the best order.

    Providers never called are part of the orders but not of the estimates.
    """
    all_stats = stats(configured, field, counts)
    found = sum(
        max(measured[name].hits - measured[name].bounces, 0) for name in all_stats if name in measured
    )
    orders = {"configured": configured, "best": best(configured, field, counts)}
    report: dict[str, Any] = {
        "found": found,
        "never_asked": [name for name in all_stats if name not in counts],
    }
    for name, order in orders.items():
        names = [provider.name for provider in order]
        expected = provider_ranking.expected(
            [provider for provider in names if provider in counts], all_stats
        )
        report[name] = {"order": names, **_expected(expected, found)}
    return report


def _expected(expected: Expected, found: int) -> dict[str, float | None]:
    cost = expected.cost_per_hit
    return {
        "hit_rate": round(expected.hit_rate, 4),
        "cost_per_found": None if cost is None else round(cost, 6),
        "cost": None if cost is None else round(cost * found, 6),
    }


def _print(report: dict[str, Any]) -> None:
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
