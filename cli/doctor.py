"""`flask doctor`: checks settings, servers and this machine, and prints a remedy for each fault."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app import feature_registry
from app import settings as app_settings
from app.infra.broker import broker
from app.infra.crypto.digest_keys import DigestKeys
from cli.checks import database, host, ports, processes, rabbitmq, redis, spool
from cli.checks import settings as setting_checks
from cli.checks.findings import Finding, Level
from cli.tables import UNLIMITED_WIDTH

MIN_WIDTH = 100
STYLES = {Level.OK: "green", Level.NOTE: "cyan", Level.WARNING: "yellow", Level.ERROR: "bold red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def doctor(*, as_json: bool) -> None:
    """Check everything the service needs; exit 1 if something must be corrected.

    Works without a running service and with invalid settings, leaves nothing behind, and prints no secret.
    """
    findings = list(_findings())
    failed = any(finding.level is Level.ERROR for finding in findings)
    if as_json:
        click.echo(json.dumps({"ok": not failed, "findings": [asdict(finding) for finding in findings]}))
    else:
        _print(findings)
    if failed:
        raise click.exceptions.Exit(1)


def _findings() -> Iterator[Finding]:
    settings, faults = app_settings.read()
    environment: dict[str, Any] = dict(os.environ)
    yield from setting_checks.findings(settings, faults, environment)
    tables = False
    if "DATABASE_URL" not in faults:
        for finding in database.findings(settings.database_url):
            yield finding
            tables = tables or (finding.what == database.TABLES and finding.level is Level.OK)
    if "REDIS_URL" not in faults:
        yield from redis.findings(settings.redis_url)
    if "BROKER_URL" not in faults and settings.broker_url:
        is_rabbitmq = broker.is_rabbitmq(settings.broker_url)
        yield from (rabbitmq if is_rabbitmq else redis).findings(settings.broker_url)
    if tables:
        yield from processes.worker_findings(settings.database_url)
        if not faults:
            for module in feature_registry.parts("checks"):
                yield from module.findings(settings)
    if not faults:
        yield from processes.provider_findings(settings)
    yield from host.findings(settings, environment)
    has_key = "SECRET_KEY" not in faults
    yield from ports.findings(
        environment, DigestKeys.from_settings(settings).installation if has_key else None
    )
    yield from spool.findings(settings)


def _print(findings: list[Finding]) -> None:
    layout = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "what", "state", "what to do"):
        layout.add_column(name, overflow="fold")
    for finding in findings:
        cells = (
            Text(finding.level.value, STYLES[finding.level]),
            finding.what,
            finding.state,
            finding.remedy,
        )
        layout.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    console = Console()
    console.width = max(console.width, MIN_WIDTH) if console.is_terminal else UNLIMITED_WIDTH
    with console.capture() as capture:
        console.print(layout)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))
    count = Counter(finding.level for finding in findings)
    more = f"{count[Level.WARNING]} warnings, {count[Level.NOTE]} notes."
    errors = count[Level.ERROR]
    click.echo(f"\n{errors} to correct, {more}" if errors else f"\nNothing to correct; {more}")
